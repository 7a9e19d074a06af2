/** Rounds of signing requests: which agents are asked for a share of a signature, and what they gave. */
import type { ExpressionBuilder } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import type { ThresholdPartTable } from "../../../db/tables/sovereign-signing.ts";
import {
  failing,
  isChanged,
  isOpen,
  nextSeq,
  resetToPending,
  type SigningRequestRow,
} from "../requests/signing-request.store.ts";
import type { FailReason } from "../requests/signing-request.ts";

export type PartRow = Readonly<ThresholdPartTable>;

/** `asked` and `handed` wait for the agent; the last two keep it out of further rounds of the request. */
export type PartState = "asked" | "handed" | "signed" | "absent" | "rejected" | "wrong";
const OUT: readonly PartState[] = ["rejected", "wrong"];

type InPool = { readonly orgId: string; readonly poolId: string; readonly now: number };

/** The oldest pending requests of the pool. On PostgreSQL they are locked, and those that another node has are skipped. */
export async function lockPending(
  tx: Db,
  { orgId, poolId, now }: InPool,
  limit: number,
): Promise<SigningRequestRow[]> {
  const pending = tx
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .orderBy("created_at")
    .orderBy("id")
    .limit(limit);
  return (isPostgres(tx) ? pending.forUpdate().skipLocked() : pending).execute();
}

/** Whether anything is pending: asked before a transaction is begun for it. */
export async function hasPending(db: Db, { orgId, poolId, now }: InPool): Promise<boolean> {
  const row = await db
    .selectFrom("signing_request")
    .select("id")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

interface RoundClaim {
  readonly orgId: string;
  readonly requestId: string;
  readonly roundId: string;
  readonly roundHash: string;
  /** Of the group key. */
  readonly kid: string;
  /** JSON. */
  readonly rendering: string;
  readonly until: number;
}

/** @returns false when it is pending no more */
export const claimForRound = (tx: Db, claim: RoundClaim): Promise<boolean> =>
  isChanged(
    tx
      .updateTable("signing_request")
      .set((eb) => ({
        state: "claimed",
        seq: nextSeq,
        attempts: eb("attempts", "+", 1),
        claimed_by: claim.roundId,
        kid: claim.kid,
        rendering: claim.rendering,
        lease_token_hash: claim.roundHash,
        lease_until: claim.until,
      }))
      .where((eb) => allOf(eb, { org_id: claim.orgId, id: claim.requestId, state: "pending" })),
  );

export async function insertParts(tx: Db, parts: readonly PartRow[]): Promise<void> {
  await tx
    .insertInto("threshold_part")
    .values([...parts])
    .execute();
}

/** By request, the agents that take no further part in it, or whose part is in another of these states. */
export async function listOut(
  db: Db,
  orgId: string,
  requestIds: readonly string[],
  states: readonly PartState[] = OUT,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("threshold_part")
    .select(["request_id", "agent_id"])
    .where("org_id", "=", orgId)
    .where("request_id", "in", requestIds)
    .where("state", "in", states)
    .execute();
  const byRequest = Map.groupBy(rows, ({ request_id }) => request_id);
  return new Map([...byRequest].map(([id, of]) => [id, new Set(of.map(({ agent_id }) => agent_id))]));
}

/** Hands the agent its parts, each once. */
export async function handOverParts(
  db: Db,
  { orgId, agentId }: { readonly orgId: string; readonly agentId: string },
  { now, max }: { readonly now: number; readonly max: number },
): Promise<PartRow[]> {
  const isAsked = (eb: ExpressionBuilder<Schema, "threshold_part">) =>
    eb.and([allOf(eb, { org_id: orgId, agent_id: agentId, state: "asked" }), eb("until", ">", now)]);
  const asked = db
    .selectFrom("threshold_part")
    .select("round_id")
    .where(isAsked)
    .orderBy("created_at")
    .orderBy("round_id")
    .limit(max);
  return db
    .updateTable("threshold_part")
    .set({ state: "handed" })
    .where("round_id", "in", isPostgres(db) ? asked.forUpdate().skipLocked() : asked)
    .where(isAsked)
    .returningAll()
    .execute();
}

type PartKey = { readonly orgId: string; readonly roundId: string; readonly agentId: string };

/** One answer to each part. @returns false when it was given, or the round is over */
export const answerPart = (
  db: Db,
  { orgId, roundId, agentId }: PartKey,
  { state, now, ...answer }: { state: PartState; now: number; shares?: string; reason?: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("threshold_part")
      .set({ state, ...answer })
      .where((eb) => allOf(eb, { org_id: orgId, round_id: roundId, agent_id: agentId, state: "handed" }))
      .where("until", ">", now),
  );

/** A share that was given, and is wrong. */
export const markWrong = (tx: Db, { orgId, roundId, agentId }: PartKey): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("threshold_part")
      .set({ state: "wrong" })
      .where((eb) => allOf(eb, { org_id: orgId, round_id: roundId, agent_id: agentId, state: "signed" })),
  );

export async function listParts(db: Db, orgId: string, roundId: string): Promise<PartRow[]> {
  return db
    .selectFrom("threshold_part")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, round_id: roundId }))
    .orderBy("agent_id")
    .execute();
}

