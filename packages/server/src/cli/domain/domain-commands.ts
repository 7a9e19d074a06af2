/** `signet domain …` and `signet break-glass …`: where the people of a domain sign in, and who may still sign in past that. */
import {
  type Command,
  definedOnly,
  limitOption,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
  userOptions,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import {
  deleteRecord,
  pathOf,
  printRecord,
  printRecords,
  userPathOf,
  yesOption,
} from "../remote/named-records.ts";

const pathOfDomain = (call: RecordCall): string => pathOf(call, "/domains", "domain");
const connectionOption = { value: "ID", help: "connection that its people sign in by" };

const domainCommands: readonly Command[] = [
  {
    name: "domain list",
    summary: "list the organisation's domains",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/domains", {
        columns: {
          ...{ ID: "id", DOMAIN: "domain", STATE: "state", CONNECTION: "connectionId", ENFORCED: "enforced" },
          PROBLEM: "lastError",
        },
        none: "There are no domains yet: signet domain create --org … --domain acme.example",
      }),
  },
  {
    name: "domain show",
    summary: "show a domain, with the TXT record that proves it",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfDomain(call))),
  },
  {
    name: "domain create",
    summary: "add a domain; prints the TXT record that proves it",
    usage: "--org ID --domain NAME [--connection ID] [--json]",
    options: {
      domain: { value: "NAME", help: "e.g. acme.example", required: true },
      connection: connectionOption,
    },
    runByApi: async (call) => {
      const body = definedOnly({
        domain: requiredText(call.values, "domain"),
        connectionId: optionalText(call.values, "connection"),
      });
      const made = await call.api.send<Wire>("POST", "/domains", body);
      return printRecord(call, made, `Publish the record, then: signet domain verify ${String(made["id"])}`);
    },
  },
  {
    name: "domain verify",
    summary: "look up the proof of a domain",
    positionals: 1,
    runByApi: async (call) => {
      const domain = await call.api.send<Wire>("POST", `${pathOfDomain(call)}/verify`, {});
      printRecord(call, domain, domain["state"] === "proven" ? "Proven." : "Not proven.");
      return domain["state"] === "proven" ? 0 : 1;
    },
  },
  {
    name: "domain update",
    summary: "route a domain to a connection, or enforce that",
    usage: "ID --org ID [--connection ID | --no-connection] [--enforce | --no-enforce] [--json]",
    positionals: 1,
    options: {
      connection: connectionOption,
      "no-connection": { help: "its people sign in as all others" },
      enforce: { help: "its people sign in by the connection alone" },
      "no-enforce": { help: "its people may sign in otherwise, too" },
    },
    runByApi: async (call) => {
      const patch = readChange(call);
      if (Object.keys(patch).length === 0)
        throw new UsageError("one of --connection, --no-connection, --enforce, --no-enforce is required");
      return printRecord(call, await call.api.send<Wire>("PATCH", pathOfDomain(call), patch), "Changed.");
    },
  },
  {
    name: "domain delete",
    summary: "delete a domain: its people sign in as all others",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfDomain(call), { what: "domain", name: "domain" }),
  },
];

/** @throws UsageError */
function readChange({ values }: RecordCall): Wire {
  const connectionId = optionalText(values, "connection");
  const [isFree, isOn, isOff] = [
    values["no-connection"] === true,
    values.enforce === true,
    values["no-enforce"] === true,
  ];
  if (connectionId !== undefined && isFree) throw new UsageError("either --connection or --no-connection");
  if (isOn && isOff) throw new UsageError("either --enforce or --no-enforce");
  return definedOnly({
    connectionId: isFree ? null : connectionId,
    enforced: isOn || isOff ? isOn : undefined,
  });
}

const userUsage = "--org ID (--id ID | --email ADDRESS) [--json]";
const breakGlassPath = async (call: RecordCall): Promise<string> =>
  (await userPathOf(call)).replace(/^\/users\//, "/break-glass/");

const breakGlassCommands: readonly Command[] = [
  {
    name: "break-glass list",
    summary: "list the administrators who may sign in past an enforced connection",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/break-glass", {
        columns: { "USER ID": "id", SINCE: "createdAt" },
        none: "There are no break-glass administrators: signet break-glass create --org … --email …",
      }),
  },
  {
    name: "break-glass create",
    summary: "let an administrator, who has a second factor, sign in past an enforced connection",
    usage: userUsage,
    options: userOptions,
    runByApi: async (call) => {
      const path = await breakGlassPath(call);
      await call.api.send("PUT", path);
      return printRecord(call, { id: idIn(path) }, "Granted.");
    },
  },
  {
    name: "break-glass delete",
    summary: "end that",
    usage: userUsage,
    options: userOptions,
    runByApi: async (call) => {
      const path = await breakGlassPath(call);
      await call.api.send("DELETE", path);
      return printRecord(call, { id: idIn(path) }, "Withdrawn.");
    },
  },
];

const idIn = (path: string): string => decodeURIComponent(path.slice(path.lastIndexOf("/") + 1));

export const domainAndBreakGlassCommands: readonly Command[] = [...domainCommands, ...breakGlassCommands];
