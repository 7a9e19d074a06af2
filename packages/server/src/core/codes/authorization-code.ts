/** The authorization code: ten minutes, one use (specification, "Limits"; RFC 6749 §4.1.2). */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { RequestedClaims } from "../scopes/requested-claims.ts";
import type { SigningRequestRef } from "../tokens/signer.ts";
import type { Authentication } from "../tokens/token-family.ts";

export const CODE_LIFETIME_MS = 10 * 60 * 1000;

export interface AuthorizationCode {
  readonly orgId: string;
  readonly codeHash: string;
  readonly applicationId: string;
  readonly userId: string;
  readonly sessionId: string;
  readonly consentId: string | null;
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  readonly resources: readonly string[];
  readonly codeChallenge: string | null;
  readonly nonce: string | null;
  readonly authentication: Authentication;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly usedAt: number | null;
  readonly requestedClaims: RequestedClaims;
  /** The token family that its redemption started. */
  readonly familyId: string | null;
  /** The signing request for its tokens; null where they are signed at redemption. */
  readonly signing: SigningRequestRef | null;
}

export function newCode(): { plaintext: string; hash: string } {
  const plaintext = randomSecret("sgn_ac_");
  return { plaintext, hash: sha256Base64url(plaintext) };
}
