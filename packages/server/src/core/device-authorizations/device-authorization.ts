/** A device authorization (RFC 8628): fifteen minutes for one decision by a user in another browser, and one use. */
import { randomInt } from "node:crypto";
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { ScopeDefinitions } from "../scopes/scope-definitions.ts";
import type { SigningRequestRef } from "../tokens/signer.ts";
import type { Authentication } from "../tokens/token-family.ts";

export const DEVICE_CODE_LIFETIME_MS = 15 * 60 * 1000;
/** The poll interval (RFC 8628 §3.2), and by how much it grows after an early poll (§3.5). */
export const POLL_INTERVAL_SECONDS = 5;

export interface DeviceAuthorization {
  readonly orgId: string;
  readonly deviceCodeHash: string;
  readonly applicationId: string;
  readonly scopes: readonly string[];
  /** Of its custom scopes; null in those of older versions. */
  readonly definitions: ScopeDefinitions | null;
  readonly resources: readonly string[];
  /** Of the request that started the authorization; the user agent is untrusted text. */
  readonly address: string;
  readonly userAgent: string;
  readonly status: "pending" | "approved" | "denied";
  /** Null until a user approves. */
  readonly approval: DeviceApproval | null;
  readonly createdAt: number;
  readonly expiresAt: number;
  /** The token family that the redemption of the device code started. */
  readonly familyId: string | null;
  /** Null where local keys sign at redemption. */
  readonly signing: DeviceSigning | null;
}

export interface DeviceSigning {
  /** The token family that the tokens name. */
  readonly familyId: string;
  /** Milliseconds. */
  readonly approvedAt: number;
  /** Absent until the request is queued, and when no agent was available. */
  readonly begun?: SigningRequestRef;
}

export interface DeviceApproval {
  readonly userId: string;
  readonly sessionId: string;
  readonly consentId: string | null;
  readonly authentication: Authentication;
}

/** Consonants only: no words, no look-alikes of digits (RFC 8628 §6.1). Eight letters have 34 bits. */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LETTER_COUNT = 8;
const MAX_INPUT_LENGTH = 64;

export interface NewDeviceCodes {
  readonly deviceCode: string;
  readonly deviceCodeHash: string;
  /** `XXXX-XXXX` */
  readonly userCode: string;
  readonly userCodeHash: string;
}

export function newDeviceCodes(): NewDeviceCodes {
  const deviceCode = randomSecret("sgn_dc_");
  const letters = Array.from({ length: LETTER_COUNT }, () => LETTERS[randomInt(LETTERS.length)]).join("");
  return {
    deviceCode,
    deviceCodeHash: sha256Base64url(deviceCode),
    userCode: formatUserCode(letters),
    userCodeHash: sha256Base64url(letters),
  };
}

/**
 * Reads a code in any case, with or without dash and spaces (RFC 8628 §6.1).
 * @returns undefined when it cannot be a user code
 */
export function readUserCode(
  input: string,
): { readonly userCode: string; readonly hash: string } | undefined {
  const letters = input
    .slice(0, MAX_INPUT_LENGTH)
    .replace(/[\s\p{P}]/gu, "")
    .toUpperCase();
  const isCode = letters.length === LETTER_COUNT && [...letters].every((letter) => LETTERS.includes(letter));
  return isCode ? { userCode: formatUserCode(letters), hash: sha256Base64url(letters) } : undefined;
}

const formatUserCode = (letters: string): string => `${letters.slice(0, 4)}-${letters.slice(4)}`;
