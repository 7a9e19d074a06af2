/** What every token goes through (RFC 7515 §5.2, RFC 7519 §7.2, RFC 8725). The kinds of token add their own rules. */
import { base64url, compactVerify } from "jose";
import { SignetError } from "../errors.ts";
import { signingAlgorithms } from "./algorithms.ts";
import { checkClaims } from "./check-claims.ts";
import { type Claims, isRecord } from "./claims.ts";
import type { KeySource } from "./key-source.ts";

/** Longer ones do not fit the header limits of servers anyway. */
const MAX_TOKEN_LENGTH = 32 * 1024;
/** A compact JWS. Five parts would be an encrypted token; an empty last one is how `alg: none` looks. */
const compactJws = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

export interface JwtChecks {
  readonly keys: KeySource;
  /** Compared as it is, to the last character. */
  readonly issuer: string;
  /** Allowed `typ`, in any case and with or without `application/`; "" allows a token without one. Undefined: any. */
  readonly types: readonly string[] | undefined;
  /** Must be among the token's `aud`. */
  readonly audience?: string | undefined;
  readonly algorithms?: readonly string[] | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** What the clocks of two machines may differ. Default 60. */
  readonly toleranceSeconds?: number;
  /** Claims that must be there. */
  readonly required: readonly string[];
}

export interface JwtHeader {
  readonly alg: string;
  readonly kid?: string;
  readonly typ?: string;
}

export interface VerifiedJwt {
  readonly header: JwtHeader;
  readonly claims: Claims;
}

/**
 * Verifies a signed JWT: form, type, algorithm, key, signature, then its claims. Throws `SignetError` with a `token_…` code for
 * what is wrong with the token, `provider_…` when its key cannot be fetched.
 */
export async function verifyJwt(token: string, checks: JwtChecks): Promise<VerifiedJwt> {
  const header = headerOf(token);
  checkAlgorithm(header.alg, checks.algorithms ?? signingAlgorithms);
  checkType(header.typ, checks.types);
  const key = await checks.keys.keyFor(header);
  const claims = await signedClaims(token, key, header.alg);
  checkClaims(claims, checks);
  return { header, claims };
}

function headerOf(token: string): JwtHeader {
  if (typeof token !== "string" || token.length > MAX_TOKEN_LENGTH || !compactJws.test(token))
    throw malformed("The token is not a signed JWT.");
  const header = decodedObject(token.slice(0, token.indexOf(".")));
  if (!header) throw malformed("The token's header is not a JSON object.");
  const { alg, kid, typ } = header;
  if (typeof alg !== "string") throw malformed("The token's header names no algorithm.");
  if (kid !== undefined && typeof kid !== "string") throw malformed("The token's kid is not a string.");
  if (typ !== undefined && typeof typ !== "string") throw malformed("The token's typ is not a string.");
  // None is understood here, and one that is not understood must be refused (RFC 7515 §4.1.11). That includes b64 (RFC 7797).
  if ("crit" in header) throw malformed("The token's header has an extension that is not understood.");
  return { alg, ...(kid === undefined ? {} : { kid }), ...(typ === undefined ? {} : { typ }) };
}

function checkAlgorithm(alg: string, allowed: readonly string[]): void {
  // A list of the caller only narrows ours, so that no mistake there lets `none` or a shared secret in (RFC 8725 §3.1).
  if (!allowed.includes(alg) || !signingAlgorithms.includes(alg))
    throw new SignetError("token_algorithm", "The token is signed with an algorithm that is not accepted.");
}

/** RFC 8725 §3.11: one kind of token must not pass for another. */
function checkType(typ: string | undefined, types: readonly string[] | undefined): void {
  if (!types) return;
  const name = (typ ?? "").toLowerCase().replace(/^application\//, "");
  if (!types.some((type) => type.toLowerCase() === name))
    throw new SignetError("token_type", "The token is of another type than is expected here.");
}

async function signedClaims(token: string, key: CryptoKey, alg: string): Promise<Claims> {
  const { payload } = await compactVerify(token, key, { algorithms: [alg] }).catch((cause: unknown) => {
    throw new SignetError("token_signature", "The token's signature does not hold.", { cause });
  });
  const claims = jsonObject(payload);
  if (!claims) throw malformed("The token's claims are not a JSON object.");
  return claims as Claims;
}

/** Undefined for what is no base64url too: a length that no bytes have, for example. */
function decodedObject(text: string): Record<string, unknown> | undefined {
  try {
    return jsonObject(base64url.decode(text));
  } catch {
    return undefined;
  }
}

function jsonObject(bytes: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function malformed(message: string): SignetError {
  return new SignetError("token_malformed", message);
}
