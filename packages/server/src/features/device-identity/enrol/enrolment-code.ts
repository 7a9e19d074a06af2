/**
 * The one-time enrolment code (device-identity.md §1): shown once, stored as a hash. With 125 bits it can't be guessed; the
 * rate limits make attempts visible.
 */

import { randomInt } from "node:crypto";
import { sha256Base64url } from "@signet/protocol/hash";
import type { CoreDeps } from "../../../core/core-deps.ts";
import type { EnrolmentCode } from "../../../core/devices/device.ts";
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  type RateLimits,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { ENROLMENT_CODE_CHALLENGE } from "../../../http/challenge.ts";
import { CodedError } from "../../../http/coded-error.ts";
import { findCodeByHash } from "./enrolment-code.store.ts";

/** Crockford's base32: no I, L, O and U. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 25;
const GROUP = 5;
export const MAX_CODE_LENGTH = 100;

/** @returns five groups of five characters, separated by dashes */
export function newEnrolmentCode(): string {
  const characters = Array.from({ length: LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return (characters.join("").match(new RegExp(`.{${GROUP}}`, "g")) ?? []).join("-");
}

/** @returns the stored hash, whatever the spelling; undefined for anything but a code */
export function enrolmentCodeHash(text: string): string | undefined {
  const normalized = text.trim().replaceAll("-", "").toUpperCase();
  const folded = normalized.replace(/[IL]/g, "1").replaceAll("O", "0");
  const isCode = folded.length === LENGTH && [...folded].every((one) => ALPHABET.includes(one));
  return isCode ? sha256Base64url(folded) : undefined;
}

export interface EnrolmentCodeDeps extends CoreDeps {
  readonly rateLimits: RateLimits;
}

export type UsableCode = EnrolmentCode & { readonly codeHash: string };

/**
 * Finds a usable code without redeeming it (`enrolDevice` does).
 * @param address the client address
 * @throws CodedError 401 invalid_code, the same for unknown, used, withdrawn, expired and foreign codes; 429
 */
export async function findUsableCode(
  deps: EnrolmentCodeDeps,
  organisation: { readonly id: string },
  codeText: string,
  address: string,
): Promise<UsableCode> {
  const { id: orgId } = organisation;
  await countEnrolmentAttempt(deps, orgId, address);
  const codeHash = enrolmentCodeHash(codeText);
  const code = codeHash && (await findCodeByHash(deps.database.query, orgId, codeHash));
  if (code && isUsable(code, deps.clock())) return { ...code, codeHash };
  // Only failures count: wrong codes don't block a device with a valid one.
  await count(deps, orgId, [
    { limit: deps.rateLimits["enrollment-code-address"], subject: networkPrefix(address) },
    { limit: deps.rateLimits["enrollment-code-organisation"], subject: orgId },
  ]);
  throw invalidCode(code ? "used, withdrawn or expired" : "unknown");
}

/** Counts every request to enrol or renew. @throws CodedError 429 */
export const countEnrolmentAttempt = (
  deps: EnrolmentCodeDeps,
  orgId: string,
  address: string,
): Promise<void> =>
  count(deps, orgId, [{ limit: deps.rateLimits["enrollment-address"], subject: networkPrefix(address) }]);

export const isUsable = ({ usedAt, withdrawnAt, expiresAt }: EnrolmentCode, now: number): boolean =>
  usedAt === null && withdrawnAt === null && expiresAt > now;

/** @param cause for the log only */
export const invalidCode = (cause: string): CodedError =>
  new CodedError(401, "invalid_code", "the enrolment code is not valid", {
    cause: `enrolment code: ${cause}`,
    headers: ENROLMENT_CODE_CHALLENGE,
  });

async function count(
  deps: EnrolmentCodeDeps,
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
