/** Decodes the tokens to sign, refusing whatever another reader could decode differently. */
import { Refusal } from "../agent/refusal.ts";
import type { TokenToSign } from "../service/messages.ts";
import { isJsonObject, type JsonObject, parseStrictObject } from "../strict-json.ts";

export type TokenUse = "access_token" | "id_token";

export interface DecodedToken {
  readonly use: TokenUse;
  readonly header: JsonObject;
  readonly claims: JsonObject;
  /** `protected.payload`, exactly as the service sent it. */
  readonly signingInput: string;
}

/** @throws Refusal unless there is one access token and at most one ID token, both well formed */
export function decodeTokens(tokens: readonly TokenToSign[]) {
  const of = (use: string) => tokens.filter((token) => token.use === use);
  const [access, ...moreAccess] = of("access_token");
  const [id, ...moreId] = of("id_token");
  const known = of("access_token").length + of("id_token").length;
  if (!access || moreAccess.length + moreId.length > 0 || known !== tokens.length)
    throw new Refusal("tokens", "not one access token and at most one ID token");
  return {
    accessToken: decodeToken(access, "access_token"),
    idToken: id && decodeToken(id, "id_token"),
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
