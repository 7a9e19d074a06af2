/**
 * The challenge that a passkey signs: random, short-lived, and bound to what it was made for by a MAC of ours, so that
 * nothing is kept until it comes back. What came back once is remembered until it would be too old anyway.
 */
import { createHmac, randomBytes } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { consumeOnce } from "../../consumed-values.store.ts";

const RANDOM_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 32;

export interface ChallengePurpose {
  readonly orgId: string;
  readonly use: "sign-in" | "second-factor" | "registration";
  /** The browser's token: what one browser was asked, another cannot answer. */
  readonly browser: string;
  /** Whose passkey is asked for; undefined when the answer tells. */
  readonly userId?: string;
}

export interface PasskeyChallenges {
  /** @returns base64url, as WebAuthn's JSON forms carry it */
  issue(purpose: ChallengePurpose, expiresAt: number): string;
  isGenuine(challenge: string, purpose: ChallengePurpose, now: number): boolean;
}

/** @param key derived from the master key for this purpose, so that any node knows what another asked */
export function passkeyChallenges(key: Buffer): PasskeyChallenges {
  const mac = (body: Buffer, { orgId, use, browser, userId = "" }: ChallengePurpose) =>
    createHmac("sha256", key).update(`${orgId}|${use}|${userId}|${browser}|`).update(body).digest();
  return {
    issue: (purpose, expiresAt) => {
      const expiry = Buffer.alloc(EXPIRY_BYTES);
      expiry.writeUIntBE(expiresAt, 0, EXPIRY_BYTES);
      const body = Buffer.concat([randomBytes(RANDOM_BYTES), expiry]);
      return Buffer.concat([body, mac(body, purpose)]).toString("base64url");
    },
    isGenuine: (challenge, purpose, now) => {
      const bytes = Buffer.from(challenge, "base64url");
      // One text for each: what is used up is remembered by it.
      if (bytes.toString("base64url") !== challenge) return false;
      if (bytes.length !== RANDOM_BYTES + EXPIRY_BYTES + MAC_BYTES) return false;
      const body = bytes.subarray(0, RANDOM_BYTES + EXPIRY_BYTES);
      const presented = bytes.subarray(body.length).toString("base64url");
      if (!constantTimeEqual(mac(body, purpose).toString("base64url"), presented)) return false;
      return expiryOf(bytes) > now;
    },
  };
}

const expiryOf = (bytes: Buffer): number => bytes.readUIntBE(RANDOM_BYTES, EXPIRY_BYTES);

/** The single use of a genuine challenge, in the transaction that rests on it. @returns false the second time */
export function takeChallenge(tx: Db, orgId: string, challenge: string): Promise<boolean> {
  const expiresAt = expiryOf(Buffer.from(challenge, "base64url"));
  return consumeOnce(tx, { orgId, kind: "passkey-challenge", value: challenge, expiresAt });
}
