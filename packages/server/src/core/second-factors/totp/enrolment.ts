/**
 * TOTP enrolment: the form carries the new secret, sealed for one user and browser; it is stored once a code proves that the
 * app has it.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Encryption } from "../../encryption/encryption.ts";
import type { FactorOwner } from "../second-factor.ts";
import { newTotpSecret } from "./totp.ts";

const LIFETIME_MS = 30 * 60_000;

export interface EnrolmentBinding {
  readonly owner: FactorOwner;
  /** The browser's token. */
  readonly browser: string;
  readonly now: number;
}

const sealContext = ({ owner, browser }: EnrolmentBinding) =>
  `totp-enrolment|${owner.homeOrgId}|${owner.userId}|${sha256Base64url(browser)}`;

/** @returns the secret in base32, and sealed for the form */
export async function beginTotpEnrolment(
  seals: Encryption,
  binding: EnrolmentBinding,
): Promise<{ secret: string; sealed: string }> {
  const secret = await newTotpSecret();
  const content = JSON.stringify([secret, binding.now + LIFETIME_MS]);
  return { secret, sealed: seals.seal(Buffer.from(content), sealContext(binding)) };
}

/** Seals the secret for another browser with the same expiry: for a form that waits for reauthentication. */
export function rebindTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
  browser: string,
): string | undefined {
  const content = openContent(seals, sealed, binding);
  return content && seals.seal(content, sealContext({ ...binding, browser }));
}

/** Undefined if it has expired or belongs to another user or browser. */
export function openTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): { secret: string; sealed: string } | undefined {
  const content = openContent(seals, sealed, binding);
  if (!content || sealed === undefined) return undefined;
  const [secret] = JSON.parse(content.toString()) as [string, number];
  return { secret, sealed };
}

function openContent(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): Buffer | undefined {
  if (sealed === undefined) return undefined;
  try {
    const content = seals.open(sealed, sealContext(binding));
    const [, expiresAt] = JSON.parse(content.toString()) as [string, number];
    return expiresAt > binding.now ? content : undefined;
  } catch {
    return undefined;
  }
}
