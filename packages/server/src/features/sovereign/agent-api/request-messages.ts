/** What goes into the signing requests' state machine and what comes out of it. */
import type {
  Challenge,
  ClaimsToSign,
  FailReason,
  RenderedToken,
  RequestState,
} from "../requests/signing-request.ts";

/** Whom an API key has shown to be there. */
export interface AgentCaller {
  readonly orgId: string;
  readonly poolId: string;
  readonly agentId: string;
  /** Where it calls from, for the audit log. */
  readonly address?: string;
}

export interface NewSigningRequest {
  readonly orgId: string;
  readonly poolId: string;
  readonly applicationId: string;
  /** Null for client credentials. */
  readonly userId: string | null;
  readonly grantType: string;
  /** A browser waits: 300 s instead of 60, challenges are possible, and it is queued even when no agent is there. */
  readonly interactive: boolean;
  /** The request whose tokens this one replaces. */
  readonly parentRequestId?: string;
  readonly clientName: string;
  /** The address that the user, or the client, asks from. */
  readonly ip: string;
  /** `iat`, `exp` and `jti` are rendered anew at each claim; `exp - iat` is the lifetime that the application wants. */
  readonly claims: ClaimsToSign;
  /** SHA-256 of the browser session's token (base64url): who may look at the wait page. */
  readonly browserSessionHash?: string;
  /** JSON: where the browser goes on to. Kept sealed, for an hour after the end. */
  readonly continuation?: unknown;
  readonly joinKeyHash?: string;
  /** Who of the token endpoint waits for it: any new random text. */
  readonly waiter?: Waiter;
}

export interface Waiter {
  readonly id: string;
  /** At the latest it has gone after so many milliseconds. */
  readonly ms: number;
}

export interface JoinedRequest {
  readonly orgId: string;
  readonly applicationId: string;
  readonly joinKeyHash: string;
  readonly waiter: Waiter;
}

export interface Claim {
  /** The oldest that waits, when none is named. */
  readonly requestId?: string;
  /** The agent's keys in the order in which it would rather use them. */
  readonly kids: readonly string[];
}

export type ClaimOutcome =
  | ({ readonly outcome: "claimed" } & ClaimedRequest)
  /** 204; 404; 409; 422. */
  | { readonly outcome: "nothing" | "not_found" | "not_claimable" | "no_usable_key" };

export interface ClaimedRequest {
  readonly requestId: string;
  readonly leaseToken: string;
  readonly leaseSeconds: number;
  readonly attempt: number;
  /** Seconds. */
  readonly expiresIn: number;
  readonly interactive: boolean;
  readonly context: RequestContext;
  readonly tokens: readonly RenderedToken[];
}

/** What an agent is told beside the tokens. */
export interface RequestContext {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly grantType: string;
  readonly scope: readonly string[];
  readonly sub: string;
  /** Seconds since the epoch, as in the token. */
  readonly authTime?: number;
  readonly amr?: readonly string[];
  readonly ip: string;
  readonly parentRequestId?: string;
}

export interface Submission {
  readonly requestId: string;
  readonly leaseToken: string;
  /** By use; a member that is no string is missing. */
  readonly jwts: { readonly access_token?: unknown; readonly id_token?: unknown };
}

/** Why a call with a lease came to nothing: 404; 409; 409; 410. */
export type LeaseRefusal = "not_found" | "lease_lost" | "already_final" | "request_expired";

export type InvalidJwtReason = "bytes_mismatch" | "bad_encoding" | "bad_signature" | "missing_token";

export type SignOutcome =
  | { readonly outcome: "signed" }
  | { readonly outcome: LeaseRefusal }
  | { readonly outcome: "stale_payload"; readonly tokens: readonly RenderedToken[] }
  | { readonly outcome: "invalid_signed_jwt"; readonly reason: InvalidJwtReason };

export type ChallengeOutcome =
  | { readonly outcome: "challenge"; readonly leaseSeconds: number }
  /** `challenge_limit`: three were asked, or another one is open; `foreign_challenge`: a passkey would sign something else. */
  | { readonly outcome: LeaseRefusal | "not_interactive" | "challenge_limit" | "foreign_challenge" };

export const rejectReasons = [
  "policy_denied",
  "user_denied",
  "challenge_failed",
  "step_up_required",
  "key_unavailable",
] as const satisfies readonly FailReason[];

export interface Rejection {
  readonly requestId: string;
  readonly leaseToken: string;
  readonly reason: (typeof rejectReasons)[number];
  /** For the audit log, at most 200 characters of it. */
  readonly detail?: string;
  /** Another agent may have it; never this one again. */
  readonly retryable: boolean;
}

export type RejectOutcome = { readonly outcome: "failed" | "pending" } | { readonly outcome: LeaseRefusal };

export interface RenewedLeases {
  readonly renewed: ReadonlyArray<{ readonly requestId: string; readonly leaseSeconds: number }>;
  readonly lost: readonly string[];
}

export interface AgentQueue {
  /** Milliseconds. */
  readonly serverTime: number;
  readonly pending: ReadonlyArray<{
    readonly requestId: string;
    readonly grantType: string;
    readonly clientId: string;
    readonly interactive: boolean;
    readonly attempts: number;
    readonly expiresIn: number;
  }>;
  /** Told at every poll until the agent acts on them. */
  readonly responses: ReadonlyArray<{
    readonly requestId: string;
    readonly challengeId: string;
    readonly outcome: "answered";
    readonly answer: unknown;
  }>;
}

export interface ChallengeAnswer {
  readonly challengeId: string;
  readonly answer: unknown;
}

export type RespondOutcome = "accepted" | "stale_challenge" | "already_answered";

export interface RequestStatus {
  readonly orgId: string;
  readonly requestId: string;
  readonly poolId: string;
  readonly applicationId: string;
  readonly userId: string | null;
  readonly grantType: string;
  readonly interactive: boolean;
  readonly state: RequestState;
  readonly seq: number;
  /** Milliseconds, as all times here. Of signed tokens: until then they are kept. */
  readonly expiresAt: number;
  /** The one that is open; `challengeUntil` is its end. */
  readonly challenge?: Challenge;
  readonly challengeUntil: number | null;
  readonly challengeCount: number;
  readonly failReason: FailReason | null;
  /** While it is pending and a browser waits: a working agent of the pool was there within the last minute. */
  readonly agentSeen: boolean;
  readonly createdAt: number;
  readonly signedAt: number | null;
  /** The `exp` of the access token that was signed. */
  readonly tokenExp: number | null;
  /** For `release` alone; null unless it is signed. */
  readonly sealedTokens: string | null;
  readonly browserSessionHash: string | null;
  /** What `create` was given; null when it was given none, and after the release. */
  readonly continuation: unknown;
}

export interface ReleasedRequest {
  readonly orgId: string;
  readonly requestId: string;
  /** When given, only for the one who waits now. */
  readonly waiter?: string;
  /** What a status has just shown: it need not be read again. */
  readonly seen?: SeenTokens;
}

/** It has the tokens as long as its `seq` is this. */
export type SeenTokens = Pick<RequestStatus, "seq" | "sealedTokens">;

export interface ReleasedTokens {
  readonly accessToken: string;
  readonly idToken?: string;
  /** Seconds since the epoch, as in the access token. */
  readonly iat: number;
  readonly exp: number;
}
