/** An agent takes a request: the oldest, or one by its id; the tokens are made for its key (sovereign-signing.md §3). */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import type {
  AgentCaller,
  Claim,
  ClaimedRequest,
  ClaimOutcome,
  RequestContext,
} from "../agent-api/request-messages.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import type { SealedClaims } from "./create-request.ts";
import { claimOldest, claimRequest, undoClaim } from "./lease.store.ts";
import { leaseOf } from "./lease.ts";
import type { RequestDeps } from "./request-deps.ts";
import { openJson } from "./sealed-json.ts";
import { newRendering, renderTokens } from "./signing/render-tokens.ts";
import { usableKey } from "./signing/usable-keys.ts";
import { findRequest, type SigningRequestRow } from "./signing-request.store.ts";
import { type ClaimsToSign, LEASE_MS } from "./signing-request.ts";

export async function claim(
  deps: RequestDeps,
  agent: AgentCaller,
  { requestId, kids }: Claim,
): Promise<ClaimOutcome> {
  const { query } = deps.database;
  const pool = await deps.pools.find(agent.orgId, agent.poolId);
  const found = pool && (await usableKey(deps, agent, { kids, algs: pool.algs }));
  if (!found) return { outcome: "no_usable_key" };
  const { key } = found;
  const now = deps.clock();
  const leaseToken = randomSecret("sgn_lt_");
  const rendering = newRendering(now, pool);
  const lease = {
    ...agent,
    kid: key.kid,
    leaseTokenHash: sha256Base64url(leaseToken),
    leaseUntil: now + LEASE_MS,
    rendering: JSON.stringify(rendering),
    now,
  };
  if (requestId !== undefined) {
    const row = await findRequest(query, { orgId: agent.orgId, requestId });
    // Another pool's requests are none of this agent's business, not even that they are there.
    if (row?.pool_id !== agent.poolId) return { outcome: "not_found" };
  }
  const claimed =
    requestId === undefined ? await claimOldest(query, lease) : await claimRequest(query, requestId, lease);
  if (!claimed) return { outcome: requestId === undefined ? "nothing" : "not_claimable" };
  return told(deps, claimedRequest(deps, claimed, { key, leaseToken, rendering, now }), agent);
}

/** Whoever called has gone before it could be told: others need not wait for the lease to lapse. */
export async function handBack(
  deps: RequestDeps,
  agent: AgentCaller,
  held: Pick<ClaimedRequest, "requestId" | "leaseToken">,
): Promise<void> {
  const { orgId, poolId } = agent;
  if (await undoClaim(deps.database.query, leaseOf(agent, held, deps.clock())))
    deps.wakeUp.wake(requestTopic(orgId, held.requestId), poolTopic(orgId, poolId));
}

/** Who waits without a browser does nothing else for knowing it. */
function told({ wakeUp }: RequestDeps, claimed: ClaimedRequest, { orgId }: AgentCaller): ClaimOutcome {
  if (claimed.interactive) wakeUp.wake(requestTopic(orgId, claimed.requestId));
  return { outcome: "claimed", ...claimed };
}

interface NewLease {
  readonly key: AgentKey;
  readonly leaseToken: string;
  readonly rendering: Parameters<typeof renderTokens>[2];
  readonly now: number;
}

function claimedRequest(
  { encryption }: RequestDeps,
  row: SigningRequestRow,
  { key, leaseToken, rendering, now }: NewLease,
): ClaimedRequest {
  const place = { orgId: row.org_id, requestId: row.id };
  const { claims, context } = openJson<SealedClaims>(encryption, place, "claims", row.claims);
  return {
    requestId: row.id,
    leaseToken,
    leaseSeconds: LEASE_MS / 1000,
    attempt: row.attempts,
    expiresIn: Math.ceil((row.expires_at - now) / 1000),
    interactive: row.interactive === 1,
    context: contextOf(row, claims, context),
    tokens: renderTokens(claims, key, rendering).tokens,
  };
}

function contextOf(
  row: SigningRequestRow,
  { accessToken }: ClaimsToSign,
  { clientName, ip }: SealedClaims["context"],
): RequestContext {
  const { iss, sub, scope, auth_time: authTime, amr } = accessToken;
  return {
    issuer: iss,
    clientId: row.application_id,
    clientName,
    grantType: row.grant_type,
    scope: scope === undefined ? [] : scope.split(" "),
    sub,
    ...(authTime === undefined ? {} : { authTime }),
    ...(amr === undefined ? {} : { amr }),
    ip,
    ...(row.parent_request_id === null ? {} : { parentRequestId: row.parent_request_id }),
  };
}
