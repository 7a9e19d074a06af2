/** `signet app assign …`: the users who may sign in to an application with restricted access. */
import { listAssignedUsers } from "../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../core/application-access/application-access.ts";
import { type AccessMode, accessModes } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import type { Service } from "../../modules/open-service.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  limitOption,
  type Options,
  orgOption,
  requiredText,
  userOptions,
} from "../command.ts";
import { formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, requireApplication, requireOrganisation, requireUser } from "../with-service.ts";

const assignmentOptions: Options = {
  app: { type: "string", value: "ID", help: "client ID, in place of the ID argument" },
  ...userOptions,
};
const usage = "ID --org ID (--id ID | --email ADDRESS) [--json]";

const accessNote = (access: AccessMode) =>
  access === "everyone"
    ? [
        "Note: the application is still open to everyone. To restrict it: signet app access ID --org … --access assigned",
      ]
    : [];

const appAssign: Command = {
  name: "app assign",
  summary: "assign a user to an application",
  usage,
  positionals: 1,
  options: { ...orgOption, ...assignmentOptions, ...jsonOption },
  examples: ["signet app assign 01998d6f-… --org 01998d6e-… --email ada@example.com"],
  runWithService: (service, call) => changeAssignment(service, call, true),
};

const appUnassign: Command = {
  name: "app unassign",
  summary: "unassign a user; revokes the user's session keys and tokens for the application immediately",
  usage,
  positionals: 1,
  options: { ...orgOption, ...assignmentOptions, ...jsonOption },
  runWithService: (service, call) => changeAssignment(service, call, false),
};

async function changeAssignment(service: Service, call: Call, assigned: boolean): Promise<number> {
  const organisation = await requireOrganisation(service, call.values);
  const { orgId, id, name, settings } = await requireApplication(service, organisation, call);
  const user = await requireUser(service, organisation, call.values);
  const act = { orgId, applicationId: id, userId: user.id, actor: OPERATOR };
  const done = assigned ? await assignUser(service, act) : await unassignUser(service, act);
  if (typeof done === "string") throw new Error("the application or the user no longer exists");
  if (!assigned && !done) throw new Error(`${user.email} is not assigned to "${name}"`);
  const record = { clientId: id, permId: user.id, email: user.email, assigned };
  const outcome = assigned ? "is assigned to" : "is no longer assigned to";
  return printResult(call, record, () => [
    `${user.email} ${outcome} "${name}".`,
    ...accessNote(settings.access),
  ]);
}

const appAssigned: Command = {
  name: "app assigned",
  summary: "list the users assigned to an application",
  usage: "ID --org ID [--limit COUNT] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    app: { type: "string", value: "ID", help: "client ID, in place of the ID argument" },
    ...limitOption,
    ...jsonOption,
  },
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const { orgId, id } = await requireApplication(service, organisation, call);
    const list = await readAll(call.values, async ({ limit, after }) =>
      (await listAssignedUsers(service.database.query, { orgId, applicationId: id }, { limit, after })).slice(
        0,
        limit,
      ),
    );
    return printList(call, list, {
      record: (user) => ({
        permId: user.id,
        email: user.email,
        assignedBy: user.assignedBy,
        assignedAt: formatTime(user.assignedAt),
      }),
      headings: ["ID", "EMAIL", "ASSIGNED BY", "ASSIGNED"],
      row: (user) => [user.id, user.email, user.assignedBy, formatTime(user.assignedAt)],
      none: "No users are assigned yet: signet app assign ID --org … --email …",
    });
  },
};

const appAccess: Command = {
  name: "app access",
  summary: "set who may sign in to an application: everyone in the organisation, or assigned users",
  usage: "ID --org ID --access everyone|assigned [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    app: { type: "string", value: "ID", help: "client ID, in place of the ID argument" },
    access: { type: "string", value: "WHO", help: accessModes.join(" or "), required: true },
    ...jsonOption,
  },
  examples: ["signet app access 01998d6f-… --org 01998d6e-… --access assigned"],
  runWithService: async (service, call) => {
    const organisation = await requireOrganisation(service, call.values);
    const { orgId, id } = await requireApplication(service, organisation, call);
    const access = choice("access", requiredText(call.values, "access"), accessModes);
    const changed = await changeApplication(service, { orgId, id, actor: OPERATOR }, (before) => ({
      name: before.name,
      settings: { ...before.settings, access },
      disabled: before.disabledAt !== null,
    }));
    if (!changed) throw new Error("the application no longer exists");
    return printResult(call, { clientId: id, access }, () => [
      access === "everyone"
        ? `Everyone in the organisation may sign in to "${changed.name}".`
        : `Only assigned users may sign in to "${changed.name}".`,
    ]);
  },
};

export const appUserCommands: readonly Command[] = [appAccess, appAssign, appUnassign, appAssigned];
