/**
 * Device Bound Session Credentials (W3C draft): a browser session that is bound to a key of the browser's machine is worth nothing
 * without a cookie that lasts minutes, and only the key gets the next one. Both the cookie and the challenges are derived from keys
 * that every node has: nothing is stored of them but which challenge was used.
 */
import { randomBytes } from "node:crypto";
import { isUuid, sha256Base64url } from "@signet/protocol/hash";
import type { Clock } from "../clock.ts";
import type { KeyRing } from "../encryption/key-ring.ts";
import { macs } from "../encryption/macs.ts";
import type { Session } from "./session.ts";

/** A challenge is for one of the two, so that an answer to one is none to the other. */
export type BindingPurpose = "register" | "refresh";

export interface SessionChallenge {
  readonly sessionId: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

export interface SessionBindings {
  challenge(orgId: string, purpose: BindingPurpose, sessionId: string): string;
  /** Whose it is; undefined for what is not ours, of another purpose or organisation, or expired. */
  readChallenge(orgId: string, purpose: BindingPurpose, text: string): SessionChallenge | undefined;
  /** The value of the cookie that shows the key was used lately. */
  proof(session: BoundSession): string;
  /** Whether a request with that cookie is of the session's browser. Any is, while the session is bound to no key. */
  isProven(session: BoundSession, presented: string | undefined): boolean;
}

export type BoundSession = Pick<Session, "orgId" | "id" | "boundKey" | "boundAt">;

/** A cookie is good in the slot that it was made in and in the next one: for five to ten minutes. */
const SLOT_MS = 300_000;
/** How long browsers keep it. */
export const PROOF_SECONDS = SLOT_MS / 1000;
/** Requests that were on their way when the browser registered its key have no cookie yet. */
const REGISTRATION_GRACE_MS = 30_000;
/** Browsers keep the challenge of one refresh for the next. */
const CHALLENGE_MS = 900_000;
const PROOF_PREFIX = "sgn_sb_";
const CHALLENGE_PATTERN = /^([0-9a-f-]{36})\.([0-9a-z]{1,12})\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/;

/** @param keys derived from the master keys for this purpose only */
export function sessionBindings(keys: KeyRing, clock: Clock): SessionBindings {
  const hashes = macs(keys);
  const slotNow = () => Math.floor(clock() / SLOT_MS);
  const challengeText = (orgId: string, purpose: BindingPurpose, rest: string) =>
    `challenge|${purpose}|${orgId}|${rest}`;
  const proofText = ({ orgId, id, boundKey }: BoundSession, slot: number) =>
    `proof|${orgId}|${id}|${sha256Base64url(boundKey ?? "")}|${slot}`;
  return {
    challenge: (orgId, purpose, sessionId) => {
      const expiresAt = (clock() + CHALLENGE_MS).toString(36);
      const rest = `${sessionId}.${expiresAt}.${randomBytes(16).toString("base64url")}`;
      return `${rest}.${hashes.of(challengeText(orgId, purpose, rest))}`;
    },
    readChallenge: (orgId, purpose, text) => {
      const [, sessionId = "", expiry = ""] = CHALLENGE_PATTERN.exec(text) ?? [];
      const at = text.lastIndexOf(".");
      if (!isUuid(sessionId)) return undefined;
      if (!hashes.isOf(challengeText(orgId, purpose, text.slice(0, at)), text.slice(at + 1)))
        return undefined;
      const expiresAt = Number.parseInt(expiry, 36);
      return expiresAt > clock() ? { sessionId, expiresAt } : undefined;
    },
    proof: (session) => `${PROOF_PREFIX}${hashes.of(proofText(session, slotNow()))}`,
    isProven: (session, presented) => {
      if (!session.boundKey) return true;
      const value = presented?.startsWith(PROOF_PREFIX) ? presented.slice(PROOF_PREFIX.length) : undefined;
      const slot = slotNow();
      const isOfKey =
        value !== undefined && [slot, slot - 1].some((one) => hashes.isOf(proofText(session, one), value));
      return isOfKey || clock() - (session.boundAt ?? 0) < REGISTRATION_GRACE_MS;
    },
  };
}
