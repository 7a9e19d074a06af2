/** `agent.yaml`: the pool that this agent serves, and where its keys and files are. What it may sign is in the policy. */
import { readFile } from "node:fs/promises";
import path from "node:path";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { MAX_APPROVALS } from "@signet/protocol/approvals/approval";
import { isUuid } from "@signet/protocol/hash";
import { isMlDsaAlg } from "@signet/protocol/jose/ml-dsa";
import { parseVerifierKey } from "@signet/protocol/ledger/note";
import { isServiceAddress } from "@signet/protocol/service-address";
import { type Static, Type } from "typebox";
import { closedObject, InvalidFile, parseYaml } from "./yaml-file.ts";

const text = (description: string) => Type.String({ minLength: 1, description });
const file = (content: string) => text(`the path of ${content}`);
const uuid = (owner: string) =>
  Type.String({ pattern: "^[0-9a-fA-F-]{36}$", description: `the UUID of ${owner}` });
const integer = (minimum: number, maximum: number) =>
  Type.Integer({ minimum, maximum, description: `a whole number from ${minimum} to ${maximum}` });

const pkcs11Schema = closedObject({
  library: file("the token's PKCS#11 library"),
  token: text("the token's label"),
  pinFile: file("a file with the PIN"),
  key: text("the key's label"),
  sessions: Type.Optional(integer(1, 64)),
});

