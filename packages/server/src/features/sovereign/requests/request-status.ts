/** A request as it is now, for whoever waits for it. */
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { isAgentSeen } from "../../../core/signing-pools/signing-pools.store.ts";
import type { Db } from "../../../db/open.ts";
import type {
  ReleasedRequest,
  ReleasedTokens,
  RequestStatus,
  SeenTokens,
} from "../agent-api/request-messages.ts";
import { challengeOf } from "./challenge/ask-user.ts";
import { currentRow } from "./expire-requests.ts";
import type { RequestDeps } from "./request-deps.ts";
import { openJson } from "./sealed-json.ts";
import type { SealedTokens } from "./signing/sign-request.ts";
import {
  clearContinuation,
  findRequest,
  releaseRequest,
  type SigningRequestRow,
} from "./signing-request.store.ts";
import type { FailReason, RequestState } from "./signing-request.ts";

interface RequestKey {
  readonly orgId: string;
  readonly requestId: string;
}

export async function requestStatus(deps: RequestDeps, key: RequestKey): Promise<RequestStatus | undefined> {
  const row = await currentRow(deps, key);
  if (!row) return undefined;
  const state = row.state as RequestState;
  const isWaitedFor = row.interactive === 1;
  const challenge = state === "challenge" ? challengeOf(deps, row) : undefined;
  const seenSince = { orgId: row.org_id, poolId: row.pool_id, since: deps.clock() - AGENT_SEEN_MS };
  return {
    orgId: row.org_id,
    requestId: row.id,
    poolId: row.pool_id,
    applicationId: row.application_id,
    userId: row.user_id,
    grantType: row.grant_type,
    interactive: isWaitedFor,
    state,
    seq: row.seq,
    expiresAt: row.expires_at,
    ...(challenge ? { challenge } : {}),
    challengeUntil: challenge ? row.challenge_until : null,
    challengeCount: row.challenge_count,
    failReason: row.fail_reason as FailReason | null,
    agentSeen: state !== "pending" || !isWaitedFor || (await isAgentSeen(deps.database.query, seenSince)),
    createdAt: row.created_at,
    signedAt: row.signed_at,
    tokenExp: row.token_exp,
    sealedTokens: row.signed,
    browserSessionHash: row.browser_session_hash,
    continuation: continuationOf(deps, row),
  };
}

function continuationOf({ encryption }: RequestDeps, row: SigningRequestRow): unknown {
  if (row.continuation === null) return null;
  const place = { orgId: row.org_id, requestId: row.id };
  return openJson<unknown>(encryption, place, "continuation", row.continuation);
}

export async function release(
  deps: RequestDeps,
  db: Db,
  { orgId, requestId, waiter, seen }: ReleasedRequest,
): Promise<ReleasedTokens | undefined> {
  const key = { orgId, requestId };
  const { seq, sealedTokens } = seen ?? (await signedAs(db, key));
  if (sealedTokens === null) return undefined;
  if (!(await releaseRequest(db, { ...key, seq, waiter, now: deps.clock() }))) return undefined;
  const { jwts, iat, exp } = openJson<SealedTokens>(deps.encryption, key, "signed", sealedTokens);
  const { access_token: accessToken, id_token: idToken } = jwts;
  return { accessToken, iat, exp, ...(idToken === undefined ? {} : { idToken }) };
}

async function signedAs(db: Db, key: RequestKey): Promise<SeenTokens> {
  const row = await findRequest(db, key);
  return { seq: row?.seq ?? 0, sealedTokens: row?.signed ?? null };
}

const onward: readonly string[] = ["signed", "failed", "expired"];

export async function takeContinuation(
  deps: RequestDeps,
  db: Db,
  which: RequestKey,
): Promise<{ readonly continuation: unknown; readonly state: RequestState } | undefined> {
  const row = await findRequest(db, which);
  if (!row || row.continuation === null || !onward.includes(row.state)) return undefined;
  const continuation = continuationOf(deps, row);
  return (await clearContinuation(db, row)) ? { continuation, state: row.state as RequestState } : undefined;
}
