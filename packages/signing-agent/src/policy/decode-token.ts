/** The two halves of what is to be signed, read so that nobody who takes the token can read them otherwise. */

import { Refusal } from "../refusal.ts";
import type { TokenToSign } from "../service/messages.ts";
import { isJsonObject, type JsonObject, parseStrictObject } from "../strict-json.ts";

export type TokenUse = "access_token" | "id_token";

export interface DecodedToken {
  readonly use: TokenUse;
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** Exactly the bytes that the service sent: `protected.payload`. */
  readonly signingInput: string;
}

export interface DecodedTokens {
  readonly accessToken: DecodedToken;
  readonly idToken: DecodedToken | undefined;
}

/** @throws Refusal unless it is one access token, alone or with one ID token, both well formed */
export function decodeTokens(tokens: readonly TokenToSign[]): DecodedTokens {
  const of = (use: string) => tokens.filter((token) => token.use === use);
  const [access, ...moreAccess] = of("access_token");
  const [id, ...moreId] = of("id_token");
  const known = of("access_token").length + of("id_token").length;
  if (!access || moreAccess.length + moreId.length > 0 || known !== tokens.length)
    throw new Refusal("tokens", "not one access token, alone or with one ID token");
  return {
    accessToken: decodeToken(access, "access_token"),
    idToken: id && decodeToken(id, "id_token"),
  };
}

function decodeToken(token: TokenToSign, use: TokenUse): DecodedToken {
  const header = decodePart(token.protected, `${use} header`);
  const claims = decodePart(token.payload, `${use} payload`);
  if (header["kid"] !== token.kid || header["alg"] !== token.alg)
    throw new Refusal("header", `${use}: kid or alg beside the header differ from those in it`);
  return { use, header, claims, signingInput: `${token.protected}.${token.payload}` };
}

/** Canonical base64url only: what decodes to the same bytes in another spelling would be other signed bytes. */
function decodePart(part: string, name: string): JsonObject {
  const bytes = Buffer.from(part, "base64url");
  if (part === "" || bytes.toString("base64url") !== part)
    throw new Refusal("encoding", `${name} is no canonical base64url`);
  try {
    return parseStrictObject(bytes);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "cannot be read";
    throw new Refusal("encoding", `${name} ${reason}`, { cause: error });
  }
}

/** Whether two decoded JSON values are the same, whatever the order of their members. */
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
