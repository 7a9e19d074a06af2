/** Reads claims as strictly as their RFCs define them: no lenient verifier may read another meaning into one. */
import { quoted, Refusal } from "../agent/refusal.ts";
import type { DecodedToken } from "./decode-token.ts";

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

/** Only a certificate's SHA-256 (RFC 8705 §3.1): a second confirmation method could bind the token to something else. */
export function optionalConfirmation(token: DecodedToken): void {
  if (!Object.hasOwn(token.claims, "cnf")) return;
  const { cnf } = token.claims;
  const members = typeof cnf === "object" && cnf !== null ? Object.entries(cnf) : [];
  const [[name, value] = [], ...others] = members;
  const isThumbprint = typeof value === "string" && /^[A-Za-z0-9_-]{43}$/.test(value);
  if (name !== "x5t#S256" || !isThumbprint || others.length > 0)
    throw new Refusal("cnf", `${token.use}: cnf is not a certificate thumbprint`);
}

export function requireEqual(token: DecodedToken, name: string, actual: unknown, expected: unknown): void {
  if (actual !== expected)
    throw new Refusal(name, `${token.use}: ${name} is ${quoted(actual)} instead of ${quoted(expected)}`);
}
