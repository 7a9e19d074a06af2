/**
 * An agent of a pool with approvals claims what is its turn: to approve bytes that another agent will sign, or to sign what enough others
 * have approved. Who is away is replaced: its lease is short, and an agent that does not come to sign is not waited for.
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import { AGENT_SEEN_MS, type AgentKey, agentKeyState } from "../../../../core/signing-pools/agent-key.ts";
import { listAgents } from "../../../../core/signing-pools/signing-agent.store.ts";
import type { SigningPool } from "../../../../core/signing-pools/signing-pool.ts";
import { findUsableKey } from "../../../../core/signing-pools/usable-key.ts";
import { poolTopic, requestTopic } from "../../notify/wake-up.ts";
import {
  type ClaimedRequest,
  type ClaimOutcome,
  type ClaimsOutcome,
  claimedRequest,
} from "../claim-request.ts";
import { sweepPool } from "../expire-requests.ts";
import { newRendering } from "../signing-input.ts";
import { findRequest, type SigningRequestRow } from "../signing-request.store.ts";
import type { AgentCaller, SigningDeps } from "../signing-request.ts";
import { type ApprovalPlan, readPlan } from "./approval-plan.ts";
import { claimWithPlan, listPending } from "./claim-approval.store.ts";

/** An agent answers within this time, or another one is asked; a poll of the queue prolongs it, and so does a challenge. */
export const APPROVAL_LEASE_MS = 5_000;
/** How long the agent that signs is waited for once the approvals are there. */
const SIGNER_MS = 3_000;
/** Approved bytes older than this are rendered anew: the last agent must sign them before they are stale. */
const MAX_PLAN_SECONDS = 60;
/** Rows that are looked at; most of them are others' turns. */
const MAX_SEEN = 100;
const MAX_AGENTS = 1_000;

interface Wanted {
  readonly kids: readonly string[];
  readonly max: number;
  readonly requestId?: string | undefined;
}

export async function claimApprovals(
  deps: SigningDeps,
  agent: AgentCaller,
  pool: SigningPool,
  { kids, max, requestId }: Wanted,
): Promise<ClaimsOutcome> {
  const { orgId, poolId } = agent;
  await sweepPool(deps, orgId, poolId);
  const own = await findUsableKey(deps, agent, { kids, algs: pool.algs });
  if (!own) return { outcome: "no_usable_key" };
  const now = deps.clock();
  const rows = await listPending(deps.database.query, agent, { now, limit: MAX_SEEN, requestId });
  const requests: ClaimedRequest[] = [];
  let signers: readonly AgentKey[] | undefined;
  for (const row of rows) {
    if (requests.length >= max) break;
    signers ??= await listSigners(deps, pool, now);
    const claimed = await claimTurn(deps, agent, { pool, row, signers, now, own: own.key.kid });
    if (claimed) requests.push(claimed);
  }
  return { outcome: "claimed", requests };
}

/** One by its id. A request of another pool: 404. */
export async function claimNamedApproval(
  deps: SigningDeps,
  agent: AgentCaller,
  pool: SigningPool,
  wanted: { readonly kids: readonly string[]; readonly requestId: string },
): Promise<ClaimOutcome> {
  const { orgId, poolId } = agent;
  const claimed = await claimApprovals(deps, agent, pool, { ...wanted, max: 1 });
  if (claimed.outcome !== "claimed") return claimed;
  const row = await findRequest(deps.database.query, { orgId, requestId: wanted.requestId });
  if (row?.pool_id !== poolId) return { outcome: "not_found" };
  return claimed.requests[0] ?? { outcome: "not_claimable" };
}

/** Active keys of agents that were seen a moment ago. */
async function listSigners(deps: SigningDeps, pool: SigningPool, now: number): Promise<AgentKey[]> {
  const { orgId, id: poolId } = pool;
  const agents = await listAgents(deps.database.query, orgId, { poolId, limit: MAX_AGENTS });
  const isThere = new Map(
    agents.map(({ id, lastSeenAt, deactivatedAt }) => [
      id,
      deactivatedAt === null && (lastSeenAt ?? 0) > now - AGENT_SEEN_MS,
    ]),
  );
  return (await deps.pools.published(pool.orgId))
    .map(({ key }) => key)
    .filter(
      (key) =>
        key.poolId === pool.id &&
        key.ceremonyId === null &&
        isThere.get(key.agentId) === true &&
        pool.algs.includes(key.alg) &&
        agentKeyState(key, now) === "active",
    );
}

