/** A token to try a policy on: one that the service issued before, or claims that somebody wrote down. */
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../strict-json.ts";
import { type CheckedRequest, checkRequest } from "./check-tokens.ts";
import { challengeWanted, type Policy } from "./policy.ts";

export interface Sample {
  readonly accessToken: JsonObject;
  readonly idToken?: JsonObject | undefined;
}

export class InvalidSample extends Error {
  constructor(message: string) {
    super(message);
    this.name = "InvalidSample";
  }
}

/**
 * @param text a compact JWS; or JSON: the claims of an access token, or `{"accessToken": …, "idToken": …}`, each claims or JWS
 * @throws InvalidSample
 */
export function readSample(text: string): Sample {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return { accessToken: claimsOf(trimmed) };
  let value: unknown;
  try {
    value = parseStrictJson(trimmed);
  } catch (error) {
    throw new InvalidSample(`the sample ${error instanceof Error ? error.message : "cannot be read"}`);
  }
  if (!isJsonObject(value)) throw new InvalidSample("the sample is no JSON object");
  if (value["accessToken"] === undefined) return { accessToken: value };
  const { accessToken, idToken } = value;
  return {
    accessToken: claimsOf(accessToken),
    ...(idToken === undefined ? {} : { idToken: claimsOf(idToken) }),
  };
}

function claimsOf(token: unknown): JsonObject {
  if (isJsonObject(token)) return token;
  const decoded = typeof token === "string" ? decodeJwsUnverified(token) : undefined;
  if (!decoded) throw new InvalidSample("the sample is neither a JWS nor claims in JSON");
  return decoded.payload;
}

/**
 * What the policy says to the sample, at the moment that its iat names.
 * @returns the challenge that would be asked first
 * @throws Refusal as a real request would
 */
export async function trySample(
  policy: Policy,
  sample: Sample,
  grantType: string,
): Promise<{ readonly checked: CheckedRequest; readonly challenge: string | undefined }> {
  const key = agentKey(memoryKey(await generatePrivateKey("EdDSA"), "EdDSA"), "sample");
  const { accessToken, idToken } = sample;
  const tokens = [
    tokenOf("access_token", "at+jwt", accessToken, key),
    ...(idToken ? [tokenOf("id_token", "JWT", idToken, key)] : []),
  ];
  const text = (name: string) => (typeof accessToken[name] === "string" ? accessToken[name] : "");
  const context = {
    issuer: text("iss"),
    clientId: text("client_id"),
    grantType,
    scope: text("scope").split(" ").filter(Boolean),
    sub: text("sub"),
  };
  const now = typeof accessToken["iat"] === "number" ? accessToken["iat"] * 1000 : 0;
  const checked = checkRequest({ context, tokens }, { policy, keys: [key], now });
  return { checked, challenge: challengeWanted(checked.client, checked.grant)?.type };
}

function tokenOf(use: string, typ: string, claims: JsonObject, { kid, alg }: AgentKey) {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return { use, kid, alg, protected: encode({ alg, kid, typ }), payload: encode(claims) };
}
