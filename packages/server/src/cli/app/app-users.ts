/** `signet app assign …`: who may use an application whose access is for assigned users. */
import { listAssignedUsers } from "../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../core/application-access/assignments.ts";
import { type AccessMode, accessModes } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { answer, answerList, limitOption, time } from "../answer.ts";
import {
  type Call,
  type Command,
  choice,
  jsonOption,
  type Options,
  orgOption,
  requiredText,
} from "../command.ts";
import { applicationOf, OPERATOR, organisationOf, readAll, userOf, withService } from "../with-service.ts";

const whichUser: Options = {
  app: { type: "string", value: "ID", help: "the application: the same as ID" },
  id: { type: "string", value: "ID", help: "the user, by PermId" },
  email: { type: "string", value: "ADDRESS", help: "the user, by email address" },
};
const usage = "ID --org ID (--id ID | --email ADDRESS) [--json]";

const everybodyMay = (access: AccessMode) =>
  access === "everyone"
    ? ["Its access is still for everyone: signet app access ID --org … --access assigned"]
    : [];

const appAssign: Command = {
  name: "app assign",
  summary: "let a user use an application whose access is for assigned users",
  usage,
  positionals: 1,
  options: { ...orgOption, ...whichUser, ...jsonOption },
  examples: ["signet app assign 01998d6f-… --org 01998d6e-… --email ada@example.com"],
  run: (call) => changeAssignment(call, true),
};

const appUnassign: Command = {
  name: "app unassign",
  summary: "take a user off an application; keys and tokens that they hold there end at once",
  usage,
  positionals: 1,
  options: { ...orgOption, ...whichUser, ...jsonOption },
  run: (call) => changeAssignment(call, false),
};

function changeAssignment(call: Call, assigned: boolean): Promise<number> {
  return withService(call, async (service) => {
    const organisation = await organisationOf(service, call.values);
    const { orgId, id, name, settings } = await applicationOf(service, organisation, call);
    const user = await userOf(service, organisation, call.values);
    const act = { orgId, applicationId: id, userId: user.id, actor: OPERATOR };
    const done = assigned ? await assignUser(service, act) : await unassignUser(service, act);
    if (typeof done === "string") throw new Error("the application or the user is gone");
    if (!assigned && !done) throw new Error(`${user.email} is not assigned to "${name}"`);
    const record = { clientId: id, permId: user.id, email: user.email, assigned };
    const state = assigned ? "is assigned to" : "is not assigned any more to";
    return answer(call, record, () => [
      `${user.email} ${state} "${name}".`,
      ...everybodyMay(settings.access),
    ]);
  });
}

const appAssigned: Command = {
  name: "app assigned",
  summary: "list the users that are assigned to an application",
  usage: "ID --org ID [--limit COUNT] [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    app: { type: "string", value: "ID", help: "the application: the same as ID" },
    ...limitOption,
    ...jsonOption,
  },
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { orgId, id } = await applicationOf(service, organisation, call);
      const list = await readAll(call.values, async ({ limit, after }) =>
        (
          await listAssignedUsers(service.database.query, { orgId, applicationId: id }, { limit, after })
        ).slice(0, limit),
      );
      return answerList(call, list, {
        record: (user) => ({
          permId: user.id,
          email: user.email,
          assignedBy: user.assignedBy,
          assignedAt: time(user.assignedAt),
        }),
        headings: ["ID", "EMAIL", "ASSIGNED BY", "ASSIGNED"],
        row: (user) => [user.id, user.email, user.assignedBy, time(user.assignedAt)],
        none: "Nobody is assigned to it yet: signet app assign ID --org … --email …",
      });
    }),
};

const appAccess: Command = {
  name: "app access",
  summary: "say who may use an application: everyone of the organisation, or assigned users",
  usage: "ID --org ID --access everyone|assigned [--json]",
  positionals: 1,
  options: {
    ...orgOption,
    app: { type: "string", value: "ID", help: "the application: the same as ID" },
    access: { type: "string", value: "WHO", help: accessModes.join(" or "), required: true },
    ...jsonOption,
  },
  examples: ["signet app access 01998d6f-… --org 01998d6e-… --access assigned"],
  run: (call) =>
    withService(call, async (service) => {
      const organisation = await organisationOf(service, call.values);
      const { orgId, id } = await applicationOf(service, organisation, call);
      const access = choice("access", requiredText(call.values, "access"), accessModes);
      const changed = await changeApplication(service, { orgId, id, actor: OPERATOR }, (before) => ({
        name: before.name,
        settings: { ...before.settings, access },
        disabled: before.disabledAt !== null,
      }));
      if (!changed) throw new Error("the application is gone");
      return answer(call, { clientId: id, access }, () => [
        `"${changed.name}" is for ${access === "everyone" ? "everyone of the organisation" : "assigned users"}.`,
      ]);
    }),
};

export const appUserCommands: readonly Command[] = [appAccess, appAssign, appUnassign, appAssigned];