interface Turn {
  readonly pool: SigningPool;
  readonly row: SigningRequestRow;
  readonly signers: readonly AgentKey[];
  readonly now: number;
  /** The kid of the caller's key. */
  readonly own: string;
}

/** @returns undefined when it is not this agent's turn, or another one was faster */
async function claimTurn(
  deps: SigningDeps,
  agent: AgentCaller,
  turn: Turn,
): Promise<ClaimedRequest | undefined> {
  const { pool, row, signers, now, own } = turn;
  const plan = currentPlan(agent, turn) ?? newPlan(agent, turn);
  const key = signers.find(({ kid }) => kid === plan?.kid);
  if (!plan || !key) return undefined;
  const isComplete = plan.given.length >= pool.approvals - 1;
  const isSigner = plan.signer === agent.agentId;
  const hasApproved = plan.given.some(({ agentId }) => agentId === agent.agentId);
  if (isSigner !== isComplete || hasApproved) return undefined;
  const leaseToken = randomSecret("sgn_lt_");
  const claimed = await claimWithPlan(deps.database.query, row, {
    ...{ agentId: agent.agentId, kid: plan.kid, rendering: JSON.stringify(plan.rendering) },
    ...{
      approvals: JSON.stringify({ ...plan, holder: agent.agentId }),
      tokenHash: sha256Base64url(leaseToken),
    },
    ...{ leaseUntil: now + APPROVAL_LEASE_MS, now },
  });
  if (!claimed) return undefined;
  if (row.interactive === 1) deps.wakeUp.notify(requestTopic(row.org_id, row.id));
  const handed = claimedRequest(deps, claimed, { leaseToken, rendering: plan.rendering, key, now });
  const given = plan.given.map(({ approval }) => approval);
  return {
    ...handed,
    leaseSeconds: APPROVAL_LEASE_MS / 1000,
    approvals: { required: pool.approvals, given, kid: own },
  };
}

/** Undefined when it must begin again: too old, its key gone, or its agent did not come. */
function currentPlan({ agentId }: AgentCaller, { pool, row, signers, now }: Turn): ApprovalPlan | undefined {
  const plan = readPlan(row);
  if (!plan || now / 1000 - plan.rendering.iat > MAX_PLAN_SECONDS) return undefined;
  if (plan.attempts !== row.attempts) return undefined;
  if (!signers.some(({ kid }) => kid === plan.kid)) return undefined;
  const isComplete = plan.given.length >= pool.approvals - 1;
  const isLate = isComplete && plan.until < now && plan.signer !== agentId;
  const hasRefused = row.refused_by.includes(`"${plan.signer}"`);
  return isLate || hasRefused ? undefined : plan;
}

/** The caller approves, and another agent signs. @returns undefined without one */
function newPlan({ agentId }: AgentCaller, { pool, row, signers, now }: Turn): ApprovalPlan | undefined {
  const before = readPlan(row);
  const isUnanswered = before?.attempts !== row.attempts;
  const skipped = before
    ? [...new Set([...before.skipped, isUnanswered ? before.holder : before.signer])]
    : [];
  const able = signers.filter(
    (key) => key.agentId !== agentId && !row.refused_by.includes(`"${key.agentId}"`),
  );
  const fresh = able.filter((key) => !skipped.includes(key.agentId));
  const choice = fresh.length > 0 ? fresh : able;
  const key = choice[Math.floor(Math.random() * choice.length)];
  return (
    key && {
      ...{ signer: key.agentId, kid: key.kid, rendering: newRendering(now, pool) },
      ...{
        until: now + SIGNER_MS,
        given: [],
        attempts: row.attempts,
        holder: agentId,
        skipped: fresh.length > 0 ? skipped : [],
      },
    }
  );
}

/** After an approval was kept: whoever's turn it is. Without this node the next poll does it. */
export function notifyTurn({ wakeUp }: Pick<SigningDeps, "wakeUp">, { orgId, poolId }: AgentCaller): void {
  wakeUp.notify(poolTopic(orgId, poolId));
  setTimeout(() => wakeUp.notify(poolTopic(orgId, poolId)), SIGNER_MS + 20).unref();
}

export const signerDeadline = (now: number): number => now + SIGNER_MS;
