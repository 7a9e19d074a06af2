/** `signet user delete`: an account goes for good, with all that is kept about the person. */
import { deleteUser, leaveOrganisation } from "../../core/users/leaving/delete-user.ts";
import { LastAdministrator } from "../../core/users/leaving/last-administrator.ts";
import type { User } from "../../core/users/user.ts";
import { answer } from "../answer.ts";
import { type Call, type Command, jsonOption, orgOption, UsageError } from "../command.ts";
import { OPERATOR, organisationOf, userOf, withService } from "../with-service.ts";

export const userDelete: Command = {
  name: "user delete",
  summary: "delete a user's account for good, wherever it roams; of a guest, the membership",
  usage: "--org ID (--id ID | --email ADDRESS) [--yes] [--json]",
  options: {
    ...orgOption,
    id: { type: "string", value: "ID", help: "the user, by PermId" },
    email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
    yes: { type: "boolean", help: "do not ask before deleting" },
    ...jsonOption,
  },
  examples: ["signet user delete --org 01998d6e-… --email ada@example.com"],
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const user = await userOf(service, organisation, call.values);
      if (!(await isWanted(call, user))) {
        call.io.printError("Nothing was deleted.");
        return 1;
      }
      const isGuest = user.homeOrgId !== organisation.id;
      const leaving = { orgId: organisation.id, id: user.id, actor: OPERATOR };
      try {
        await (isGuest ? leaveOrganisation(service, leaving) : deleteUser(service, leaving));
      } catch (error) {
        if (!(error instanceof LastAdministrator)) throw error;
        throw new Error(`the organisation ${error.orgId} has no other administrator: make another one first`);
      }
      const done = isGuest ? "is no guest of this organisation any more" : "has been deleted";
      return answer(call, { id: user.id, email: user.email, deleted: true }, () => [
        `${user.email} ${done}.`,
      ]);
    }),
};

async function isWanted({ values, io }: Call, user: User): Promise<boolean> {
  if (values.yes) return true;
  if (values.json) throw new UsageError("--json cannot ask: add --yes");
  const confirmed = await io.confirm(`Delete ${user.email} (${user.id})? This cannot be undone. [y/N] `);
  if (confirmed === undefined) throw new UsageError("there is no terminal to ask at: add --yes");
  return confirmed;
}
