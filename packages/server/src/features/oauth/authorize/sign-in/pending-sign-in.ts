/**
 * A sign-in that has passed the password and still needs a second factor. It is no session: the browser carries it, sealed
 * for that browser, for ten minutes and one completion.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Flow } from "../flow.ts";

export const PENDING_SIGN_IN_MS = 10 * 60_000;

export interface PendingSignIn {
  /** Random; consumed when the sign-in completes. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds: when the user last authenticated. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
  /** A password change ends the pending sign-in. Null for an account without a password. */
  readonly passwordChangedAt: number | null;
  /** The session to step up; null when there is none yet. */
  readonly sessionId: string | null;
  readonly flow: Flow;
  readonly expiresAt: number;
}

interface Binding {
  readonly orgId: string;
  readonly browser: string;
}

const sealContext = ({ orgId, browser }: Binding) => `pending-sign-in|${orgId}|${sha256Base64url(browser)}`;

export function sealPending(seals: Encryption, pending: PendingSignIn, binding: Binding): string {
  return seals.seal(Buffer.from(JSON.stringify(pending)), sealContext(binding));
}

/** Undefined if it was altered, has expired, or belongs to another browser or organisation. */
export function openPending(
  seals: Encryption,
  sealed: string | undefined,
  binding: Binding & { now: number },
): PendingSignIn | undefined {
  if (sealed === undefined) return undefined;
  let opened: Buffer;
  try {
    opened = seals.open(sealed, sealContext(binding));
  } catch {
    return undefined;
  }
  const pending = JSON.parse(opened.toString()) as PendingSignIn;
  return pending.expiresAt > binding.now ? pending : undefined;
}
