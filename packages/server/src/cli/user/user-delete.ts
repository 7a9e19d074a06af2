/** `signet user delete`: deletes an account permanently, with all data about the user. */
import { deleteUser, leaveOrganisation } from "../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../core/users/leaving/last-administrator.ts";
import type { User } from "../../core/users/user.ts";
import { type Call, type Command, jsonOption, orgOption, UsageError, userOptions } from "../command.ts";
import { printResult } from "../output.ts";
import { OPERATOR, requireOrganisation, requireUser } from "../with-service.ts";

export const userDelete: Command = {
  name: "user delete",
  summary: "delete a user permanently, in every organisation; for a guest, remove the membership",
  usage: "--org ID (--id ID | --email ADDRESS) [--yes] [--json]",
  options: {
    ...orgOption,
    ...userOptions,
    yes: { type: "boolean", help: "delete without asking" },
    ...jsonOption,
  },
  examples: ["signet user delete --org 01998d6e-… --email ada@example.com"],
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const user = await requireUser(service, organisation, call.values);
    if (!(await confirmDelete(call, user))) {
      call.io.printError("Nothing was deleted.");
      return 1;
    }
    const isGuest = user.homeOrgId !== organisation.id;
    const leaving = { orgId: organisation.id, id: user.id, actor: OPERATOR };
    try {
      await (isGuest ? leaveOrganisation(service, leaving) : deleteUser(service, leaving));
    } catch (error) {
      if (!(error instanceof LastAdministrator)) throw error;
      throw new Error(`organisation ${error.orgId} has no other administrator: create one first`);
    }
    const done = isGuest ? "is no longer a guest of this organisation" : "has been deleted";
    return printResult(call, { id: user.id, email: user.email, deleted: true }, () => [
      `${user.email} ${done}.`,
    ]);
  },
};

async function confirmDelete({ values, io }: Call, user: User): Promise<boolean> {
  if (values.yes) return true;
  if (values.json) throw new UsageError("--json can't ask for confirmation: add --yes");
  const confirmed = await io.confirm(`Delete ${user.email} (${user.id})? You can't undo this.`);
  if (confirmed === undefined) throw new UsageError("no terminal to confirm on: add --yes");
  return confirmed;
}
