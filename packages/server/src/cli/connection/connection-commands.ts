/** `signet connection …`: directories that provision users, and identity providers that they sign in with (connections.md §1). */
import { presets } from "../../core/connections/sign-in/sign-in-settings.ts";
import {
  type Command,
  definedOnly,
  limitOption,
  optionalChoice,
  optionalText,
  type RecordCall,
  requiredText,
  UsageError,
} from "../command.ts";
import type { Wire } from "../remote/api-types.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";
import { connectionKinds, connectionOptions, readConnectionOptions, readKind } from "./connection-options.ts";

const pathOfConnection = (call: RecordCall): string => pathOf(call, "/connections", "connection");
const nameOption = { value: "NAME", help: "shown to administrators, and on the sign-in page" };
/** Of a record that is one of the connection's. */
const connectionOption = { connection: { value: "ID", help: "connection ID", required: true } };
const pathIn = (call: RecordCall, collection: string, what: string): string => {
  const connection = encodeURIComponent(requiredText(call.values, "connection"));
  return pathOf(call, `/connections/${connection}/${collection}`, what);
};

const tokenCommands: readonly Command[] = [
  {
    name: "connection tokens",
    summary: "list the tokens that a directory calls with",
    usage: "ID --org ID [--limit COUNT] [--json]",
    positionals: 1,
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, `${pathOfConnection(call)}/tokens`, {
        columns: { ID: "id", LABEL: "label", CREATED: "createdAt", EXPIRES: "expiresAt", USED: "lastUsedAt" },
        none: "The directory has no token yet: signet connection create-token ID --org … --label …",
      }),
  },
  {
    name: "connection create-token",
    summary: "make a token for a directory, which is printed once",
    usage: "ID --org ID [--label TEXT] [--expires TIME] [--json]",
    positionals: 1,
    options: {
      label: { value: "TEXT", help: "what uses it" },
      expires: { value: "TIME", help: "e.g. 2027-11-28T12:00:00Z (default: never)" },
    },
    runByApi: async (call) => {
      const { values } = call;
      const body = definedOnly({
        label: optionalText(values, "label"),
        expiresAt: optionalText(values, "expires"),
      });
      const made = await call.api.send<Wire>("POST", `${pathOfConnection(call)}/tokens`, body);
      return printRecord(call, made, "Created. The token is shown once.");
    },
  },
  {
    name: "connection revoke-token",
    summary: "revoke a directory's token: it ends at once",
    usage: "ID --org ID --connection ID [--json]",
    positionals: 1,
    options: connectionOption,
    runByApi: async (call) => {
      await call.api.send("DELETE", pathIn(call, "tokens", "token"));
      return printRecord(call, { id: call.positionals[0], revoked: true }, "Revoked.");
    },
  },
];

const testCommands: readonly Command[] = [
  {
    name: "connection test",
    summary:
      "make an address for a test sign-in, which changes nothing and works while the connection is disabled",
    positionals: 1,
    runByApi: async (call) =>
      printRecord(
        call,
        await call.api.send<Wire>("POST", `${pathOfConnection(call)}/test`),
        "Open the address once, and sign in there. Then: signet connection test-result ID --connection …",
      ),
  },
  {
    name: "connection test-result",
    summary: "show what a test sign-in brought: the claims, how they map, and the account that would result",
    usage: "ID --org ID --connection ID [--json]",
    positionals: 1,
    options: connectionOption,
    runByApi: async (call) => printRecord(call, await call.api.read(pathIn(call, "tests", "test"))),
  },
  {
    name: "connection sign-ins",
    summary: "list the sign-ins of the last 30 days, newest first",
    usage: "ID --org ID [--outcome OUTCOME] [--limit COUNT] [--json]",
    positionals: 1,
    options: { outcome: { value: "OUTCOME", help: "succeeded or failed" }, ...limitOption },
    runByApi: (call) =>
      printRecords(call, `${pathOfConnection(call)}/sign-ins`, {
        query: { outcome: optionalChoice(call.values, "outcome", ["succeeded", "failed"]) },
        columns: { AT: "at", OUTCOME: "outcome", REASON: "reason", EMAIL: "email", REFERENCE: "reference" },
        none: "There are no such sign-ins.",
      }),
  },
];

export const connectionCommands: readonly Command[] = [
  {
    name: "connection list",
    summary: "list the organisation's directories and identity providers",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/connections", {
        columns: { ID: "id", NAME: "name", KIND: "kind", ENABLED: "enabled", CREATED: "createdAt" },
        none: "There are no connections yet: signet connection create --org … --name … --preset entra",
      }),
  },
  {
    name: "connection show",
    summary: "show a connection, with the addresses to register at the provider",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfConnection(call))),
  },
  {
    name: "connection create",
    summary: "connect a directory or an identity provider",
    usage: "--org ID --name NAME (--kind KIND | --preset PRESET) [options] [--json]",
    options: {
      name: { ...nameOption, required: true },
      kind: { value: "KIND", help: connectionKinds.join(", ") },
      preset: { value: "PRESET", help: presets.join(", ") },
      ...connectionOptions,
    },
    examples: [
      "signet connection create --org 01998d6e-… --name Keycloak --preset keycloak --issuer https://keycloak.example/realms/staff --client-id signet --client-secret-file secret",
      "signet connection create --org 01998d6e-… --name 'AD FS' --kind saml --metadata-file metadata.xml",
      "signet connection create --org 01998d6e-… --name 'Entra ID' --kind scim",
    ],
    runByApi: async (call) => {
      const settings = readConnectionOptions(call);
      const body = { ...settings, ...readKind(call, settings) };
      return printRecord(call, await call.api.send<Wire>("POST", "/connections", body), "Created.");
    },
  },
  {
    name: "connection update",
    summary: "change a connection, enable or disable it",
    usage: "ID --org ID [--name NAME] [options] [--json]",
    positionals: 1,
    options: { name: nameOption, ...connectionOptions },
    runByApi: async (call) => {
      const patch = readConnectionOptions(call);
      if (Object.keys(patch).length === 0)
        throw new UsageError("give at least one setting, e.g. --enable; see signet connection update --help");
      return printRecord(call, await call.api.send<Wire>("PATCH", pathOfConnection(call), patch), "Changed.");
    },
  },
  {
    name: "connection delete",
    summary: "delete a connection: its sessions and groups end, accounts stay",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfConnection(call), { what: "connection", name: "name" }),
  },
  ...testCommands,
  ...tokenCommands,
];
