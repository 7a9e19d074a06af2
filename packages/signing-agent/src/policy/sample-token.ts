/** Tries a policy on a sample: a token or message issued earlier, or claims written by hand. */
import { UsageError } from "@signet/cli-runtime/command";
import { decodeJwsUnverified } from "@signet/protocol/jose/jws";
import { type AgentKey, agentKey } from "../keys/key-source.ts";
import { generatePrivateKey, memoryKey } from "../keys/pem-key.ts";
import type { ClaimedRequest } from "../service/signing-service.ts";
import { isJsonObject, type JsonObject, parseStrictJson } from "../strict-json.ts";
import { messageTypes } from "./check-messages.ts";
import { checkRequest } from "./check-tokens.ts";
import type { MessageUse } from "./decode-token.ts";
import type { Policy } from "./policy.ts";

type Sample = ReturnType<typeof readSample>;

/**
 * @param text a compact JWS; or JSON: the claims of an access token, or `{"accessToken": …, "idToken": …, "authorizationResponse": …}`, each
 * claims or JWS
 * @throws UsageError
 */
export function readSample(text: string): {
  readonly accessToken: JsonObject;
  readonly idToken?: JsonObject;
  readonly authorizationResponse?: JsonObject;
} {
  const value = readText(text);
  if (!isJsonObject(value) || value["accessToken"] === undefined) return { accessToken: readClaims(value) };
  const { accessToken, idToken, authorizationResponse: response } = value;
  return {
    accessToken: readClaims(accessToken),
    ...(idToken === undefined ? {} : { idToken: readClaims(idToken) }),
    ...(response === undefined ? {} : { authorizationResponse: readClaims(response) }),
  };
}

/** @param text a compact JWS, or claims. @throws UsageError */
export const readMessageSample = (text: string): JsonObject => readClaims(readText(text));

function readText(text: string): unknown {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{")) return trimmed;
  try {
    return parseStrictJson(trimmed);
  } catch (error) {
    throw new UsageError(`the sample ${error instanceof Error ? error.message : "cannot be read"}`);
  }
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
export function trySample(policy: Policy, sample: Sample, grantType: string) {
  const { accessToken, idToken, authorizationResponse } = sample;
  const clientId = textOf(accessToken, "client_id");
  return tryRequest(policy, { claims: accessToken, clientId, grantType }, (key) => [
    buildToken("access_token", "at+jwt", accessToken, key),
    ...(idToken ? [buildToken("id_token", "JWT", idToken, key)] : []),
    ...(authorizationResponse ? [buildMessage("authorization_response", authorizationResponse, key)] : []),
  ]);
}

const grantsOfMessages: Readonly<Record<MessageUse, string>> = {
  authorization_response: "authorization_code",
  id_jag: "token_exchange",
  introspection_response: "introspection",
  userinfo_response: "userinfo",
};

/** The same for a message alone. @param client whom it is signed for; default: its recipient, or the client that an ID-JAG names */
export function tryMessage(policy: Policy, use: MessageUse, claims: JsonObject, client?: string) {
  const clientId = client ?? textOf(claims, use === "id_jag" ? "client_id" : "aud");
  const of = { claims, clientId, grantType: grantsOfMessages[use] };
  return tryRequest(policy, of, (key) => [buildMessage(use, claims, key)]);
}

interface Tried {
  readonly claims: JsonObject;
  readonly clientId: string;
  readonly grantType: string;
}

async function tryRequest(
  policy: Policy,
  { claims, clientId, grantType }: Tried,
  build: (key: AgentKey) => ClaimedRequest["tokens"],
) {
  const key = agentKey(memoryKey(await generatePrivateKey("EdDSA"), "EdDSA"), "sample");
  const context = {
    issuer: textOf(claims, "iss"),
    clientId,
    grantType,
    scope: textOf(claims, "scope").split(" ").filter(Boolean),
    sub: textOf(claims, "sub"),
  };
  const now = typeof claims["iat"] === "number" ? claims["iat"] * 1000 : 0;
  const checked = checkRequest({ context, tokens: build(key) }, { policy, keys: [key], now });
  return { checked, challenge: checked.challenge?.type };
}

function textOf(claims: JsonObject, name: string): string {
  const value = claims[name];
  return typeof value === "string" ? value : "";
}

const buildMessage = (use: MessageUse, claims: JsonObject, key: AgentKey) =>
  buildToken(use, messageTypes[use], claims, key);

function buildToken(use: string, typ: string, claims: JsonObject, { kid, alg }: AgentKey) {
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
  return { use, kid, alg, protected: encode({ alg, kid, typ }), payload: encode(claims) };
}
