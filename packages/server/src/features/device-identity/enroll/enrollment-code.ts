/**
 * The one-time code that lets a device in (device-identity.md §1): shown once, kept as its hash. 125 bits: nobody guesses
 * one, and the limits here are there to be told of who tries.
 */
import { randomInt } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { Clock } from "../../../core/clock.ts";
import type { EnrollmentCode } from "../../../core/devices/device.ts";
import { networkOf } from "../../../core/rate-limits/network.ts";
import { rateLimitHeaders } from "../../../core/rate-limits/rate-limit-headers.ts";
import { countAttempt, RateLimited, type RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { Database } from "../../../db/open.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { findCodeByHash } from "./enrollment-code.store.ts";

/** Crockford's base32: no I, L, O and U. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 25;
const GROUP = 5;
/** Characters of what is taken for a code before it is looked at. */
export const LONGEST_CODE = 100;

/** @returns five groups of five characters, with dashes between */
export function newEnrollmentCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return (characters.join("").match(new RegExp(`.{${GROUP}}`, "g")) ?? []).join("-");
}

/** @returns the hash that it is kept under, however it was typed; undefined for what is no code */
export function codeHashOf(text: string): string | undefined {
  const typed = text.trim().replaceAll("-", "").toUpperCase();
  const folded = typed.replace(/[IL]/g, "1").replaceAll("O", "0");
  const isCode = folded.length === LENGTH && [...folded].every((one) => ALPHABET.includes(one));
  return isCode ? sha256Base64url(folded) : undefined;
}

export interface EnrollmentCodeDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly rateLimits: RateLimits;
}

export type UsableCode = EnrollmentCode & { readonly codeHash: string };

/**
 * The code, as long as nobody has used it; it is used up by `enrolDevice` alone.
 * @param address where the request comes from
 * @throws CodedError 401 invalid_code: one answer for unknown, used, withdrawn and expired ones, and another organisation's;
 * 429 after too many requests, or too many such codes
 */
export async function findUsableCode(
  deps: EnrollmentCodeDeps,
  organisation: { readonly id: string },
  codeText: string,
  address: string,
): Promise<UsableCode> {
  const { id: orgId } = organisation;
  await countEnrollment(deps, orgId, address);
  const codeHash = codeHashOf(codeText);
  const code = codeHash && (await findCodeByHash(deps.database.query, orgId, codeHash));
  if (code && isUsable(code, deps.clock())) return { ...code, codeHash };
  // Failures alone: whoever sends wrong ones keeps no device out that has a right one.
  await count(deps, orgId, [
    { limit: deps.rateLimits["enrollment-code-address"], subject: networkOf(address) },
    { limit: deps.rateLimits["enrollment-code-organisation"], subject: orgId },
  ]);
  throw invalidCode(code ? "used, withdrawn or expired" : "unknown");
}

/** One request to enrol or renew, good or not. @throws CodedError 429 */
export const countEnrollment = (deps: EnrollmentCodeDeps, orgId: string, address: string): Promise<void> =>
  count(deps, orgId, [{ limit: deps.rateLimits["enrollment-address"], subject: networkOf(address) }]);

export const isUsable = ({ usedAt, withdrawnAt, expiresAt }: EnrollmentCode, now: number): boolean =>
  usedAt === null && withdrawnAt === null && expiresAt > now;

/** @param cause for the log alone */
export const invalidCode = (cause: string): CodedError =>
  new CodedError(401, "invalid_code", "the enrollment code is not valid", {
    cause: `enrollment code: ${cause}`,
  });

async function count(
  deps: EnrollmentCodeDeps,
  orgId: string,
  counted: Parameters<typeof countAttempt>[2],
): Promise<void> {
  try {
    await countAttempt(deps, orgId, counted);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const headers = { ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) };
    throw new CodedError(429, "temporarily_unavailable", "too many requests", {
      headers,
      cause: error.message,
    });
  }
}
