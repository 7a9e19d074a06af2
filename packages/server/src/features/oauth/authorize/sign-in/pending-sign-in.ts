/**
 * A sign-in that the right password began and a second factor has to finish. It is no session and opens nothing: the
 * browser carries it from page to page, sealed for that browser, for ten minutes and one completed sign-in.
 */
import { sha256Base64url } from "@signet/protocol/hash";
import type { Encryption } from "../../../../core/encryption/encryption.ts";
import type { Flow } from "../flow.ts";

export const PENDING_SIGN_IN_MS = 10 * 60_000;

export interface PendingSignIn {
  /** Random; what is used up when the sign-in is completed. */
  readonly id: string;
  readonly userId: string;
  /** Milliseconds: when the password was right, or when the session's user proved themselves. */
  readonly authTime: number;
  readonly amr: readonly string[];
  readonly acr: string;
  /** As it was then: a password changed since ends this. Null for an account without one. */
  readonly passwordChangedAt: number | null;
  /** The living session that is to be raised; null when there is none yet. */
  readonly sessionId: string | null;
  readonly flow: Flow;
  readonly expiresAt: number;
}

interface Binding {
  readonly orgId: string;
  /** The browser's token. */
  readonly browser: string;
}

const bindingName = ({ orgId, browser }: Binding) => `pending-sign-in|${orgId}|${sha256Base64url(browser)}`;

export function sealPending(seals: Encryption, pending: PendingSignIn, binding: Binding): string {
  return seals.seal(Buffer.from(JSON.stringify(pending)), bindingName(binding));
}

/** Undefined for what was altered, is another browser's or organisation's, or too old. */
export function openPending(
  seals: Encryption,
  sealed: string | undefined,
  binding: Binding & { now: number },
): PendingSignIn | undefined {
  if (sealed === undefined) return undefined;
  let opened: Buffer;
  try {
    opened = seals.open(sealed, bindingName(binding));
  } catch {
    return undefined;
  }
  const pending = JSON.parse(opened.toString()) as PendingSignIn;
  return pending.expiresAt > binding.now ? pending : undefined;
}
