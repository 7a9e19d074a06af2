/** `signet app …`: applications, the OAuth clients of an organisation, and the users who may sign in to them. */
import { listAssignedUsers } from "../../core/application-access/application-access.store.ts";
import { assignUser, unassignUser } from "../../core/application-access/application-access.ts";
import { accessModes } from "../../core/applications/application.ts";
import { changeApplication, deleteApplication } from "../../core/applications/application-changes.ts";
import { findApplication, listApplications } from "../../core/applications/applications.store.ts";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import {
  type Command,
  choice,
  limitOption,
  listArguments,
  type Options,
  type OrganisationCall,
  requiredText,
  userOptions,
} from "../command.ts";
import { confirmDeletion } from "../confirm-deletion.ts";
import { enabledStatus, formatTime, printList, printResult } from "../output.ts";
import { OPERATOR, readAll, readList, requireApplication, requireUser } from "../with-service.ts";
import { appCreate } from "./app-create.ts";
import { appFields, appRecord, secretTable } from "./app-record.ts";
import { appUpdate } from "./app-update.ts";

const appArgument: Options = { app: { value: "ID", help: "client ID, in place of the ID argument" } };

const assignmentArguments = {
  usage: "ID --org ID (--id ID | --email ADDRESS) [--json]",
  positionals: 1,
  options: { ...appArgument, ...userOptions },
};

export const appCommands: readonly Command[] = [
  appCreate,
  appUpdate,
  {
    name: "app list",
    summary: "list the organisation's applications",
    ...listArguments,
    runInOrganisation: (call) =>
      printList(call, readList(call, listApplications), {
        // The list query doesn't read secrets: an empty array would mislead.
        record: (application) => ({ ...appRecord(application), secrets: undefined }),
        columns: {
          "CLIENT ID": "clientId",
          NAME: "name",
          TYPE: "clientType",
          STATUS: enabledStatus,
          CREATED: "createdAt",
        },
        none: "The organisation has no applications yet: signet app create --org … --name … --type …",
      }),
  },
  {
    name: "app show",
    summary: "show an application's settings and secret metadata",
    positionals: 1,
    options: appArgument,
    runInOrganisation: async (call) => {
      const application = await requireApplication(call);
      return printResult(call, appRecord(application), () => [
        ...appFields(application),
        "",
        ...secretTable(application, call.service.clock()),
      ]);
    },
  },
  {
    name: "app disable",
    summary: "disable an application and revoke its tokens immediately; nothing is deleted",
    usage: "ID --org ID [--enable] [--json]",
    positionals: 1,
    options: { ...appArgument, enable: { help: "enable the application again" } },
    runInOrganisation: async (call) => {
      const { orgId, id, name } = await requireApplication(call);
      const { service, by } = call;
      const disabled = call.values.enable !== true;
      await setApplicationStatus(service, { ...by, id, disabled });
      const changed = await findApplication(service.database.query, orgId, id);
      return printResult(call, changed && appRecord(changed), () => [
        `${disabled ? "Disabled" : "Enabled"} "${name}".`,
      ]);
    },
  },
  {
    name: "app delete",
    summary: "delete an application permanently, with its secrets, tokens, consents and system accounts",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: { ...appArgument, yes: { help: "delete without asking" } },
    examples: ["signet app delete 01998d70-… --org 01998d6e-…"],
    runInOrganisation: async (call) => {
      const { id, name } = await requireApplication(call);
      if (!(await confirmDeletion(call, `application "${name}" (${id})`))) return 1;
      const { service, by } = call;
      if (!(await deleteApplication(service, { ...by, id })))
        throw new Error(`application "${name}" has just been deleted by somebody else`);
      return printResult(call, { clientId: id, name, deleted: true }, () => [`Deleted "${name}".`]);
    },
  },
  {
    name: "app access",
    summary: "set who may sign in to an application: everyone in the organisation, or assigned users",
    usage: "ID --org ID --access everyone|assigned [--json]",
    positionals: 1,
    options: { ...appArgument, access: { value: "WHO", help: accessModes.join(" or "), required: true } },
    examples: ["signet app access 01998d6f-… --org 01998d6e-… --access assigned"],
    runInOrganisation: setAccess,
  },
  {
    name: "app assign",
    summary: "assign a user to an application",
    ...assignmentArguments,
    examples: ["signet app assign 01998d6f-… --org 01998d6e-… --email ada@example.com"],
    runInOrganisation: (call) => changeAssignment(call, true),
  },
  {
    name: "app unassign",
    summary: "unassign a user; revokes the user's session keys and tokens for the application immediately",
    ...assignmentArguments,
    runInOrganisation: (call) => changeAssignment(call, false),
  },
  {
    name: "app assigned",
    summary: "list the users assigned to an application",
    usage: "ID --org ID [--limit COUNT] [--json]",
    positionals: 1,
    options: { ...appArgument, ...limitOption },
    runInOrganisation: listAssigned,
  },
];

async function setAccess(call: OrganisationCall): Promise<number> {
  const access = choice("access", requiredText(call.values, "access"), accessModes);
  const { orgId, id } = await requireApplication(call);
  const changed = await changeApplication(call.service, { orgId, id, actor: OPERATOR }, (before) => ({
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
}

async function changeAssignment(call: OrganisationCall, assigned: boolean): Promise<number> {
  const { id, name, settings } = await requireApplication(call);
  const { id: userId, email } = await requireUser(call);
  const assignment = { ...call.by, applicationId: id, userId };
  const done = await (assigned ? assignUser : unassignUser)(call.service, assignment);
  if (typeof done === "string") throw new Error("the application or the user no longer exists");
  if (!assigned && !done) throw new Error(`${email} is not assigned to "${name}"`);
  return printResult(call, { clientId: id, permId: userId, email, assigned }, () => [
    `${email} ${assigned ? "is assigned to" : "is no longer assigned to"} "${name}".`,
    ...(settings.access === "everyone"
      ? [
          "Note: the application is still open to everyone. To restrict it: signet app access ID --org … --access assigned",
        ]
      : []),
  ]);
}

async function listAssigned(call: OrganisationCall): Promise<number> {
  const { orgId, id: applicationId } = await requireApplication(call);
  const { query } = call.service.database;
  const users = readAll(call.values, async ({ limit, after }) =>
    (await listAssignedUsers(query, { orgId, applicationId }, { limit, after })).slice(0, limit),
  );
  return printList(call, users, {
    record: (user) => ({
      permId: user.id,
      email: user.email,
      assignedBy: user.assignedBy,
      assignedAt: formatTime(user.assignedAt),
    }),
    columns: { ID: "permId", EMAIL: "email", "ASSIGNED BY": "assignedBy", ASSIGNED: "assignedAt" },
    none: "No users are assigned yet: signet app assign ID --org … --email …",
  });
}
