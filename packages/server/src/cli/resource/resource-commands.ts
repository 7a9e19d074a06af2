/** `signet resource …`: what access tokens are for (RFC 8707, RFC 9728), and what they are like. */
import { accessTokenFormats, senderConstraints } from "../../core/protected-resources/protected-resource.ts";
import {
  type Command,
  choice,
  definedOnly,
  limitOption,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfResource = (call: RecordCall): string => pathOf(call, "/resources", "resource");

export const resourceCommands: readonly Command[] = [
  {
    name: "resource create",
    summary: "create a protected resource: its identifier is a value of resource and aud",
    usage: "--org ID --identifier URI --name NAME [options]",
    options: {
      identifier: { value: "URI", help: "absolute URI without fragment (RFC 8707)", required: true },
      name: { value: "NAME", help: "name of the resource", required: true },
      scope: {
        value: "NAME",
        multiple: true,
        help: "custom scope that belongs to it; it must exist (signet scope create); repeatable",
      },
      format: { value: "FORMAT", help: "access tokens: jwt (default) or opaque" },
      "access-token-lifetime": { value: "SECONDS", help: "60 to 86400 (default: the application's)" },
      alg: { value: "ALG", help: "signs its access tokens (default: the application's)" },
      "sender-constraint": { value: "KIND", help: "none (default), dpop, mtls or any" },
      app: { value: "ID", help: "application that it is: may introspect its tokens" },
      "agent-denied-scope": {
        ...{ value: "NAME", multiple: true },
        help: "scope that clients which nobody registered by hand never get; repeatable",
      },
    },
    examples: [
      "signet resource create --org 01998d6e-… --identifier https://api.example/payments --name Payments --scope payments:write",
    ],
    runByApi: async (call) =>
      printRecord(call, await call.api.send("POST", "/resources", newResource(call)), "Created."),
  },
  {
    name: "resource list",
    summary: "list the organisation's protected resources",
    usage: "--org ID [--limit COUNT] [--json]",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/resources", {
        columns: { ID: "id", IDENTIFIER: "identifier", NAME: "name", TOKENS: "accessTokenFormat" },
        none: "There are no resources yet: signet resource create --org … --identifier … --name …",
      }),
  },
  {
    name: "resource show",
    summary: "show a protected resource with its scopes",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfResource(call))),
  },
  {
    name: "resource delete",
    summary: "delete a protected resource; its scopes stay",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfResource(call), { what: "resource", name: "identifier" }),
  },
];

function newResource({ values }: RecordCall) {
  const lifetime = optionalText(values, "access-token-lifetime");
  if (lifetime !== undefined && !/^\d{1,6}$/.test(lifetime))
    throw new UsageError("--access-token-lifetime must be a number of seconds");
  const format = optionalText(values, "format");
  const constraint = optionalText(values, "sender-constraint");
  return definedOnly({
    identifier: requiredText(values, "identifier"),
    name: requiredText(values, "name"),
    scopes: repeatedText(values, "scope"),
    accessTokenFormat: format && choice("format", format, accessTokenFormats),
    accessTokenLifetimeSeconds: lifetime === undefined ? undefined : Number(lifetime),
    accessTokenSignedResponseAlg: optionalText(values, "alg"),
    senderConstraint: constraint && choice("sender-constraint", constraint, senderConstraints),
    applicationId: optionalText(values, "app"),
    agentDeniedScopes: repeatedText(values, "agent-denied-scope"),
  });
}
