/** `signet token-exchange-policy …`: which client may exchange whose tokens for what (RFC 8693). */
import {
  type Command,
  definedOnly,
  limitOption,
  listArguments,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const POLICIES = "/token-exchange-policies";
const pathOfPolicy = (call: RecordCall): string => pathOf(call, POLICIES, "token exchange policy");

export const tokenExchangeCommands: readonly Command[] = [
  {
    name: "token-exchange-policy create",
    summary: "let a client exchange tokens for another target, as its actor",
    usage: "--org ID --name NAME --client-id ID --target URL --scope SCOPE… [options]",
    options: {
      name: { value: "NAME", help: "name of the policy", required: true },
      "client-id": { value: "ID", help: "client that exchanges", required: true },
      target: {
        value: "URL",
        help: "resource or audience asked for; of id_jag the other issuer",
        required: true,
      },
      scope: { value: "SCOPE", multiple: true, help: "scope that may be asked for; repeatable" },
      "subject-client-id": { value: "ID", multiple: true, help: "whose tokens (default: any); repeatable" },
      "requested-token-type": { value: "TYPE", help: "access_token (default) or id_jag" },
      "foreign-client-id": { value: "ID", help: "id_jag: as which the client is known to the other issuer" },
      impersonation: { help: "the new token names no actor" },
      "max-lifetime-seconds": { value: "SECONDS", help: "60 to 86400 (default: 3600)" },
    },
    examples: [
      "signet token-exchange-policy create --org 01998d6e-… --name Billing --client-id 01998d70-… --target https://billing.example --scope billing:read",
    ],
    runByApi: async (call) =>
      printRecord(call, await call.api.send("POST", POLICIES, readPolicy(call)), "Created."),
  },
  {
    ...listArguments,
    name: "token-exchange-policy list",
    summary: "list the token exchange policies",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, POLICIES, {
        columns: { ID: "id", NAME: "name", CLIENT: "clientId", TARGET: "target", SCOPES: "scopes" },
        none: "There are no token exchange policies yet: signet token-exchange-policy create --org … --name …",
      }),
  },
  {
    name: "token-exchange-policy show",
    summary: "show a token exchange policy",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfPolicy(call))),
  },
  {
    name: "token-exchange-policy delete",
    summary: "delete a token exchange policy: tokens exchanged by it stay valid until they expire",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOfPolicy(call), { what: "token exchange policy", name: "name" }),
  },
];

function readPolicy({ values }: RecordCall): object {
  const lifetime = optionalText(values, "max-lifetime-seconds");
  if (lifetime !== undefined && !/^\d{1,9}$/.test(lifetime))
    throw new UsageError("--max-lifetime-seconds must be a number of seconds");
  const scopes = repeatedText(values, "scope");
  if (scopes.length === 0) throw new UsageError("--scope is required");
  const subjects = repeatedText(values, "subject-client-id");
  return definedOnly({
    name: requiredText(values, "name"),
    clientId: requiredText(values, "client-id"),
    target: requiredText(values, "target"),
    scopes,
    subjectClientIds: subjects.length === 0 ? undefined : subjects,
    requestedTokenType: optionalText(values, "requested-token-type"),
    foreignClientId: optionalText(values, "foreign-client-id"),
    impersonation: values["impersonation"] === true ? true : undefined,
    maxLifetimeSeconds: lifetime === undefined ? undefined : Number(lifetime),
  });
}