/** What was asked of an earlier start of the agent, whose nonces are gone. */
export async function markOwnAbsent(
  tx: Db,
  { orgId, agentId }: { readonly orgId: string; readonly agentId: string },
): Promise<void> {
  await tx
    .updateTable("threshold_part")
    .set({ state: "absent" })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .where("state", "in", ["asked", "handed"])
    .execute();
}

/** Agents that did not answer in time. @returns how many */
export async function markAbsent(db: Db, { orgId, poolId, now }: InPool): Promise<number> {
  const isLate = (eb: ExpressionBuilder<Schema, "threshold_part">) =>
    eb.and([
      allOf(eb, { org_id: orgId, pool_id: poolId }),
      eb("state", "in", ["asked", "handed"]),
      eb("until", "<=", now),
    ]);
  const late = db.selectFrom("threshold_part").select("round_id").where(isLate);
  const rows = await db
    .updateTable("threshold_part")
    .set({ state: "absent" })
    .where("round_id", "in", lockedInOrder(db, late, "round_id"))
    .where(isLate)
    .returning("round_id")
    .execute();
  return rows.length;
}

/** What was asked of the key's old members is asked of the new ones. */
export async function endRoundsOfKey(
  tx: Db,
  { orgId, poolId, kid }: { readonly orgId: string; readonly poolId: string; readonly kid: string },
): Promise<void> {
  const claimed = tx
    .selectFrom("signing_request")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, pool_id: poolId, state: "claimed", kid }))
    .where(isOpen);
  await tx
    .updateTable("signing_request")
    .set(resetToPending)
    .where((eb) => allOf(eb, { org_id: orgId, state: "claimed", kid }))
    .where("id", "in", lockedInOrder(tx, claimed, "id"))
    .execute();
}

type RoundKey = { readonly orgId: string; readonly requestId: string; readonly roundId: string };

/** For another round, with other agents. @returns false when the round is over */
export const endRound = (tx: Db, { orgId, requestId, roundId }: RoundKey): Promise<boolean> =>
  isChanged(
    tx
      .updateTable("signing_request")
      .set(resetToPending)
      .where((eb) => allOf(eb, { org_id: orgId, id: requestId, state: "claimed", claimed_by: roundId })),
  );

/** Too few agents are left, whatever round it is in. @returns false when it is over */
export const failForGood = (
  tx: Db,
  { orgId, requestId }: Omit<RoundKey, "roundId">,
  { reason, now }: { readonly reason: FailReason; readonly now: number },
): Promise<boolean> =>
  isChanged(
    tx
      .updateTable("signing_request")
      .set(failing(reason, now))
      .where((eb) => allOf(eb, { org_id: orgId, id: requestId }))
      .where("state", "in", ["pending", "claimed"]),
  );

/** The call that was to hand them over has gone: the agent has not heard of them. */
export async function takeBackParts(
  db: Db,
  { orgId, agentId }: { readonly orgId: string; readonly agentId: string },
  roundIds: readonly string[],
): Promise<void> {
  await db
    .updateTable("threshold_part")
    .set({ state: "asked" })
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId, state: "handed" }))
    .where("round_id", "in", roundIds)
    .execute();
}

/** For the housekeeping. @returns how many were deleted, at most `limit` */
export async function deleteOldParts(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .selectFrom("threshold_part")
    .select(["org_id", "round_id", "agent_id"])
    .where("created_at", "<", before)
    .limit(limit)
    .execute();
  for (const { org_id, round_id, agent_id } of rows)
    await db
      .deleteFrom("threshold_part")
      .where((eb) => allOf(eb, { org_id, round_id, agent_id }))
      .execute();
  return rows.length;
}
