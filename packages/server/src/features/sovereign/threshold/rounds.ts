/**
 * Rounds: m agents are asked for their shares of a request's signatures, each with nonce commitments from its stock that no other round
 * gets. An agent that is away, refuses or gives a wrong share is replaced in the next round (threshold-and-ledger.md §1).
 */
import { randomSecret, sha256Base64url } from "@signet/protocol/hash";
import type { NonceCommitment } from "@signet/protocol/threshold/group";
import type { Db } from "../../../db/open.ts";
import { agentTopic, poolTopic } from "../notify/wake-up.ts";
import { type ClaimedRequest, claimedRequest } from "../requests/claim-request.ts";
import { sweepPool } from "../requests/expire-requests.ts";
import { newRendering, type Rendering } from "../requests/signing-input.ts";
import { findRequests, openColumn, type SigningRequestRow } from "../requests/signing-request.store.ts";
import type { AgentCaller, SealedClaims, SigningDeps, TokenUse } from "../requests/signing-request.ts";
import {
  claimForRounds,
  hasPending,
  insertParts,
  lockPending,
  type NewPart,
  type RoundClaim,
} from "./begin-round.store.ts";
import { countStock, takeCommitments } from "./commitment.store.ts";
import type { GroupKey, GroupKeys } from "./group-keys.ts";
import { listMembers } from "./member.store.ts";
import {
  type EndedParts,
  handOverParts,
  hasLate,
  type InPool,
  listEnded,
  listParts,
  markAbsent,
  type PartRow,
} from "./round.store.ts";

/** An agent answers within this time or counts as absent: two rounds fit into the time that a token endpoint waits. */
export const ROUND_MS = 3_000;
/** An agent that claimed within this time is asked; a waiting claim lasts 25 s. */
const SEEN_MS = 35_000;

export interface RoundDeps extends SigningDeps {
  readonly groups: GroupKeys;
}

export type Use = TokenUse;
/** As a part keeps them. */
export type PartCommitments = Partial<Record<Use, Omit<NonceCommitment, "kid">>>;

export type ClaimedRound = Omit<ClaimedRequest, "outcome"> & {
  /** That they have their shares from. */
  readonly ceremony: string;
  /** Of all who sign, by use. */
  readonly commitments: Partial<Record<Use, readonly NonceCommitment[]>>;
};

/** The agent's next parts: what others have begun, then rounds for what is pending. What does not depend on each other is asked at once. */
export async function claimRounds(
  deps: RoundDeps,
  agent: AgentCaller,
  max: number,
): Promise<readonly ClaimedRound[]> {
  const { orgId, poolId } = agent;
  const { query } = deps.database;
  const inPool = { orgId, poolId, now: deps.clock() };
  await sweepPool(deps, orgId, poolId);
  const active = await deps.groups.active(orgId, poolId);
  const [isLate, isPending, asked] = await Promise.all([
    hasLate(query, inPool),
    hasPending(query, inPool),
    active ? handOverParts(query, agent, { now: inPool.now, max }) : [],
  ]);
  if (isLate) await replaceAbsent(deps, inPool);
  if (!active) return [];
  const handed = handedOver(deps, asked);
  const isMore = isPending || isLate;
  const begun =
    isMore && asked.length < max ? await beginRounds(deps, agent, active, max - asked.length) : [];
  return [...(await handed), ...begun];
}

/** What was asked of who is away is pending again: the next round is without them. */
async function replaceAbsent(deps: RoundDeps, inPool: InPool): Promise<void> {
  const { orgId, poolId } = inPool;
  if ((await markAbsent(deps.database.query, inPool)) === 0) return;
  deps.poolSweeps.delete(`${orgId} ${poolId}`);
  await sweepPool(deps, orgId, poolId);
}

class StockTaken extends Error {}

