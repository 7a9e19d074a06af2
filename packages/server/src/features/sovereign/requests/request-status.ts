/** The status of a signing request: now, after its next change, and as the OAuth outcome an application sees. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { AGENT_SEEN_MS } from "../../../core/signing-pools/agent-key.ts";
import { isAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import type { SigningOutcome } from "../../../core/tokens/pool-signing.ts";
import { requestTopic } from "../notify/wake-up.ts";
import { openedChallenge } from "./challenge/challenge-user.ts";
import { currentRow } from "./expire-requests.ts";
import { openContinuation } from "./release-request.ts";
import type { FailReason, RequestKey, RequestState, SigningDeps } from "./signing-request.ts";

export type RequestStatus = NonNullable<Awaited<ReturnType<typeof requestStatus>>>;

export async function requestStatus(deps: SigningDeps, key: RequestKey) {
  const row = await currentRow(deps, key);
  if (!row) return undefined;
  const state = row.state as RequestState;
  const interactive = row.interactive === 1;
  const challenge = state === "challenge" ? openedChallenge(deps, row) : undefined;
  const seenSince = { orgId: row.org_id, poolId: row.pool_id, since: deps.clock() - AGENT_SEEN_MS };
  return {
    orgId: row.org_id,
    requestId: row.id,
    poolId: row.pool_id,
    applicationId: row.application_id,
    userId: row.user_id,
    grantType: row.grant_type,
    interactive,
    state,
    seq: row.seq,
    /** Milliseconds, as all times here. Signed tokens are kept until then. */
    expiresAt: row.expires_at,
    /** The open one; it expires at `challengeUntil`. */
    ...(challenge ? { challenge } : {}),
    challengeUntil: challenge ? row.challenge_until : null,
    challengeCount: row.challenge_count,
    failReason: row.fail_reason as FailReason | null,
    /** False while the request is pending, a browser waits, and no agent of the pool was seen in the last minute. */
    agentSeen: state !== "pending" || !interactive || (await isAgentSeen(deps.database.query, seenSince)),
    createdAt: row.created_at,
    signedAt: row.signed_at,
    /** The `exp` of the signed access token. */
    tokenExp: row.token_exp,
    /** For `releaseTokens` only; null unless the request is signed. */
    sealedTokens: row.signed,
    browserSessionHash: row.browser_session_hash,
    /** As given to `createRequest`; null when none was given, and after it was taken. */
    continuation: openContinuation(deps, row),
  };
}

/**
 * Waits at most `ms` until the request is past `sinceSeq`, the seq of the status that was read last.
 * @returns the status then, or at the end of the time; undefined when there is no such request
 */
export async function waitForChange(
  deps: SigningDeps,
  { orgId, requestId }: RequestKey,
  { sinceSeq, ms, signal }: { readonly sinceSeq: number; readonly ms: number; readonly signal?: AbortSignal },
): Promise<RequestStatus | undefined> {
  let latest: RequestStatus | undefined;
  const topics = [requestTopic(orgId, requestId)];
  const change = await deps.wakeUp.waitUntil({ topics, isExclusive: false, ms, signal }, async () => {
    latest = await requestStatus(deps, { orgId, requestId });
    return !latest || latest.seq > sinceSeq ? { status: latest } : undefined;
  });
  return change ? change.status : (latest ?? requestStatus(deps, { orgId, requestId }));
}

const RETRY_SECONDS = 3;
const RETRY_WITHOUT_AGENT_SECONDS = 30;

/** Nothing is lost: the same request may succeed later. */
export const unavailable = (description: string, retryAfterSeconds = RETRY_SECONDS): OAuthError =>
  new OAuthError("temporarily_unavailable", description, { retryAfterSeconds });

export const noAgent = () => unavailable("no signing agent is online", RETRY_WITHOUT_AGENT_SECONDS);

export const signingExpired = () => unavailable("no signing agent signed in time");

const denied = (description: string) => new OAuthError("access_denied", description, { status: 400 });

/** What the application gets (sovereign-signing.md §4). */
export function signingOutcome({
  state,
  failReason,
}: Pick<RequestStatus, "state" | "failReason">): SigningOutcome {
  if (state === "signed" || state === "released") return "signed";
  if (state === "expired") return signingExpired();
  if (state !== "failed") return "waiting";
  switch (failReason) {
    case "policy_denied":
    case "challenge_failed":
      return denied("the signing agent denied the request");
    case "user_denied":
      return denied("the user denied the request");
    case "challenge_timeout":
      return denied("the user did not answer in time");
    case "step_up_required":
      return new OAuthError("interaction_required", "the signing agent requires the user's presence", {
        status: 400,
      });
    default:
      return unavailable("the signing agents could not sign");
  }
}
