/** `signet trust …`: issuers of others whose JWTs the organisation believes. */
import { readFile } from "node:fs/promises";
import {
  type Command,
  definedOnly,
  jsonOrText,
  limitOption,
  listArguments,
  optionalText,
  type RecordCall,
  repeatedText,
  requiredText,
  UsageError,
} from "../command.ts";
import { deleteRecord, pathOf, printRecord, printRecords, yesOption } from "../remote/named-records.ts";

const pathOfTrust = (call: RecordCall): string => pathOf(call, "/trusts", "trust");

export const trustCommands: readonly Command[] = [
  {
    name: "trust create",
    summary: "believe an issuer's JWTs: of workloads, of users, or of software that registers",
    usage: "--org ID --kind KIND --issuer URL [options]",
    options: {
      kind: { value: "KIND", help: "workload, id_jag or software_statement", required: true },
      issuer: { value: "URL", help: "iss of the JWTs, exactly", required: true },
      "client-id": { value: "ID", help: "client that the workload is" },
      "subject-pattern": { value: "PATTERN", help: "which sub; * is one whole segment between : and /" },
      claim: { value: "NAME=VALUE", multiple: true, help: "claim and what it is, exactly; repeatable" },
      audience: { value: "TEXT", help: "what aud is (default: this issuer)" },
      jwks: { value: "FILE", help: "public keys as a JSON Web Key Set (default: found by discovery)" },
      "jwks-uri": { value: "URL", help: "https address of the public keys" },
      "max-lifetime-seconds": { value: "SECONDS", help: "60 to 86400 (default: 3600)" },
      reusable: { help: "accept a JWT again until it expires" },
      "connection-id": { value: "ID", help: "id_jag: connection at which subjects are linked" },
      "user-by": { value: "WHAT", help: "id_jag: connection or permId" },
    },
    examples: [
      "signet trust create --org 01998d6e-… --kind workload --issuer https://token.actions.githubusercontent.com --client-id 01998d70-… --subject-pattern 'repo:acme/site:ref:refs/heads/main'",
      "signet trust create --org 01998d6e-… --kind id_jag --issuer https://idp.example --connection-id 01998d71-…",
    ],
    runByApi: async (call) =>
      printRecord(call, await call.api.send("POST", "/trusts", await readTrust(call)), "Created."),
  },
  {
    ...listArguments,
    name: "trust list",
    summary: "list the issuers that the organisation trusts",
    options: limitOption,
    runByApi: (call) =>
      printRecords(call, "/trusts", {
        columns: { ID: "id", KIND: "kind", ISSUER: "issuer", SUBJECT: "subjectPattern", CLIENT: "clientId" },
        none: "There are no trusts yet: signet trust create --org … --kind workload --issuer …",
      }),
  },
  {
    name: "trust show",
    summary: "show a trust",
    usage: "ID --org ID [--json]",
    positionals: 1,
    runByApi: async (call) => printRecord(call, await call.api.read(pathOfTrust(call))),
  },
  {
    name: "trust delete",
    summary: "delete a trust: its JWTs are refused from then on",
    usage: "ID --org ID [--yes] [--json]",
    positionals: 1,
    options: yesOption,
    runByApi: (call) => deleteRecord(call, pathOfTrust(call), { what: "trust", name: "issuer" }),
  },
];

async function readTrust({ values }: RecordCall): Promise<object> {
  const lifetime = optionalText(values, "max-lifetime-seconds");
  if (lifetime !== undefined && !/^\d{1,9}$/.test(lifetime))
    throw new UsageError("--max-lifetime-seconds must be a number of seconds");
  const claims = repeatedText(values, "claim");
  return definedOnly({
    kind: requiredText(values, "kind"),
    issuer: requiredText(values, "issuer"),
    clientId: optionalText(values, "client-id"),
    subjectPattern: optionalText(values, "subject-pattern"),
    claims: claims.length === 0 ? undefined : Object.fromEntries(claims.map(readClaim)),
    audience: optionalText(values, "audience"),
    jwks: await readJwks(optionalText(values, "jwks")),
    jwksUri: optionalText(values, "jwks-uri"),
    maxLifetimeSeconds: lifetime === undefined ? undefined : Number(lifetime),
    singleUse: values["reusable"] === true ? false : undefined,
    connectionId: optionalText(values, "connection-id"),
    userBy: optionalText(values, "user-by"),
  });
}

function readClaim(text: string): [name: string, value: unknown] {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError("--claim must be NAME=VALUE");
  return [text.slice(0, at), jsonOrText(text.slice(at + 1))];
}

async function readJwks(file: string | undefined): Promise<unknown> {
  if (file === undefined) return undefined;
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new UsageError(
      `--jwks: ${file} cannot be read as JSON: ${error instanceof Error ? error.message : error}`,
    );
  }
}
