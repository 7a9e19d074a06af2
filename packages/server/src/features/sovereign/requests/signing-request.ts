/**
 * A signing request: tokens or messages that wait for an agent of the organisation to sign them (sovereign-signing.md §2 and §3). The
 * service fixes the bytes and keeps the state; it holds no key that could sign them.
 */

import type { AgentAlg } from "@signet/protocol/agent-signature";
import { type CountActivity, ofPool } from "../../../core/activity/kinds.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import { sealedColumn } from "../../../core/encryption/sealed-columns.ts";
import type { LedgerRecorder } from "../../../core/ledger/recorder.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import type { AccessTokenClaims, IdTokenClaims, SigningConnection } from "../../../core/tokens/claims.ts";
import { type MessageToSign, type MessageUse, messageUses } from "../../../core/tokens/signed-message.ts";
import type { AskedRequest } from "../../../core/tokens/signer.ts";
import type { Database } from "../../../db/open.ts";
import type { WakeUp } from "../notify/wake-up.ts";

export type RequestState =
  | "pending"
  | "claimed"
  | "challenge"
  | "responded"
  | "signed"
  | "released"
  | "failed"
  | "expired";

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

/** Times are in milliseconds. */
export const INTERACTIVE_TTL_MS = 300_000;
export const NON_INTERACTIVE_TTL_MS = 60_000;
export const LEASE_MS = 30_000;
export const CHALLENGE_LEASE_MS = 45_000;
export const CHALLENGE_TTL_MS = 120_000;
export const MAX_ATTEMPTS = 3;
export const MAX_CHALLENGES = 3;
export const MAX_BAD_SUBMISSIONS = 3;
export const STALE_PAYLOAD_MS = 120_000;
/** Open requests of one user in a pool, so that one user can't fill the queue. */
export const MAX_PER_USER = 50;

export type RequestKey = { readonly orgId: string; readonly requestId: string };

export interface AgentCaller {
  readonly orgId: string;
  readonly poolId: string;
  readonly agentId: string;
  readonly address?: string;
}

export interface ExpiryDeps {
  readonly database: Database;
  /** The database's time. */
  readonly clock: Clock;
  readonly wakeUp: Pick<WakeUp, "notify">;
  readonly count: CountActivity;
}

export interface SigningDeps extends ExpiryDeps {
  readonly encryption: Encryption;
  readonly ledger: Pick<LedgerRecorder, "recordIn">;
  readonly pools: Pick<SigningPoolDirectory, "find" | "published">;
  readonly wakeUp: Pick<WakeUp, "notify" | "waitUntil">;
  /** The highest `last_token_exp` this node has seen committed, by kid. */
  readonly recordedExps: Map<string, number>;
  /** When this node last swept a pool for expired requests, by pool. */
  readonly poolSweeps: Map<string, number>;
}

/** An access token, with an ID token and an authorization response or without; or a message alone. */
export interface ClaimsToSign {
  /** `iat`, `exp` and `jti` are placeholders, here and below: every claim renders them anew. */
  readonly accessToken?: AccessTokenClaims;
  readonly idToken?: IdTokenClaims;
  readonly message?: MessageToSign;
}

/** The `claims` column: what the tokens are rendered from, and the context that only the agent sees. */
export interface SealedClaims {
  readonly claims: ClaimsToSign;
  readonly context: {
    readonly clientName: string;
    readonly ip: string;
    readonly connection?: SigningConnection;
    /** Absent in requests of older versions. */
    readonly request?: AskedRequest;
    /** W3C Trace Context of the request that waits. */
    readonly traceParent?: string;
  };
}

export type TokenUse = "access_token" | "id_token" | MessageUse;

/** In the order in which they are rendered. */
export const tokenUses: readonly TokenUse[] = ["access_token", "id_token", ...messageUses];

/** A schema's members, one for each use. */
export const byUse = <Schema>(schema: Schema): Record<TokenUse, Schema> =>
  Object.fromEntries(tokenUses.map((use) => [use, schema])) as Record<TokenUse, Schema>;

export interface RenderedToken {
  readonly use: TokenUse;
  readonly kid: string;
  readonly alg: AgentAlg;
  /** base64url, as they are signed. */
  readonly protected: string;
  readonly payload: string;
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

const sealedParts = ["claims", "challenge", "answer", "continuation", "signed"] as const;
export type SealedPart = (typeof sealedParts)[number];

const sealingContext = ({ orgId, requestId }: RequestKey, column: SealedPart) =>
  `signing-request|${orgId}|${requestId}|${column}`;

export const sealedRequests = sealedParts.map((column) =>
  sealedColumn({
    table: "signing_request",
    column,
    key: ["org_id", "id"],
    rowName: ({ org_id, id }) => sealingContext({ orgId: String(org_id), requestId: String(id) }, column),
  }),
);

/** Encrypts JSON for one row and column: a stolen database shows neither claims nor tokens nor answers. */
export function sealJson(
  encryption: Encryption,
  key: RequestKey,
  column: SealedPart,
  value: unknown,
): string {
  return encryption.seal(Buffer.from(JSON.stringify(value)), sealingContext(key, column));
}

/** @throws when it was altered, or belongs to another row or column */
export function openJson<T>(
  encryption: Encryption,
  key: RequestKey,
  column: SealedPart,
  sealed: string | null,
): T {
  if (sealed === null) throw new Error(`the column ${column} is empty`);
  return JSON.parse(encryption.open(sealed, sealingContext(key, column)).toString()) as T;
}

/** Counts for the organisation and for the pool. A user's refusal is not a failure: don't count it. */
export function countSignature(
  count: CountActivity,
  { orgId, poolId }: { readonly orgId: string; readonly poolId: string },
  outcome: "signed" | "failed",
): void {
  const kind = outcome === "signed" ? "pool-signatures" : "failed-pool-signatures";
  count(orgId, kind);
  count(orgId, ofPool(kind, poolId));
}
