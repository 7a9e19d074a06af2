/** An agent claims the oldest pending requests, or one by its id; their tokens are rendered for the agent's key (sovereign-signing.md §3). */

import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { AgentKey } from "../../../core/signing-pools/agent-key.ts";
import { findUsableKey } from "../../../core/signing-pools/usable-key.ts";
import type { AccessTokenClaims } from "../../../core/tokens/claims.ts";
import type { AskedRequest } from "../../../core/tokens/signer.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { claimById, claimOldest, revertClaim } from "./claim-request.store.ts";
import { currentRow, sweepPool } from "./expire-requests.ts";
import { type LeaseToken, presentedLease } from "./lease.ts";
import { newRendering, type Rendering, renderTokens } from "./signing-input.ts";
import { findRequest, openColumn, type SigningRequestRow } from "./signing-request.store.ts";
import { type AgentCaller, LEASE_MS, type SealedClaims, type SigningDeps } from "./signing-request.ts";

/** The agent's keys, preferred first. */
type Kids = readonly string[];

/** 404; 409; 422. */
type ClaimRefusal = { readonly outcome: "not_found" | "not_claimable" | "no_usable_key" };

/** 200; 204. */
export type ClaimOutcome = ClaimedRequest | ClaimRefusal | { readonly outcome: "nothing" };

/** Oldest first; none when nothing is pending. */
export type ClaimsOutcome =
  | { readonly outcome: "claimed"; readonly requests: readonly ClaimedRequest[] }
  | { readonly outcome: "no_usable_key" };

export type ClaimedRequest = ReturnType<typeof claimedRequest> & {
  /** In a pool with approvals: which there are, and the agent's own key for another one. */
  readonly approvals?: {
    readonly required: number;
    readonly given: readonly string[];
    readonly kid: string;
  };
};

/** @param claim.requestId the oldest pending request when absent */
export async function claimRequest(
  deps: SigningDeps,
  agent: AgentCaller,
  { requestId, kids }: { readonly requestId?: string; readonly kids: Kids },
): Promise<ClaimOutcome> {
  if (requestId !== undefined) return claimNamed(deps, agent, requestId, kids);
  const claimed = await claimRequests(deps, agent, { kids, max: 1 });
  if (claimed.outcome !== "claimed") return claimed;
  return claimed.requests[0] ?? { outcome: "nothing" };
}

async function claimNamed(
  deps: SigningDeps,
  agent: AgentCaller,
  requestId: string,
  kids: Kids,
): Promise<ClaimOutcome> {
  const { orgId, poolId } = agent;
  await currentRow(deps, { orgId, requestId });
  const claiming = await prepareClaim(deps, agent, kids);
  if (!claiming) return { outcome: "no_usable_key" };
  const row = await findRequest(deps.database.query, { orgId, requestId });
  // An agent must not learn whether another pool's request exists.
  if (row?.pool_id !== poolId) return { outcome: "not_found" };
  const lease = newLease(claiming);
  const claimed = await claimById(deps.database.query, requestId, claiming.row, lease.stored);
  return claimed ? handOver(deps, claimed, claiming, lease) : { outcome: "not_claimable" };
}

/** The oldest pending requests of the pool, at most `max`. */
export async function claimRequests(
  deps: SigningDeps,
  agent: AgentCaller,
  { kids, max }: { readonly kids: Kids; readonly max: number },
): Promise<ClaimsOutcome> {
  await sweepPool(deps, agent.orgId, agent.poolId);
  const claiming = await prepareClaim(deps, agent, kids);
  if (!claiming) return { outcome: "no_usable_key" };
  const leases = Array.from({ length: max }, () => newLease(claiming));
  const stored = leases.map((lease) => lease.stored);
  const rows = await claimOldest(deps.database.query, claiming.row, stored);
  const byHash = new Map(leases.map((lease) => [lease.stored.tokenHash, lease]));
  const faults: unknown[] = [];
  const requests = rows.flatMap((row) => {
    const lease = byHash.get(row.lease_token_hash ?? "");
    try {
      return lease ? [handOver(deps, row, claiming, lease)] : [];
    } catch (error) {
      faults.push(error);
      return [];
    }
  });
  // One that can't be opened keeps none of the others from being signed.
  if (requests.length === 0 && faults.length > 0) throw faults[0];
  return { outcome: "claimed", requests };
}

