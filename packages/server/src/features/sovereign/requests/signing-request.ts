/**
 * A signing request: tokens that wait for an agent of the organisation (sovereign-signing.md §2 and §3). The service
 * fixes the bytes and keeps the state; it holds no key that could sign them.
 */
import type { AgentAlg } from "@signet/protocol/agent-signature";
import type { AccessTokenClaims, IdTokenClaims } from "../../../core/tokens/claims.ts";

export const requestStates = [
  "pending",
  "claimed",
  "challenge",
  "responded",
  "signed",
  "released",
  "failed",
  "expired",
] as const;
export type RequestState = (typeof requestStates)[number];

export const failReasons = [
  "policy_denied",
  "user_denied",
  "challenge_failed",
  "challenge_timeout",
  "step_up_required",
  "key_unavailable",
  "max_attempts",
  "bad_signatures",
] as const;
export type FailReason = (typeof failReasons)[number];

/** Milliseconds, as all times here. */
export const TTL_WITH_BROWSER_MS = 300_000;
export const TTL_WITHOUT_BROWSER_MS = 60_000;
export const LEASE_MS = 30_000;
export const CHALLENGE_LEASE_MS = 45_000;
export const CHALLENGE_TTL_MS = 120_000;
export const MOST_ATTEMPTS = 3;
export const MOST_CHALLENGES = 3;
export const MOST_BAD_SUBMISSIONS = 3;
export const STALE_PAYLOAD_MS = 120_000;
/** Of what waits in a pool: one person's browsers and programs must not take the others' room. */
export const MOST_OF_USER = 50;

/** What every claim renders anew: `iat`, `exp` and `jti` of it are placeholders. */
export interface ClaimsToSign {
  readonly accessToken: AccessTokenClaims;
  readonly idToken?: IdTokenClaims;
}

export const challengeTypes = ["number_match", "webauthn", "pin", "confirm"] as const;
export type ChallengeType = (typeof challengeTypes)[number];

export interface Challenge {
  readonly challengeId: string;
  readonly type: ChallengeType;
  /** At most 200 characters. */
  readonly prompt: string;
  readonly display?: string;
  readonly options?: readonly string[];
  /** webauthn: the request options (`challenge`, `allowCredentials`, `rpId`) as JSON. */
  readonly publicKey?: Readonly<Record<string, unknown>>;
  /** Seconds. */
  readonly ttl: number;
}

export interface RenderedToken {
  readonly use: "access_token" | "id_token";
  readonly kid: string;
  readonly alg: AgentAlg;
  /** base64url, as they are signed. */
  readonly protected: string;
  readonly payload: string;
}
