/** An agent claims the oldest pending request, or one by its id; its tokens are rendered for the agent's key (sovereign-signing.md §3). */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { findUsableKey } from "../../../core/signing-pools/usable-key.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { claimById, claimOldest, revertClaim } from "./claim-request.store.ts";
import { currentRow, sweepPool } from "./expire-requests.ts";
import { type LeaseToken, presentedLease } from "./lease.ts";
import { newRendering, type Rendering, renderTokens } from "./signing-input.ts";
import { findRequest, openColumn, type SigningRequestRow } from "./signing-request.store.ts";
import { type AgentCaller, LEASE_MS, type SealedClaims, type SigningDeps } from "./signing-request.ts";

export interface Claim {
  /** The oldest pending request when absent. */
  readonly requestId?: string;
  /** The agent's keys, preferred first. */
  readonly kids: readonly string[];
}

/** 200; 204; 404; 409; 422. */
export type ClaimOutcome =
  | ClaimedRequest
  | { readonly outcome: "nothing" | "not_found" | "not_claimable" | "no_usable_key" };

export type ClaimedRequest = ReturnType<typeof claimedRequest>;

export async function claimRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  { requestId, kids }: Claim,
): Promise<ClaimOutcome> {
  const { orgId, poolId } = agent;
  const { query } = deps.database;
  if (requestId === undefined) await sweepPool(deps, orgId, poolId);
  else await currentRow(deps, { orgId, requestId });
  const pool = await deps.pools.find(orgId, poolId);
  const usable = pool && (await findUsableKey(deps, agent, { kids, algs: pool.algs }));
  if (!usable) return { outcome: "no_usable_key" };

  const now = deps.clock();
  const leaseToken = randomSecret("sgn_lt_");
  const rendering = newRendering(now, pool);
  const lease = {
    ...agent,
    kid: usable.key.kid,
    leaseTokenHash: sha256Base64url(leaseToken),
    leaseUntil: now + LEASE_MS,
    rendering: JSON.stringify(rendering),
    now,
  };
  if (requestId !== undefined) {
    const row = await findRequest(query, { orgId, requestId });
    // An agent must not learn whether another pool's request exists.
    if (row?.pool_id !== poolId) return { outcome: "not_found" };
  }
  const row =
    requestId === undefined ? await claimOldest(query, lease) : await claimById(query, requestId, lease);
  if (!row) return { outcome: requestId === undefined ? "nothing" : "not_claimable" };

  // A waiting token endpoint ignores claims: only a wait page shows them.
  if (row.interactive === 1) deps.wakeUp.notify(requestTopic(orgId, row.id));
  return claimedRequest(deps, row, { leaseToken, rendering, key: usable.key, now });
}

type Claimed = { leaseToken: string; rendering: Rendering; key: AgentKey; now: number };

function claimedRequest(
  deps: SigningDeps,
  row: SigningRequestRow,
  { leaseToken, rendering, key, now }: Claimed,
) {
  const { claims, context } = openColumn<SealedClaims>(deps, row, "claims");
  const { iss, sub, scope, auth_time: authTime, amr } = claims.accessToken;
  return {
    outcome: "claimed" as const,
    requestId: row.id,
    leaseToken,
    leaseSeconds: LEASE_MS / 1000,
    attempt: row.attempts,
    expiresIn: Math.ceil((row.expires_at - now) / 1000),
    interactive: row.interactive === 1,
    /** What an agent's policy can judge by, beside the tokens; `authTime` in seconds since the epoch, as in the token. */
    context: {
      issuer: iss,
      clientId: row.application_id,
      clientName: context.clientName,
      grantType: row.grant_type,
      scope: scope === undefined ? [] : scope.split(" "),
      sub,
      ...(authTime === undefined ? {} : { authTime }),
      ...(amr === undefined ? {} : { amr }),
      ip: context.ip,
      ...(row.parent_request_id === null ? {} : { parentRequestId: row.parent_request_id }),
    },
    tokens: renderTokens(claims, key, rendering).tokens,
  };
}

/** The caller disconnected before it got the claim: the attempt doesn't count, and nobody waits for its lease to expire. */
export async function undoClaim(deps: SigningDeps, agent: AgentCaller, claimed: LeaseToken): Promise<void> {
  const { orgId, poolId } = agent;
  if (await revertClaim(deps.database.query, presentedLease(agent, claimed, deps.clock())))
    deps.wakeUp.notify(requestTopic(orgId, claimed.requestId), poolTopic(orgId, poolId));
}