/** @returns the agent's own parts of them, handed over */
async function beginRounds(
  deps: RoundDeps,
  agent: AgentCaller,
  active: GroupKey,
  max: number,
): Promise<ClaimedRound[]> {
  const { orgId, poolId, agentId } = agent;
  const pool = await deps.pools.find(orgId, poolId);
  if (!pool || pool.disabledAt !== null) return [];
  const now = deps.clock();
  const asked = new Set<string>();
  const begin = async (tx: Db) => {
    const rows = await lockPending(tx, { orgId, poolId, now }, max);
    const ids = rows.map(({ id }) => id);
    const ended = await listEnded(tx, orgId, ids);
    const candidates = await findCandidates(tx, agent, { active, now });
    const rounds: NewRound[] = [];
    for (const row of rows) {
      const uses = usesOf(deps, row);
      const choice = { ...nobody, ...ended.get(row.id), count: active.group.threshold.min };
      const signers = chooseSigners(candidates, { ...choice, each: uses.length });
      if (signers.length === 0) continue;
      const rendering = newRendering(now, pool);
      rounds.push({ row, roundId: randomSecret("sgn_lt_"), signers, uses, rendering });
      for (const signer of signers) asked.add(signer.agentId);
    }
    if (rounds.length === 0) return [];
    const parts = await beginAll(tx, agent, { active, now }, rounds);
    return ownRounds(deps, agent, { active, now }, { rounds, parts });
  };
  let own: ClaimedRound[];
  try {
    own = await deps.database.transaction(begin);
  } catch (error) {
    // Another node was faster: what is left is begun by the next claim.
    if (!(error instanceof StockTaken)) throw error;
    return [];
  }
  if (asked.size === 0) return own;
  asked.delete(agentId);
  deps.wakeUp.notify(...[...asked].map((id) => agentTopic(orgId, id)));
  // Who is away then is replaced; without this node the next poll does it.
  setTimeout(() => deps.wakeUp.notify(poolTopic(orgId, poolId)), ROUND_MS + 20).unref();
  return own;
}

/** As `handedOver` would read them. */
function ownRounds(
  deps: RoundDeps,
  { agentId }: AgentCaller,
  { active, now }: { readonly active: GroupKey; readonly now: number },
  { rounds, parts }: { readonly rounds: readonly NewRound[]; readonly parts: readonly NewPart[] },
): ClaimedRound[] {
  const byRound = Map.groupBy(parts, ({ roundId }) => roundId);
  return rounds
    .filter(({ signers }) => signers.some((one) => one.agentId === agentId))
    .map(({ row, roundId, rendering }) => {
      const claimedRow = { ...row, attempts: row.attempts + 1 };
      const handed = { leaseToken: roundId, rendering, key: active.key, now };
      const { outcome: _, ...claimed } = claimedRequest(deps, claimedRow, handed);
      const all = (byRound.get(roundId) ?? []).map(({ agentId, commitments }) => ({
        ...{ agent_id: agentId, commitments },
      }));
      const ceremony = active.key.ceremonyId ?? "";
      const commitments = commitmentsOf(active, all);
      return { ...claimed, leaseSeconds: ROUND_MS / 1000, ceremony, commitments };
    });
}

function usesOf(deps: SigningDeps, row: SigningRequestRow): Use[] {
  const { accessToken, idToken, message } = openColumn<SealedClaims>(deps, row, "claims").claims;
  return [
    ...(accessToken ? (["access_token"] as const) : []),
    ...(idToken ? (["id_token"] as const) : []),
    ...(message ? [message.use] : []),
  ];
}

interface Candidate {
  readonly agentId: string;
  readonly kid: string;
  stock: number;
}

/** The caller first, as it is there; the others in any order, so that each has its turn. */
async function findCandidates(
  tx: Db,
  { orgId, poolId, agentId }: AgentCaller,
  { active, now }: { readonly active: GroupKey; readonly now: number },
): Promise<Candidate[]> {
  const members = (await listMembers(tx, orgId, poolId)).filter(
    (one) =>
      active.agents.get(one.agent_id) === one.kid &&
      one.excluded_until <= now &&
      (one.agent_id === agentId || one.seen_at > now - SEEN_MS),
  );
  const agentIds = members.map(({ agent_id }) => agent_id);
  const stock = await countStock(tx, orgId, { agentIds, kid: active.key.kid });
  return members
    .map((one) => ({ agentId: one.agent_id, kid: one.kid, stock: stock.get(one.agent_id) ?? 0 }))
    .map((one) => ({ one, order: one.agentId === agentId ? -1 : Math.random() }))
    .sort((one, other) => one.order - other.order)
    .map(({ one }) => one);
}

const nobody: EndedParts = { out: new Set(), absent: new Set() };

interface Choice {
  readonly out: ReadonlySet<string>;
  readonly absent: ReadonlySet<string>;
  readonly count: number;
  readonly each: number;
}

/** Those that were away in an earlier round last. @returns none when there are too few */
function chooseSigners(candidates: readonly Candidate[], { out, absent, count, each }: Choice): Candidate[] {
  const able = candidates
    .filter(({ agentId, stock }) => !out.has(agentId) && stock >= each)
    .toSorted((one, other) => Number(absent.has(one.agentId)) - Number(absent.has(other.agentId)))
    .slice(0, count);
  if (able.length < count) return [];
  for (const one of able) one.stock -= each;
  return able;
}

