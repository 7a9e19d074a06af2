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

/** The agent's next parts; begins rounds for what is pending. */
export async function claimRounds(
  deps: RoundDeps,
  agent: AgentCaller,
  max: number,
): Promise<readonly ClaimedRound[]> {
  const { orgId, poolId } = agent;
  const now = deps.clock();
  // Before the request is pending again: the next round is without them.
  if ((await markAbsent(deps.database.query, { orgId, poolId, now })) > 0)
    deps.poolSweeps.delete(`${orgId} ${poolId}`);
  await sweepPool(deps, orgId, poolId);
  const active = await deps.groups.active(orgId, poolId);
  if (!active) return [];
  if (await hasPending(deps.database.query, { orgId, poolId, now }))
    await beginRounds(deps, agent, active, max);
  const parts = await handOverParts(deps.database.query, agent, { now, max });
  return handedOver(deps, parts);
}

class StockTaken extends Error {}

async function beginRounds(
  deps: RoundDeps,
  agent: AgentCaller,
  active: GroupKey,
  max: number,
): Promise<void> {
  const { orgId, poolId, agentId } = agent;
  const pool = await deps.pools.find(orgId, poolId);
  if (!pool || pool.disabledAt !== null) return;
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
      const rendering = JSON.stringify(newRendering(now, pool));
      rounds.push({ requestId: row.id, roundId: randomSecret("sgn_lt_"), signers, uses, rendering });
      for (const signer of signers) asked.add(signer.agentId);
    }
    if (rounds.length > 0) await beginAll(tx, agent, { active, now }, rounds);
  };
  try {
    await deps.database.transaction(begin);
  } catch (error) {
    // Another node was faster: what is left is begun by the next claim.
    if (!(error instanceof StockTaken)) throw error;
    return;
  }
  if (asked.size === 0) return;
  asked.delete(agentId);
  deps.wakeUp.notify(...[...asked].map((id) => agentTopic(orgId, id)));
  // Who is away then is replaced; without this node the next poll does it.
  setTimeout(() => deps.wakeUp.notify(poolTopic(orgId, poolId)), ROUND_MS + 20).unref();
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
  readonly requestId: string;
  readonly roundId: string;
  readonly signers: readonly Candidate[];
  readonly uses: readonly Use[];
  /** JSON. */
  readonly rendering: string;
}

/** @throws StockTaken when another node has begun one of them, or taken a commitment */
async function beginAll(
  tx: Db,
  { orgId, poolId }: AgentCaller,
  { active, now }: { readonly active: GroupKey; readonly now: number },
  rounds: readonly NewRound[],
): Promise<void> {
  const { kid, ceremonyId } = active.key;
  const until = now + ROUND_MS;
  const claims = rounds.map(
    ({ requestId, roundId, rendering }): RoundClaim => ({
      ...{ requestId, roundId, roundHash: sha256Base64url(roundId), rendering },
    }),
  );
  if (!(await claimForRounds(tx, { orgId, kid, until }, claims))) throw new StockTaken();
  const parts: NewPart[] = [];
  // In one order, so that two nodes never wait for each other.
  const agentIds = new Set(rounds.flatMap(({ signers }) => signers.map((one) => one.agentId)));
  for (const agentId of [...agentIds].toSorted()) {
    const own = rounds.filter(({ signers }) => signers.some((one) => one.agentId === agentId));
    const requestIds = own.flatMap(({ requestId, uses }) => uses.map(() => requestId));
    const taken = await takeCommitments(tx, { orgId, agentId }, { kid, now, requestIds });
    if (taken.length < requestIds.length) throw new StockTaken();
    const byRequest = Map.groupBy(taken, ({ requestId }) => requestId);
    for (const { requestId, roundId, uses } of own) {
      const points = (byRequest.get(requestId) ?? []).map(({ hiding, binding }) => ({ hiding, binding }));
      const commitments: PartCommitments = Object.fromEntries(uses.map((use, at) => [use, points[at]]));
      parts.push({ roundId, agentId, requestId, commitments: JSON.stringify(commitments) });
    }
  }
  await insertParts(tx, { orgId, poolId, ceremonyId, now, until }, parts);
}

async function handedOver(deps: RoundDeps, parts: readonly PartRow[]): Promise<ClaimedRound[]> {
  const [first] = parts;
  if (!first) return [];
  const now = deps.clock();
  const { org_id: orgId } = first;
  const ids = parts.map(({ request_id }) => request_id);
  const rows = new Map((await findRequests(deps.database.query, orgId, ids)).map((row) => [row.id, row]));
  const roundIds = parts.map(({ round_id }) => round_id);
  const all = await listParts(deps.database.query, orgId, roundIds);
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
  parts: readonly PartRow[],
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
