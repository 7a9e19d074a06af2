/** Decodes the tokens to sign and reads their claims, refusing whatever another reader could understand differently. */
import { quoted, Refusal } from "../agent/refusal.ts";
import type { TokenToSign } from "../service/signing-service.ts";
import { isJsonObject, type JsonObject, parseStrictObject } from "../strict-json.ts";
import { messageUses } from "./policy.ts";

export type MessageUse = (typeof messageUses)[number];
export type TokenUse = "access_token" | "id_token" | MessageUse;

export interface DecodedToken {
  readonly use: TokenUse;
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** `protected.payload`, exactly as the service sent it. */
  readonly signingInput: string;
}

/**
 * @throws Refusal unless there is one access token, with at most one ID token and one authorization response, or one message alone; all
 * well formed
 */
export function decodeTokens(tokens: readonly TokenToSign[]) {
  const of = (use: TokenUse) => tokens.find((token) => token.use === use);
  const access = of("access_token");
  const id = of("id_token");
  const [message, ...more] = messageUses.flatMap((use) => of(use) ?? []);
  // One of each: others of the same use, or of an unknown one, are not among these.
  const known = [access, id, message].filter((one) => one !== undefined).length;
  const isWhole = access !== undefined || (id === undefined && message !== undefined);
  if (!isWhole || more.length > 0 || known !== tokens.length)
    throw new Refusal("tokens", "neither one access token and at most one ID token, nor one message");
  return {
    accessToken: access && decodeToken(access, "access_token"),
    idToken: id && decodeToken(id, "id_token"),
    message: message && decodeToken(message, message.use as MessageUse),
  };
}

function decodeToken(token: TokenToSign, use: TokenUse): DecodedToken {
  const header = decodePart(token.protected, `${use} header`);
  const claims = decodePart(token.payload, `${use} payload`);
  if (header["kid"] !== token.kid || header["alg"] !== token.alg)
    throw new Refusal("header", `${use}: kid or alg differ from those in the header`);
  return { use, header, claims, signingInput: `${token.protected}.${token.payload}` };
}

/** Canonical base64url only: the signature covers the encoding, not the decoded bytes. */
function decodePart(part: string, name: string): JsonObject {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part)
    throw new Refusal("encoding", `${name} is not canonical base64url`);
  try {
    return parseStrictObject(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "cannot be read";
    throw new Refusal("encoding", `${name} ${reason}`, { cause: error });
  }
}

/** Ignores the order of members. */
export function isSameJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, index) => isSameJson(item, b[index]));
  if (!isJsonObject(a) || !isJsonObject(b)) return a === b;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isSameJson(a[name], b[name]))
  );
}

const MAX_CHARACTERS = 1_000;

export function textClaim(token: DecodedToken, name: string): string {
  const value = token.claims[name];
  if (typeof value !== "string" || value === "" || value.length > MAX_CHARACTERS)
    throw new Refusal(name, `${token.use}: ${name} is missing or not a string`);
  return value;
}

export function optionalTextClaim(token: DecodedToken, name: string): string | undefined {
  return Object.hasOwn(token.claims, name) ? textClaim(token, name) : undefined;
}

/** Seconds since the epoch. RFC 7519 §2 allows fractions; the service writes none. */
export function timeClaim(token: DecodedToken, name: string): number {
  const value = token.claims[name];
  if (typeof value !== "number" || !Number.isSafeInteger(value) || value < 0)
    throw new Refusal(name, `${token.use}: ${name} is missing or not a whole number of seconds`);
  return value;
}

export function optionalTimeClaim(token: DecodedToken, name: string): number | undefined {
  return Object.hasOwn(token.claims, name) ? timeClaim(token, name) : undefined;
}

/** One audience or a list without duplicates (RFC 7519 §4.1.3). */
export function audiences(token: DecodedToken): readonly string[] {
  const { aud } = token.claims;
  const list = typeof aud === "string" ? [aud] : aud;
  const isList = Array.isArray(list) && list.every((one) => typeof one === "string" && one !== "");
  if (!isList || list.length === 0 || new Set(list).size !== list.length)
    throw new Refusal("aud", `${token.use}: aud is missing or not a list of strings`);
  return list;
}

export function optionalTextList(token: DecodedToken, name: string): void {
  if (!Object.hasOwn(token.claims, name)) return;
  const value = token.claims[name];
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string"))
    throw new Refusal(name, `${token.use}: ${name} is not a list of strings`);
}

/**
 * A certificate's SHA-256 (RFC 8705 §3.1), a key's thumbprint (RFC 9449 §6.1): another confirmation method could bind the token
 * to something else.
 */
export function optionalConfirmation(token: DecodedToken): void {
  if (!Object.hasOwn(token.claims, "cnf")) return;
  const { cnf } = token.claims;
  const members = typeof cnf === "object" && cnf !== null ? Object.entries(cnf) : [];
  const isThumbprint = ([name, value]: [string, unknown]) =>
    (name === "x5t#S256" || name === "jkt") && typeof value === "string" && /^[A-Za-z0-9_-]{43}$/.test(value);
  if (members.length === 0 || !members.every(isThumbprint))
    throw new Refusal("cnf", `${token.use}: cnf is no thumbprint of a certificate or key`);
}

export function requireEqual(token: DecodedToken, name: string, actual: unknown, expected: unknown): void {
  if (actual !== expected)
    throw new Refusal(name, `${token.use}: ${name} is ${quoted(actual)} instead of ${quoted(expected)}`);
}