interface NewRound {
  readonly row: SigningRequestRow;
  readonly roundId: string;
  readonly signers: readonly Candidate[];
  readonly uses: readonly Use[];
  readonly rendering: Rendering;
}

/** @throws StockTaken when another node has begun one of them, or taken a commitment */
async function beginAll(
  tx: Db,
  { orgId, poolId, agentId: caller }: AgentCaller,
  { active, now }: { readonly active: GroupKey; readonly now: number },
  rounds: readonly NewRound[],
): Promise<readonly NewPart[]> {
  const { kid, ceremonyId } = active.key;
  const until = now + ROUND_MS;
  const claims = rounds.map(
    ({ row, roundId, rendering }): RoundClaim => ({
      ...{ requestId: row.id, roundId, roundHash: sha256Base64url(roundId) },
      rendering: JSON.stringify(rendering),
    }),
  );
  if (!(await claimForRounds(tx, { orgId, kid, until }, claims))) throw new StockTaken();
  const parts: NewPart[] = [];
  // In one order, so that two nodes never wait for each other.
  const agentIds = new Set(rounds.flatMap(({ signers }) => signers.map((one) => one.agentId)));
  for (const agentId of [...agentIds].toSorted()) {
    const own = rounds.filter(({ signers }) => signers.some((one) => one.agentId === agentId));
    const requestIds = own.flatMap(({ row, uses }) => uses.map(() => row.id));
    const taken = await takeCommitments(tx, { orgId, agentId }, { kid, now, requestIds });
    if (taken.length < requestIds.length) throw new StockTaken();
    const byRequest = Map.groupBy(taken, ({ requestId }) => requestId);
    for (const { row, roundId, uses } of own) {
      const points = (byRequest.get(row.id) ?? []).map(({ hiding, binding }) => ({ hiding, binding }));
      const commitments: PartCommitments = Object.fromEntries(uses.map((use, at) => [use, points[at]]));
      const state = agentId === caller ? "handed" : "asked";
      parts.push({
        ...{ roundId, agentId, requestId: row.id, state, commitments: JSON.stringify(commitments) },
      });
    }
  }
  await insertParts(tx, { orgId, poolId, ceremonyId, now, until }, parts);
  return parts;
}

async function handedOver(deps: RoundDeps, parts: readonly PartRow[]): Promise<ClaimedRound[]> {
  const [first] = parts;
  if (!first) return [];
  const now = deps.clock();
  const { org_id: orgId } = first;
  const ids = parts.map(({ request_id }) => request_id);
  const roundIds = parts.map(({ round_id }) => round_id);
  const [found, all] = await Promise.all([
    findRequests(deps.database.query, orgId, ids),
    listParts(deps.database.query, orgId, roundIds),
  ]);
  const rows = new Map(found.map((row) => [row.id, row]));
  const rounds: ClaimedRound[] = [];
  for (const part of parts) {
    const row = rows.get(part.request_id);
    // Over already.
    if (row?.claimed_by !== part.round_id || row.rendering === null || row.kid === null) continue;
    const { pool_id: poolId, ceremony_id: ceremonyId } = part;
    const group = await deps.groups.of(orgId, { poolId, kid: row.kid, ceremonyId });
    if (!group) continue;
    const handed = { leaseToken: part.round_id, rendering: JSON.parse(row.rendering) as Rendering, now };
    const { outcome: _, ...claimed } = claimedRequest(deps, row, { ...handed, key: group.key });
    const leaseSeconds = Math.max(0, (part.until - now) / 1000);
    const ceremony = group.key.ceremonyId ?? "";
    rounds.push({
      ...claimed,
      leaseSeconds,
      ceremony,
      commitments: commitmentsOf(group, all.get(part.round_id) ?? []),
    });
  }
  return rounds;
}

/** By use, of all parts of a round. */
export function commitmentsOf(
  { agents }: Pick<GroupKey, "agents">,
  parts: ReadonlyArray<Pick<PartRow, "agent_id" | "commitments">>,
): ClaimedRound["commitments"] {
  const byUse: Partial<Record<Use, NonceCommitment[]>> = {};
  for (const part of parts)
    for (const [use, points] of Object.entries(JSON.parse(part.commitments) as PartCommitments)) {
      const list = byUse[use as Use] ?? [];
      list.push({ kid: agents.get(part.agent_id) ?? "", ...points });
      byUse[use as Use] = list;
    }
  return byUse;
}