/** @returns undefined without a key that may sign now */
async function prepareClaim(deps: SigningDeps, agent: AgentCaller, kids: Kids) {
  const pool = await deps.pools.find(agent.orgId, agent.poolId);
  const usable = pool && (await findUsableKey(deps, agent, { kids, algs: pool.algs }));
  if (!usable) return undefined;
  const now = deps.clock();
  const { key } = usable;
  return { pool, key, row: { ...agent, kid: key.kid, leaseUntil: now + LEASE_MS, now } };
}

type Claiming = NonNullable<Awaited<ReturnType<typeof prepareClaim>>>;

function newLease({ pool, row: { now } }: Claiming) {
  const leaseToken = randomSecret("sgn_lt_");
  const rendering = newRendering(now, pool);
  const stored = { tokenHash: sha256Base64url(leaseToken), rendering: JSON.stringify(rendering) };
  return { leaseToken, rendering, stored };
}

function handOver(
  deps: SigningDeps,
  row: SigningRequestRow,
  { key, row: { now } }: Claiming,
  { leaseToken, rendering }: ReturnType<typeof newLease>,
): ClaimedRequest {
  // A waiting token endpoint ignores claims: only a wait page shows them.
  if (row.interactive === 1) deps.wakeUp.notify(requestTopic(row.org_id, row.id));
  return claimedRequest(deps, row, { leaseToken, rendering, key, now });
}

type Claimed = { leaseToken: string; rendering: Rendering; key: AgentKey; now: number };

/** What an agent is handed. */
export function claimedRequest(
  deps: SigningDeps,
  row: SigningRequestRow,
  { leaseToken, rendering, key, now }: Claimed,
) {
  const { claims, context } = openColumn<SealedClaims>(deps, row, "claims");
  const { iss, sub, scope, auth_time: authTime, amr } = statedClaims(claims);
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
      // A message that tells of no user is for the client itself.
      sub: sub ?? row.application_id,
      // Every member is there (§5), where no user signed in too.
      authTime: authTime ?? null,
      amr: amr ?? [],
      ip: context.ip,
      ...(context.connection === undefined ? {} : { connection: context.connection }),
      ...requestContext(claims.accessToken ?? {}, context.request),
      parentRequestId: row.parent_request_id,
    },
    tokens: renderTokens(claims, key, rendering).tokens,
    /** For the agent's own calls: they belong to the trace of the request that waits. */
    ...(context.traceParent === undefined ? {} : { traceparent: context.traceParent }),
  };
}

type StatedClaims = Pick<AccessTokenClaims, "iss" | "scope" | "auth_time" | "amr"> & {
  readonly sub?: string | undefined;
};

/** Of the access token; of a message alone, what it says of its grant. What an introspection tells is not its own. */
function statedClaims({ accessToken, message }: SealedClaims["claims"]): StatedClaims {
  if (accessToken) return accessToken;
  if (!message) throw new Error("nothing to sign");
  const { iss, sub, scope } = message.claims;
  return {
    iss,
    sub: typeof sub === "string" ? sub : undefined,
    ...(message.use === "id_jag" && typeof scope === "string" ? { scope } : {}),
  };
}

/** modern-oauth.md §7: what the tokens are bound to and are for, and who acts. */
const requestContext = (
  { cnf, authorization_details, act, workload }: Partial<AccessTokenClaims>,
  { securityProfile, resources, clientSource, requestSigned }: Partial<AskedRequest> = {},
) => ({
  securityProfile: securityProfile ?? "none",
  binding: cnf ?? null,
  resources: resources ?? [],
  authorizationDetails: authorization_details ?? [],
  actor: act ?? null,
  workload: workload ?? null,
  clientSource: clientSource ?? "registered",
  requestSigned: requestSigned ?? null,
});

/** The caller disconnected before it got the claims: the attempts don't count, and nobody waits for a lease to expire. */
export async function undoClaims(
  deps: SigningDeps,
  agent: AgentCaller,
  claimed: readonly LeaseToken[],
): Promise<void> {
  const { orgId, poolId } = agent;
  for (const lease of claimed)
    if (await revertClaim(deps.database.query, presentedLease(agent, lease, deps.clock())))
      deps.wakeUp.notify(requestTopic(orgId, lease.requestId), poolTopic(orgId, poolId));
}