const keySchema = closedObject({
  file: Type.Optional(file("a private key in PEM")),
  pkcs11: Type.Optional(pkcs11Schema),
  module: Type.Optional(
    closedObject({
      path: file("a module"),
      options: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
  ),
  alg: Type.Optional(Type.Enum([...agentAlgs])),
  chain: Type.Optional(file("the key's certificates in PEM")),
});
export type KeyConfiguration = Static<typeof keySchema>;

const webauthnSchema = closedObject({
  rpId: text("the service's host name"),
  origins: Type.Array(text("an origin, e.g. https://id.example"), { minItems: 1 }),
  credentialsFile: file("the users' passkeys"),
  userVerification: Type.Optional(Type.Boolean()),
});

/** A public key as a JWK, as `signet-agent keys export` prints it. */
const publicJwk = Type.Record(Type.String(), Type.String({ maxLength: 8_192 }), {
  description: "a public key as a JWK",
});

const approvalsSchema = closedObject({
  required: integer(2, MAX_APPROVALS),
  agents: Type.Array(
    closedObject({
      name: text("the name of another agent of the pool"),
      keys: Type.Array(publicJwk, { minItems: 1, maxItems: 20 }),
    }),
    { minItems: 1, maxItems: 50 },
  ),
});

const verifierKey = (owner: string) =>
  Type.String({ maxLength: 512, description: `${owner}: <name>+<id>+<base64>` });

const ledgerSchema = closedObject({
  url: text("the ledger's address, e.g. https://id.example/ledger/ORG"),
  key: verifierKey("the ledger's key"),
  witnesses: Type.Array(verifierKey("a witness's key"), { minItems: 1, maxItems: 9 }),
  quorum: Type.Optional(integer(1, 9)),
  /** Seconds. Witnesses cosign a log that does not grow each minute. */
  maxAge: integer(60, 86_400),
  stateFile: file("what this machine remembers of the ledger"),
});

const configurationSchema = closedObject({
  service: text("the service's URL, e.g. https://id.example"),
  organisation: uuid("the organisation"),
  pool: uuid("the signing pool"),
  apiKeyFile: file("a file with the agent's API key"),
  policyFile: file("the policy"),
  journalFile: file("the journal"),
  keys: Type.Array(keySchema, { minItems: 1 }),
  challenges: Type.Optional(
    closedObject({
      channel: Type.Optional(Type.Enum(["terminal", "webhook"])),
      webhook: Type.Optional(
        closedObject({ url: text("an https URL"), secretFile: file("a file with a secret") }),
      ),
      webauthn: Type.Optional(webauthnSchema),
    }),
  ),
  approvals: Type.Optional(approvalsSchema),
  ledger: Type.Optional(ledgerSchema),
  threshold: Type.Optional(
    closedObject({
      folder: file("a folder for this machine's shares of the pool's keys"),
      sealingKeyFile: file("a file with the key that they are encrypted with"),
    }),
  ),
  metrics: Type.Optional(
    closedObject({ host: Type.Optional(text("an IP address")), port: integer(0, 65_535) }),
  ),
});

export type Configuration = Static<typeof configurationSchema>;

/** Relative paths start at the file's own folder; the result has absolute ones. @throws InvalidFile */
export async function readConfiguration(file: string): Promise<Configuration> {
  const configuration = parseYaml(configurationSchema, await readFile(file, "utf8"), file);
  const faults = findFaults(configuration).map((message) => ({ line: undefined, message }));
  if (faults.length > 0) throw new InvalidFile(file, faults);
  makePathsAbsolute(configuration, path.dirname(path.resolve(file)));
  configuration.organisation = configuration.organisation.toLowerCase();
  configuration.pool = configuration.pool.toLowerCase();
  return configuration;
}

/** PKCS #11 has had it since 3.2, which pkcs11js does not speak. */
export const NO_ML_DSA_TOKEN =
  "ML-DSA keys in PKCS#11 are not supported: keep the key in a file, or in a module that signs with it";

/** What the schema cannot express. */
function findFaults(configuration: Configuration): string[] {
  const { service, organisation, pool, keys, threshold, challenges = {} } = configuration;
  const { channel, webhook } = challenges;
  const faults: string[] = [];
  const mustBeUrl = "must be an https URL, or http on this machine";
  if (!isServiceAddress(service)) faults.push(`service ${mustBeUrl}`);
  if (!isUuid(organisation)) faults.push("organisation must be a UUID");
  if (!isUuid(pool)) faults.push("pool must be a UUID");
  for (const [index, { file, pkcs11, module }] of keys.entries())
    if ([file, pkcs11, module].filter(Boolean).length !== 1)
      faults.push(`keys.${index} must have one of file, pkcs11, module`);
  for (const [index, { pkcs11, alg }] of keys.entries())
    if (pkcs11 && isMlDsaAlg(alg)) faults.push(`keys.${index}: ${NO_ML_DSA_TOKEN}`);
  if (threshold && (keys.length !== 1 || keys[0]?.chain !== undefined))
    faults.push("with threshold, keys must have this machine's identity key alone, without a chain");
  const { ledger } = configuration;
  if (ledger && !isServiceAddress(ledger.url)) faults.push(`ledger.url ${mustBeUrl}`);
  if (ledger && parseVerifierKey(ledger.key)?.type !== 1)
    faults.push("ledger.key must be a ledger's key, of type 1");
  for (const [index, witness] of ledger?.witnesses.entries() ?? [])
    if (parseVerifierKey(witness)?.type !== 4)
      faults.push(`ledger.witnesses.${index} must be a witness's key, of type 4`);
  if (
    ledger &&
    new Set(ledger.witnesses.map((one) => one.split("+").slice(2).join("+"))).size < ledger.witnesses.length
  )
    faults.push("ledger.witnesses has a key twice");
  if (ledger && (ledger.quorum ?? 1) > ledger.witnesses.length)
    faults.push("ledger.quorum must be at most the number of witnesses");
  if (threshold && configuration.approvals)
    faults.push("threshold and approvals exclude each other: every share is an approval");
  if (channel === "webhook" && !webhook) faults.push("challenges.webhook is missing");
  if (webhook && !isServiceAddress(webhook.url)) faults.push(`challenges.webhook.url ${mustBeUrl}`);
  return faults;
}

function makePathsAbsolute(configuration: Configuration, folder: string): void {
  const absolute = (file: string) => path.resolve(folder, file);
  for (const member of ["apiKeyFile", "policyFile", "journalFile"] as const)
    configuration[member] = absolute(configuration[member]);
  for (const key of configuration.keys) {
    if (key.file !== undefined) key.file = absolute(key.file);
    if (key.chain !== undefined) key.chain = absolute(key.chain);
    if (key.module) key.module.path = absolute(key.module.path);
    if (!key.pkcs11) continue;
    key.pkcs11.pinFile = absolute(key.pkcs11.pinFile);
    // The dynamic loader searches for a library without a slash.
    if (key.pkcs11.library.includes("/")) key.pkcs11.library = absolute(key.pkcs11.library);
  }
  const { threshold, ledger } = configuration;
  if (ledger) ledger.stateFile = absolute(ledger.stateFile);
  if (threshold) {
    threshold.folder = absolute(threshold.folder);
    threshold.sealingKeyFile = absolute(threshold.sealingKeyFile);
  }
  const { webhook, webauthn } = configuration.challenges ?? {};
  if (webhook) webhook.secretFile = absolute(webhook.secretFile);
  if (webauthn) webauthn.credentialsFile = absolute(webauthn.credentialsFile);
}
