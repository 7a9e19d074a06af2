/** `signet group …`: the groups of an organisation and their members. */
import {
  type Command,
  definedOnly,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import {
  deleteRecord,
  memberOptions,
  namedSubjects,
  pathOf,
  printRecord,
  printRecords,
  searchOptions,
  yesOption,
} from "../remote/named-records.ts";

const contentOptions = {
  description: { value: "TEXT", help: "what the group is for" },
  "external-id": { value: "ID", help: "as another system names the group" },
};

const readContent = ({ values }: RecordCall) =>
  definedOnly({
    displayName: optionalText(values, "name"),
    description: optionalText(values, "description"),
    externalId: optionalText(values, "external-id"),
  });

const pathOfGroup = (call: RecordCall): string => pathOf(call, "/groups", "group");

const memberUsage = "ID --org ID (--user ID | --email ADDRESS | --group ID)… [--json]";

export const groupCommands: readonly Command[] = [
  {
    name: "group list",
    summary: "list the organisation's groups",
    usage: "--org ID [--search WORDS] [--limit COUNT] [--json]",
    options: searchOptions,
    runByApi: (call) =>
      printRecords(call, "/groups", {
        query: { search: optionalText(call.values, "search") },
        columns: { ID: "id", NAME: "displayName", SOURCE: "source", MEMBERS: "memberCount" },
        none: "There are no such groups yet: signet group create --org … --name …",
      }),
  },
  {
    name: "group show",
    summary: "show a group",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfGroup(call))),
  },
  {
    name: "group create",
    summary: "create a group",
    usage: "--org ID --name NAME [--description TEXT] [--external-id ID] [--json]",
    options: {
      name: { value: "NAME", help: "name, unique in the organisation", required: true },
      ...contentOptions,
    },
    examples: ["signet group create --org 01998d6e-… --name Accounting"],
    runByApi: async (call) => {
      const body = { ...readContent(call), displayName: requiredText(call.values, "name") };
      return printRecord(
        call,
        await call.api.send("POST", "/groups", body),
        `Created "${body.displayName}".`,
      );
    },
  },
  {
    name: "group update",
    summary: "change a group's name, description or external ID",
    usage: "ID --org ID [--name NAME] [--description TEXT] [--external-id ID] [--json]",
    positionals: 1,
    options: { name: { value: "NAME", help: "name, unique in the organisation" }, ...contentOptions },
    runByApi: async (call) => {
      const patch = readContent(call);
      if (Object.keys(patch).length === 0)
        throw new UsageError("one of --name, --description, --external-id is required");
      return printRecord(call, await call.api.send("PATCH", pathOfGroup(call), patch), "Changed.");
    },
  },
  {
    name: "group delete",
    summary: "delete a group; its members stay, without what they had by it",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfGroup(call), { what: "group", name: "displayName" }),
  },
  {
    name: "group members",
    summary: "list the members of a group: users and groups",
    usage: "ID --org ID [--effective] [--limit COUNT] [--json]",
    positionals: 1,
    options: {
      effective: { help: "at every depth, through other groups too" },
      limit: searchOptions["limit"] ?? { help: "" },
    },
    runByApi: (call) =>
      printRecords(call, `${pathOfGroup(call)}/members`, {
        query: { effective: call.values.effective === true ? "true" : undefined },
        columns: { TYPE: "type", ID: "id", NAME: "displayName" },
        none: "The group has no members yet: signet group add ID --org … --email …",
      }),
  },
  {
    name: "group add",
    summary: "add users and groups to a group: all of them or none",
    usage: memberUsage,
    positionals: 1,
    options: memberOptions,
    examples: ["signet group add 01998d72-… --org 01998d6e-… --email ada@example.com"],
    runByApi: (call) => changeMembers(call, "add"),
  },
  {
    name: "group remove",
    summary: "remove users and groups from a group: all of them or none",
    usage: memberUsage,
    positionals: 1,
    options: memberOptions,
    runByApi: (call) => changeMembers(call, "remove"),
  },
];

async function changeMembers(call: RecordCall, act: "add" | "remove"): Promise<number> {
  const path = `${pathOfGroup(call)}/members`;
  const members = await namedSubjects(call, { user: "user", group: "group" });
  const group = await call.api.send<Wire>("POST", path, { [act]: members });
  const count = members.length === 1 ? "1 member" : `${members.length} members`;
  return printRecord(call, group, `${act === "add" ? "Added" : "Removed"} ${count}.`);
}
