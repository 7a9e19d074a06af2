/** An agent takes a request: the oldest, or one by its id; the tokens are made for its key (sovereign-signing.md §3). */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { AgentKey } from "../../core/signing-pools/agent-key.ts";
import type { SigningPool } from "../../core/signing-pools/signing-pool.ts";
import { activeKeysOfAgent, findPool } from "../../core/signing-pools/store.ts";
import type { Db } from "../../db/open.ts";
import type { SealedContext } from "./create-request.ts";
import { claimRequest, lockOldest } from "./leases/store.ts";
import { renderTokens } from "./render-tokens.ts";
import type { RequestDeps } from "./request-deps.ts";
import type { AgentCaller, Claim, ClaimedRequest, ClaimOutcome, RequestContext } from "./request-messages.ts";
import { openJson, sealJson } from "./sealed-json.ts";
import { type ClaimsToSign, LEASE_MS } from "./signing-request.ts";
import { findRequest, type SigningRequestRow } from "./store.ts";
import { requestTopic } from "./wake-up.ts";

export async function claim(
  deps: RequestDeps,
  agent: AgentCaller,
  { requestId, kids }: Claim,
): Promise<ClaimOutcome> {
  const { query } = deps.database;
  const { orgId, poolId } = agent;
  const pool = await findPool(query, orgId, poolId);
  const key = pool && (await chosenKey(deps, agent, pool, kids));
  if (!key) return { outcome: "no_usable_key" };
  if (requestId !== undefined) {
    const row = await findRequest(query, { orgId, requestId });
    // Another pool's requests are none of this agent's business, not even that they are there.
    if (row?.pool_id !== poolId) return { outcome: "not_found" };
    const claimed = await take(deps, query, { agent, pool, key, row });
    return told(deps, agent, claimed) ?? { outcome: "not_claimable" };
  }
  if (pool.disabledAt !== null) return { outcome: "nothing" };
  const claimed = await deps.database.transaction(async (tx) => {
    const row = await lockOldest(tx, { ...agent, now: deps.clock() });
    return row && take(deps, tx, { agent, pool, key, row });
  });
  return told(deps, agent, claimed) ?? { outcome: "nothing" };
}

/** After the commit. Who waits without a browser does nothing else for knowing it. */
function told(
  { wakeUp }: RequestDeps,
  { orgId }: AgentCaller,
  claimed: ClaimedRequest | undefined,
): ClaimOutcome | undefined {
  if (!claimed) return undefined;
  if (claimed.interactive) wakeUp.wake(requestTopic(orgId, claimed.requestId));
  return { outcome: "claimed", ...claimed };
}

/** The first that the agent names and may use now: active, and of an algorithm that the pool wants. */
async function chosenKey(
  deps: RequestDeps,
  { orgId, agentId }: AgentCaller,
  pool: SigningPool,
  kids: readonly string[],
): Promise<AgentKey | undefined> {
  const active = await activeKeysOfAgent(deps.database.query, { orgId, agentId, now: deps.clock() });
  const usable = new Map(active.filter(({ alg }) => pool.algs.includes(alg)).map((key) => [key.kid, key]));
  for (const kid of kids) {
    const key = usable.get(kid);
    if (key) return key;
  }
  return undefined;
}

interface Taken {
  readonly agent: AgentCaller;
  readonly pool: SigningPool;
  readonly key: AgentKey;
  readonly row: SigningRequestRow;
}

async function take(
  { encryption, clock }: RequestDeps,
  db: Db,
  { agent, pool, key, row }: Taken,
): Promise<ClaimedRequest | undefined> {
  const { org_id: orgId, id: requestId } = row;
  if (row.state !== "pending" || row.claims === null || row.context === null || pool.disabledAt !== null)
    return undefined;
  const place = { orgId, requestId };
  const claims = openJson<ClaimsToSign>(encryption, place, "claims", row.claims);
  const now = clock();
  const rendered = renderTokens(claims, key, now, pool.maxTokenLifetimeSeconds);
  const leaseToken = randomSecret("sgn_lt_");
  const attempt = await claimRequest(db, {
    orgId,
    requestId,
    agentId: agent.agentId,
    kid: key.kid,
    leaseTokenHash: sha256Base64url(leaseToken),
    leaseUntil: now + LEASE_MS,
    rendered: sealJson(encryption, place, "rendered", rendered),
    now,
  });
  if (attempt === undefined) return undefined;
  const context = openJson<SealedContext>(encryption, place, "context", row.context);
  return {
    requestId,
    leaseToken,
    leaseSeconds: LEASE_MS / 1000,
    attempt,
    expiresIn: Math.ceil((row.expires_at - now) / 1000),
    interactive: row.interactive === 1,
    context: contextOf(row, claims, context),
    tokens: rendered.tokens,
  };
}

function contextOf(
  row: SigningRequestRow,
  { accessToken }: ClaimsToSign,
  { clientName, ip }: SealedContext,
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
