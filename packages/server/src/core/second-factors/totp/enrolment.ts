/**
 * A secret on its way to an authenticator app. The form carries it, sealed for one user and one browser; nothing is kept
 * until a code proves that the app has it.
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

const bindingName = ({ owner, browser }: EnrolmentBinding) =>
  `totp-enrolment|${owner.homeOrgId}|${owner.userId}|${sha256Base64url(browser)}`;

/** @returns the secret in base32, and what the form carries */
export async function beginTotpEnrolment(
  seals: Encryption,
  binding: EnrolmentBinding,
): Promise<{ secret: string; sealed: string }> {
  const secret = await newTotpSecret();
  const content = JSON.stringify([secret, binding.now + LIFETIME_MS]);
  return { secret, sealed: seals.seal(Buffer.from(content), bindingName(binding)) };
}

/**
 * The same secret for another browser, for as long as it was good before: for a form that waits until its user has signed in
 * again. @returns undefined for what `openTotpEnrolment` does not open
 */
export function rebindTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
  browser: string,
): string | undefined {
  const content = contentOf(seals, sealed, binding);
  return content && seals.seal(content, bindingName({ ...binding, browser }));
}

/** The same secret again; undefined for what was made for somebody else, another browser, or is too old. */
export function openTotpEnrolment(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): { secret: string; sealed: string } | undefined {
  const content = contentOf(seals, sealed, binding);
  if (!content || sealed === undefined) return undefined;
  const [secret] = JSON.parse(content.toString()) as [string, number];
  return { secret, sealed };
}

function contentOf(
  seals: Encryption,
  sealed: string | undefined,
  binding: EnrolmentBinding,
): Buffer | undefined {
  if (sealed === undefined) return undefined;
  try {
    const content = seals.open(sealed, bindingName(binding));
    const [, expiresAt] = JSON.parse(content.toString()) as [string, number];
    return expiresAt > binding.now ? content : undefined;
  } catch {
    return undefined;
  }
}
