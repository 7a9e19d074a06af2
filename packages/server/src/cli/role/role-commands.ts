/** `signet role …`: roles of applications and of the organisation, and who has them. */
import {
  type Command,
  definedOnly,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { printResult } from "../output.ts";
import type { Wire } from "../remote/api-types.ts";
import {
  deleteRecord,
  type Identified,
  memberOptions,
  namedSubjects,
  pathOf,
  printRecord,
  printRecords,
  searchOptions,
  yesOption,
} from "../remote/named-records.ts";
import { requireArgument } from "../with-service.ts";

const contentOptions = {
  name: { value: "NAME", help: "name for people (default: the key)" },
  description: { value: "TEXT", help: "what the role is for" },
  permission: {
    value: "PERMISSION",
    multiple: true,
    help: "resource:action, such as invoice:read; repeatable, replaces all",
  },
};

const subjectOptions = {
  ...memberOptions,
  client: { value: "ID", multiple: true, help: "client ID of an application acting on its own; repeatable" },
  account: { value: "ID", multiple: true, help: "system account ID; repeatable" },
};
const subjectUsage =
  "ID --org ID (--user ID | --email ADDRESS | --group ID | --client ID | --account ID)… [--json]";

const readContent = ({ values }: RecordCall) => {
  const permissions = repeatedText(values, "permission");
  return definedOnly({
    name: optionalText(values, "name"),
    description: optionalText(values, "description"),
    permissions: permissions.length > 0 ? permissions : undefined,
  });
};

const pathOfRole = (call: RecordCall): string => pathOf(call, "/roles", "role");
const roleIdOf = (call: RecordCall): string => requireArgument(call, "the ID of the role").toLowerCase();
const limit = searchOptions["limit"] ?? { help: "" };

export const roleCommands: readonly Command[] = [
  {
    name: "role list",
    summary: "list the roles of the organisation, or of one application",
    usage: "--org ID [--app ID] [--limit COUNT] [--json]",
    options: { app: { value: "ID", help: "client ID of the application whose roles these are" }, limit },
    runByApi: (call) => {
      const app = optionalText(call.values, "app");
      return printRecords(call, "/roles", {
        query: { filter: app === undefined ? undefined : `applicationId eq ${JSON.stringify(app)}` },
        columns: {
          ID: "id",
          KEY: "key",
          NAME: "name",
          APPLICATION: "applicationId",
          PERMISSIONS: "permissions",
        },
        none: "There are no such roles yet: signet role create --org … --app … --key …",
      });
    },
  },
  {
    name: "role show",
    summary: "show a role and its permissions",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfRole(call))),
  },
  {
    name: "role create",
    summary: "create a role of an application, or of the organisation",
    usage: "--org ID --key KEY [--app ID] [--name NAME] [--permission PERMISSION]… [--json]",
    options: {
      key: { value: "KEY", help: "as tokens tell it; cannot be changed", required: true },
      app: { value: "ID", help: "client ID of its application (default: the organisation's own role)" },
      ...contentOptions,
    },
    examples: [
      "signet role create --org 01998d6e-… --app 01998d70-… --key editor --permission invoice:write",
    ],
    runByApi: async (call) => {
      const key = requiredText(call.values, "key");
      const of = definedOnly({ applicationId: optionalText(call.values, "app") });
      const role = await call.api.send("POST", "/roles", { ...of, key, ...readContent(call) });
      return printRecord(call, role, `Created "${key}".`);
    },
  },
  {
    name: "role update",
    summary: "change a role's name, description or permissions",
    usage: "ID --org ID [--name NAME] [--description TEXT] [--permission PERMISSION]… [--json]",
    positionals: 1,
    options: contentOptions,
    runByApi: async (call) => {
      const patch = readContent(call);
      if (Object.keys(patch).length === 0)
        throw new UsageError("one of --name, --description, --permission is required");
      return printRecord(call, await call.api.send("PATCH", pathOfRole(call), patch), "Changed.");
    },
  },
  {
    name: "role delete",
    summary: "delete a role; whoever has it loses it at once",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfRole(call), { what: "role", name: "key" }),
  },
  {
    name: "role members",
    summary: "list to whom a role is assigned",
    usage: "ID --org ID [--limit COUNT] [--json]",
    positionals: 1,
    options: { limit },
    runByApi: async (call) => {
      // An unknown role is an error, not an empty list.
      const { id } = await call.api.read<Identified>(pathOfRole(call));
      return printRecords(call, "/assignments", {
        query: { filter: `roleId eq ${JSON.stringify(id)}` },
        columns: { ID: "id", TYPE: "subjectType", SUBJECT: "subjectId", "ASSIGNED BY": "createdBy" },
        none: "Nobody has the role yet: signet role assign ID --org … --email …",
      });
    },
  },
  {
    name: "role assign",
    summary: "assign a role to users, groups, applications or system accounts",
    usage: subjectUsage,
    positionals: 1,
    options: subjectOptions,
    examples: ["signet role assign 01998d73-… --org 01998d6e-… --group 01998d72-…"],
    runByApi: assign,
  },
  {
    name: "role unassign",
    summary: "take a role away from users, groups, applications or system accounts",
    usage: subjectUsage,
    positionals: 1,
    options: subjectOptions,
    runByApi: unassign,
  },
];

const types = {
  user: "user",
  group: "group",
  client: "application",
  account: "systemAccount",
} as const;

async function assign(call: RecordCall): Promise<number> {
  const roleId = roleIdOf(call);
  const items: Wire[] = [];
  for (const { type, id } of await namedSubjects(call, types))
    items.push(await call.api.send("POST", "/assignments", { roleId, subjectType: type, subjectId: id }));
  return printResult(call, { items }, () => [
    `Assigned ${items.map(({ subjectType, subjectId }) => `${subjectType} ${subjectId}`).join(", ")}.`,
  ]);
}

async function unassign(call: RecordCall): Promise<number> {
  const roleId = roleIdOf(call);
  const subjects = await namedSubjects(call, types);
  const found: Identified[] = [];
  for (const { type, id } of subjects) {
    const filter = `roleId eq ${JSON.stringify(roleId)} and subjectType eq "${type}" and subjectId eq ${JSON.stringify(id)}`;
    const { items } = await call.api.list<Identified>("/assignments", { query: { filter } });
    if (items.length === 0) throw new Error(`the role is not assigned to ${type} ${id}`);
    found.push(...items);
  }
  for (const { id } of found) await call.api.send("DELETE", `/assignments/${id}`);
  return printResult(call, { items: found, unassigned: true }, () => [
    `Took the role away from ${found.map(({ subjectType, subjectId }) => `${subjectType} ${subjectId}`).join(", ")}.`,
  ]);
}
