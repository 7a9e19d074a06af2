/**
 * Passkeys whose public keys the agent holds: the user signs the very bytes that the agent is about to sign, so a service that
 * shows something else gains nothing (Web Authentication Level 3 §7.2).
 */
import { createPublicKey, hash, type KeyObject, verify, type webcrypto } from "node:crypto";
import { type Static, Type } from "typebox";
import { Compile } from "typebox/compile";
import { closedObject, InvalidFile, parseYaml } from "../configuration/yaml-file.ts";
import { isJsonObject, parseStrictJson } from "../strict-json.ts";

const credentialSchema = closedObject({
  id: Type.String({ pattern: "^[A-Za-z0-9_-]{1,1400}$", description: "a credential id in base64url" }),
  publicKey: Type.Record(Type.String(), Type.Unknown(), { description: "a JWK" }),
});
const fileSchema = Type.Record(Type.String(), Type.Array(credentialSchema), {
  description: "a map from subject to a list of credentials",
});

export interface Passkeys {
  readonly rpId: string;
  readonly origins: readonly string[];
  readonly userVerification: boolean;
  /** By subject. */
  readonly credentials: ReadonlyMap<string, ReadonlyArray<ReturnType<typeof readCredential>>>;
}

/** @throws InvalidFile also for a key that cannot be read */
export function parseCredentials(text: string, name: string): Passkeys["credentials"] {
  const users = Object.entries(parseYaml(fileSchema, text, name));
  return new Map(
    users.map(([sub, list]) => [sub, list.map((one, index) => readCredential(one, `${sub}.${index}`, name))]),
  );
}

function readCredential(credential: Static<typeof credentialSchema>, path: string, name: string) {
  const { id, publicKey } = credential;
  try {
    return { id, publicKey: createPublicKey({ key: publicKey as webcrypto.JsonWebKey, format: "jwk" }) };
  } catch {
    throw new InvalidFile(name, [{ line: undefined, message: `${path}.publicKey is not a public key` }]);
  }
}

/** What the passkey signs: SHA-256 over the signing inputs, one per line. */
export function passkeyChallenge(signingInputs: readonly string[]): string {
  return hash("sha256", signingInputs.join("\n"), "base64url");
}

/** PublicKeyCredentialRequestOptionsJSON for the wait page; undefined when the user has no passkey. */
export function passkeyRequest(
  { rpId, userVerification, credentials }: Passkeys,
  sub: string,
  challenge: string,
  ttlSeconds: number,
): Readonly<Record<string, unknown>> | undefined {
  const own = credentials.get(sub) ?? [];
  if (own.length === 0) return undefined;
  return {
    challenge,
    rpId,
    allowCredentials: own.map(({ id }) => ({ id, type: "public-key" })),
    userVerification: userVerification ? "required" : "preferred",
    timeout: ttlSeconds * 1000,
  };
}

const assertionMessage = Compile(
  Type.Object({
    id: Type.String(),
    response: Type.Object({
      clientDataJSON: Type.String(),
      authenticatorData: Type.String(),
      signature: Type.String(),
    }),
  }),
);

const RP_ID_HASH_BYTES = 32;
const USER_PRESENT = 1;
const USER_VERIFIED = 4;

/** Whether one of the user's own passkeys signed exactly this challenge. */
export function verifyAssertion(
  answer: unknown,
  passkeys: Passkeys,
  sub: string,
  challenge: string,
): boolean {
  if (!assertionMessage.Check(answer)) return false;
  const { id, response } = answer;
  const credential = passkeys.credentials.get(sub)?.find((one) => one.id === id);
  const clientData = Buffer.from(response.clientDataJSON, "base64url");
  const authenticatorData = Buffer.from(response.authenticatorData, "base64url");
  return (
    credential !== undefined &&
    verifyClientData(clientData, passkeys, challenge) &&
    verifyAuthenticatorData(authenticatorData, passkeys) &&
    verifySignature(credential.publicKey, authenticatorData, clientData, response.signature)
  );
}

function verifyClientData(bytes: Buffer, { origins }: Passkeys, challenge: string): boolean {
  try {
    const data = parseStrictJson(bytes.toString("utf8"));
    return (
      isJsonObject(data) &&
      data["type"] === "webauthn.get" &&
      data["challenge"] === challenge &&
      data["crossOrigin"] !== true &&
      origins.some((origin) => origin === data["origin"])
    );
  } catch {
    return false;
  }
}

function verifyAuthenticatorData(bytes: Buffer, { rpId, userVerification }: Passkeys): boolean {
  const flags = bytes[RP_ID_HASH_BYTES] ?? 0;
  const required = userVerification ? USER_PRESENT | USER_VERIFIED : USER_PRESENT;
  return (
    bytes.subarray(0, RP_ID_HASH_BYTES).equals(hash("sha256", rpId, "buffer")) &&
    (flags & required) === required
  );
}

/** Unlike in a JWS, ECDSA signatures are DER here (Web Authentication §6.5.5). */
function verifySignature(key: KeyObject, authenticatorData: Buffer, clientData: Buffer, signature: string) {
  const signed = Buffer.concat([authenticatorData, hash("sha256", clientData, "buffer")]);
  const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  try {
    return verify(digest, signed, key, Buffer.from(signature, "base64url"));
  } catch {
    return false;
  }
}
