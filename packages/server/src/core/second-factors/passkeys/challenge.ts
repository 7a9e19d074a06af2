/**
 * WebAuthn challenges: random, short-lived, and bound to their purpose by a MAC, so that nothing is stored before the
 * response. A used challenge is stored until it expires.
 */
import { createHmac, randomBytes } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import type { Db } from "../../../db/open.ts";
import { consumeOnce } from "../../consumed-values.store.ts";
import { isOfRing, type KeyRing } from "../../encryption/key-ring.ts";

const RANDOM_BYTES = 16;
const EXPIRY_BYTES = 6;
const MAC_BYTES = 32;

export interface ChallengePurpose {
  readonly orgId: string;
  readonly use: "sign-in" | "second-factor" | "registration";
  /** The browser's token: no other browser can respond. */
  readonly browser: string;
  /** Undefined when the response identifies the user. */
  readonly userId?: string;
}

export interface PasskeyChallenges {
  issue(purpose: ChallengePurpose, expiresAt: number): string;
  isGenuine(challenge: string, purpose: ChallengePurpose, now: number): boolean;
}

/** @param keys derived from the master keys for this purpose, so that every node verifies what another issued */
export function passkeyChallenges(keys: KeyRing): PasskeyChallenges {
  const mac = (key: Buffer, body: Buffer, { orgId, use, browser, userId = "" }: ChallengePurpose) =>
    createHmac("sha256", key).update(`${orgId}|${use}|${userId}|${browser}|`).update(body).digest();
  return {
    issue: (purpose, expiresAt) => {
      const expiry = Buffer.alloc(EXPIRY_BYTES);
      expiry.writeUIntBE(expiresAt, 0, EXPIRY_BYTES);
      const body = Buffer.concat([randomBytes(RANDOM_BYTES), expiry]);
      return Buffer.concat([body, mac(keys.all()[0], body, purpose)]).toString("base64url");
    },
    isGenuine: (challenge, purpose, now) => {
      const bytes = Buffer.from(challenge, "base64url");
      // Canonical encoding only: single use is by this text.
      if (bytes.toString("base64url") !== challenge) return false;
      if (bytes.length !== RANDOM_BYTES + EXPIRY_BYTES + MAC_BYTES) return false;
      const body = bytes.subarray(0, RANDOM_BYTES + EXPIRY_BYTES);
      const presented = bytes.subarray(body.length).toString("base64url");
      const isOwn = (key: Buffer) =>
        constantTimeEqual(mac(key, body, purpose).toString("base64url"), presented);
      if (!isOfRing(keys, isOwn)) return false;
      return readExpiry(bytes) > now;
    },
  };
}

const readExpiry = (bytes: Buffer): number => bytes.readUIntBE(RANDOM_BYTES, EXPIRY_BYTES);

/** Consumes a genuine challenge. @returns false the second time */
export function consumeChallenge(tx: Db, orgId: string, challenge: string): Promise<boolean> {
  const expiresAt = readExpiry(Buffer.from(challenge, "base64url"));
  return consumeOnce(tx, { orgId, kind: "passkey-challenge", value: challenge, expiresAt });
}
