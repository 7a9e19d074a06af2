/** A device that waits for a person to allow it in a browser elsewhere (RFC 8628): fifteen minutes, one answer, one use. */
import { randomInt } from "node:crypto";
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { BegunSigning } from "../tokens/signer.ts";
import type { Authentication } from "../tokens/token-family.ts";

export const DEVICE_LIFETIME_MS = 15 * 60 * 1000;
/** How long a device waits between two polls (RFC 8628 §3.2), and by how much longer after a poll too soon (§3.5). */
export const POLL_INTERVAL_SECONDS = 5;

export interface DeviceAuthorization {
  readonly orgId: string;
  readonly deviceCodeHash: string;
  readonly applicationId: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  /** Where the device asked from, and what it said that it is: a stranger's text. */
  readonly address: string;
  readonly userAgent: string;
  readonly status: "pending" | "approved" | "denied";
  /** Who allowed it, and by which sign-in; null until then. */
  readonly approval: DeviceApproval | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** What the device code's use began. */
  readonly familyId: string | null;
  /** The tokens that an agent signs for it; null where they are signed when it is used. */
  readonly signing: DeviceSigning | null;
}

export interface DeviceSigning {
  /** That the tokens name; known with the yes. */
  readonly familyId: string;
  /** Milliseconds. */
  readonly approvedAt: number;
  /** Absent in the moment between the yes and the request, and when there could be none. */
  readonly begun?: BegunSigning;
}

export interface DeviceApproval {
  readonly userId: string;
  readonly sessionId: string;
  readonly consentId: string | null;
  readonly authentication: Authentication;
}

/** Consonants: no words, nothing that looks like a digit (RFC 8628 §6.1). Eight of them are 34 bits. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LETTER_COUNT = 8;
const MOST_TYPED = 64;

export interface NewDeviceCodes {
  readonly deviceCode: string;
  readonly deviceCodeHash: string;
  /** As it is shown, `XXXX-XXXX`. */
  readonly userCode: string;
  readonly userCodeHash: string;
}

export function newDeviceCodes(): NewDeviceCodes {
  const deviceCode = randomSecret("sgn_dc_");
  const letters = Array.from({ length: LETTER_COUNT }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return {
    deviceCode,
    deviceCodeHash: sha256Base64url(deviceCode),
    userCode: shown(letters),
    userCodeHash: sha256Base64url(letters),
  };
}

/**
 * A code as a person types it: in any case, with or without the dash, with spaces (RFC 8628 §6.1).
 * @returns undefined when it cannot be one
 */
export function readUserCode(
  typed: string,
): { readonly userCode: string; readonly hash: string } | undefined {
  const letters = typed
    .slice(0, MOST_TYPED)
    .replace(/[\s\p{P}]/gu, "")
    .toUpperCase();
  const isCode = letters.length === LETTER_COUNT && [...letters].every((letter) => LETTERS.includes(letter));
  return isCode ? { userCode: shown(letters), hash: sha256Base64url(letters) } : undefined;
}

const shown = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;
