/** Tries a policy on a sample: a token issued earlier, or claims written by hand. */
import { UsageError } from "@signet/cli-runtime/command";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../strict-json.ts";
import { checkRequest } from "./check-tokens.ts";
import { type Policy, requiredChallenge } from "./policy.ts";

type Sample = ReturnType<typeof readSample>;

/**
 * @param text a compact JWS; or JSON: the claims of an access token, or `{"accessToken": …, "idToken": …}`, each claims or JWS
 * @throws UsageError
 */
export function readSample(text: string): { accessToken: JsonObject; idToken?: JsonObject } {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return { accessToken: readClaims(trimmed) };
  let value: unknown;
  try {
    value = parseStrictJson(trimmed);
  } catch (error) {
    throw new UsageError(`the sample ${error instanceof Error ? error.message : "cannot be read"}`);
  }
  if (!isJsonObject(value)) throw new UsageError("the sample is not a JSON object");
  if (value["accessToken"] === undefined) return { accessToken: value };
  const { accessToken, idToken } = value;
  return {
    accessToken: readClaims(accessToken),
    ...(idToken === undefined ? {} : { idToken: readClaims(idToken) }),
  };
}

function readClaims(token: unknown): JsonObject {
  if (isJsonObject(token)) return token;
  const decoded = typeof token === "string" ? decodeJwsUnverified(token) : undefined;
  if (!decoded) throw new UsageError("the sample is neither a JWS nor claims in JSON");
  return decoded.payload;
}

/**
 * Checks the sample as if it were requested at its own `iat`.
 * @returns also the challenge that the user would have to pass first
 * @throws Refusal as for a real request
 */
export async function trySample(policy: Policy, sample: Sample, grantType: string) {
  const key = agentKey(memoryKey(await generatePrivateKey("EdDSA"), "EdDSA"), "sample");
  const { accessToken, idToken } = sample;
  const tokens = [
    buildToken("access_token", "at+jwt", accessToken, key),
    ...(idToken ? [buildToken("id_token", "JWT", idToken, key)] : []),
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
  return { checked, challenge: requiredChallenge(checked.client, checked.grant)?.type };
}

function buildToken(use: string, typ: string, claims: JsonObject, { kid, alg }: AgentKey) {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return { use, kid, alg, protected: encode({ alg, kid, typ }), payload: encode(claims) };
}
