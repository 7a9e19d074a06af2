/** `signet initial-access-token …`: with what clients register themselves (RFC 7591). */
import {
  type Command,
  definedOnly,
  limitOption,
  listArguments,
  optionalText,
  type RecordCall,
  repeatedText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfToken = (call: RecordCall): string =>
  pathOf(call, "/initial-access-tokens", "initial access token");

export const initialAccessTokenCommands: readonly Command[] = [
  {
    name: "initial-access-token create",
    summary: "print a token with which clients register themselves",
    usage: "--org ID [options]",
    options: {
      label: { value: "TEXT", help: "what it is for" },
      "allowed-scope": {
        value: "SCOPE",
        multiple: true,
        help: "scope that its clients may ask for; repeatable",
      },
      "allowed-resource": { value: "URI", multiple: true, help: "resource that they may name; repeatable" },
      "grant-type": { value: "TYPE", multiple: true, help: "grant type that they may register; repeatable" },
      "expires-at": { value: "TIME", help: "RFC 3339 (default: in 24 hours; at most in 90 days)" },
      "max-uses": { value: "COUNT", help: "how many clients may register by it (default: 1)" },
    },
    examples: [
      "signet initial-access-token create --org 01998d6e-… --label Agents --allowed-scope openid --allowed-scope offline_access --max-uses 10",
    ],
    runByApi: async (call) => {
      const token = await call.api.send("POST", "/initial-access-tokens", readToken(call));
      return printRecord(call, token, "Created. The token is shown once: whoever has it registers clients.");
    },
  },
  {
    ...listArguments,
    name: "initial-access-token list",
    summary: "list the tokens with which clients register themselves",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/initial-access-tokens", {
        columns: {
          ...{ ID: "id", LABEL: "label", USES: "uses", MAX: "maxUses" },
          ...{ ENABLED: "enabled", "EXPIRES AT": "expiresAt" },
        },
        none: "There are no initial access tokens yet: signet initial-access-token create --org …",
      }),
  },
  {
    name: "initial-access-token show",
    summary: "show an initial access token",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfToken(call))),
  },
  {
    name: "initial-access-token delete",
    summary: "delete an initial access token: clients that have registered by it stay",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) =>
      deleteRecord(call, pathOfToken(call), { what: "initial access token", name: "label" }),
  },
];

function readToken({ values }: RecordCall): object {
  const maxUses = optionalText(values, "max-uses");
  if (maxUses !== undefined && !/^\d{1,9}$/.test(maxUses))
    throw new UsageError("--max-uses must be a number");
  const listed = (name: string) => {
    const all = repeatedText(values, name);
    return all.length === 0 ? undefined : all;
  };
  return definedOnly({
    label: optionalText(values, "label"),
    allowedScopes: listed("allowed-scope"),
    allowedResources: listed("allowed-resource"),
    grantTypes: listed("grant-type"),
    expiresAt: optionalText(values, "expires-at"),
    maxUses: maxUses === undefined ? undefined : Number(maxUses),
  });
}
