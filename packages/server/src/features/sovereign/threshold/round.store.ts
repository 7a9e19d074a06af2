/** Rounds of signing requests: which agents are asked for a share of a signature, and what they gave. */
import { type ExpressionBuilder, sql } from "kysely";
import { affectsAny } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import { isInList } from "../../../db/one-of.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import type { ThresholdPartTable } from "../../../db/tables/sovereign-signing.ts";
import { unsynced } from "../../../db/unsynced.ts";
import { failing, isChanged, isOpen, resetToPending } from "../requests/signing-request.store.ts";
import type { FailReason } from "../requests/signing-request.ts";

export type PartRow = Readonly<ThresholdPartTable>;

/** `asked` and `handed` wait for the agent; the last two keep it out of further rounds of the request. */
export type PartState = "asked" | "handed" | "signed" | "absent" | "rejected" | "wrong";
const OUT: readonly PartState[] = ["rejected", "wrong"];

export type InPool = { readonly orgId: string; readonly poolId: string; readonly now: number };

/** The agents that had a part in earlier rounds of these requests, and do not have it any more. */
const selectEnded = prepared((db, value: Parameter<{ readonly orgId: string; readonly requests: string }>) =>
  db
    .selectFrom("threshold_part")
    .select(["request_id", "agent_id", "state"])
    .where("org_id", "=", value("orgId"))
    .where(isInList(db, sql.ref("request_id"), value("requests")))
    .where(
      "state",
      "in",
      [...OUT, "absent"].map((state) => sql.lit(state)),
    ),
);

export interface EndedParts {
  /** Agents that take no further part in the request. */
  readonly out: ReadonlySet<string>;
  readonly absent: ReadonlySet<string>;
}

/** By request; none of them for a request without such parts. */
export async function listEnded(
  db: Db,
  orgId: string,
  requestIds: readonly string[],
): Promise<ReadonlyMap<string, EndedParts>> {
  if (requestIds.length === 0) return new Map();
  const rows = await selectEnded(db, { orgId, requests: JSON.stringify(requestIds) });
  const agents = (of: typeof rows, isAbsent: boolean) =>
    new Set(of.filter(({ state }) => (state === "absent") === isAbsent).map((one) => one.agent_id));
  const byRequest = Map.groupBy(rows, ({ request_id }) => request_id);
  return new Map(
    [...byRequest].map(([id, of]) => [id, { out: agents(of, false), absent: agents(of, true) }]),
  );
}

type Asked = { readonly orgId: string; readonly agentId: string; readonly now: number };

const handOver = prepared((db, value: Parameter<Asked & { readonly max: number }>) => {
  const isAsked = (eb: ExpressionBuilder<Schema, "threshold_part">) =>
    eb.and([
      eb("org_id", "=", value("orgId")),
      eb("agent_id", "=", value("agentId")),
      eb("state", "=", sql.lit("asked")),
      eb("until", ">", value("now")),
    ]);
  const asked = db
    .selectFrom("threshold_part")
    .select("round_id")
    .where(isAsked)
    .orderBy("created_at")
    .orderBy("round_id")
    .limit(value("max"));
  return (
    db
      .updateTable("threshold_part")
      .set({ state: "handed" })
      .where("round_id", "in", isPostgres(db) ? asked.forUpdate().skipLocked() : asked)
      .where(isAsked)
      // Lost in a crash, they are asked again: the agent, which has used its nonces, is replaced.
      .where(unsynced(db))
      .returningAll()
  );
});

/** Hands the agent its parts, each once. @param db not a transaction: the statement is not synced (unsynced.ts) */
export const handOverParts = (
  db: Db,
  { orgId, agentId }: { readonly orgId: string; readonly agentId: string },
  { now, max }: { readonly now: number; readonly max: number },
): Promise<PartRow[]> => handOver(db, { orgId, agentId, now, max });

type PartKey = { readonly orgId: string; readonly roundId: string; readonly agentId: string };

/** The agent gives no shares. @returns false when it has answered, or the round is over */
export const rejectPart = (
  db: Db,
  { orgId, roundId, agentId }: PartKey,
  { now, ...answer }: { state: "absent" | "rejected"; now: number; reason: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("threshold_part")
      .set(answer)
      .where((eb) => allOf(eb, { org_id: orgId, round_id: roundId, agent_id: agentId, state: "handed" }))
      .where("until", ">", now),
  );

export interface GivenShares {
  readonly requestId: string;
  readonly roundId: string;
  /** JSON. */
  readonly shares: string;
}

const answerAll = prepared((db, value: Parameter<Asked & { readonly given: string }>) => {
  const isHanded = (eb: ExpressionBuilder<Schema, "threshold_part">) =>
    eb.and([
      eb("threshold_part.org_id", "=", value("orgId")),
      eb("threshold_part.agent_id", "=", value("agentId")),
      eb("threshold_part.state", "=", sql.lit("handed")),
      eb("threshold_part.until", ">", value("now")),
    ]);
  const rows = () => jsonRows(db, value("given"), ["requestId", "roundId", "shares"] as const);
  const wanted = db
    .selectFrom("threshold_part")
    .select("round_id")
    .where(isHanded)
    .where("round_id", "in", db.selectFrom(rows().as("given")).select("given.roundId"));
  return (
    db
      .updateTable("threshold_part")
      .from(rows().as("r"))
      .set((eb) => ({ state: "signed", shares: eb.ref("r.shares") }))
      .where((eb) => isHanded(eb as unknown as ExpressionBuilder<Schema, "threshold_part">))
      .whereRef("threshold_part.round_id", "=", "r.roundId")
      .whereRef("threshold_part.request_id", "=", "r.requestId")
      .where("threshold_part.round_id", "in", lockedInOrder(db, wanted, "round_id"))
      // Synced with the signature that comes of them; without one, whoever waits for it is gone with the process.
      .where(unsynced(db))
      .returning("threshold_part.round_id")
  );
});

/**
 * One answer to each part.
 * @param db not a transaction: the statement is not synced (unsynced.ts)
 * @returns the rounds in which the agent had not answered, and that are not over
 */
export async function answerParts(
  db: Db,
  agent: Asked,
  given: readonly GivenShares[],
): Promise<ReadonlySet<string>> {
  if (given.length === 0) return new Set();
  const { orgId, agentId, now } = agent;
  const rows = await answerAll(db, { orgId, agentId, now, given: JSON.stringify(given) });
  return new Set(rows.map(({ round_id }) => round_id));
}

/** A share that was given, and is wrong. */
export const markWrong = (tx: Db, { orgId, roundId, agentId }: PartKey): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("threshold_part")
      .set({ state: "wrong" })
      .where((eb) => allOf(eb, { org_id: orgId, round_id: roundId, agent_id: agentId, state: "signed" })),
  );

const selectParts = prepared((db, value: Parameter<{ readonly orgId: string; readonly rounds: string }>) =>
  db
    .selectFrom("threshold_part")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where(isInList(db, sql.ref("round_id"), value("rounds")))
    .orderBy("agent_id"),
);

/** All agents' parts, by round. */
export async function listParts(
  db: Db,
  orgId: string,
  roundIds: readonly string[],
): Promise<ReadonlyMap<string, PartRow[]>> {
  if (roundIds.length === 0) return new Map();
  const rows: PartRow[] = await selectParts(db, { orgId, rounds: JSON.stringify(roundIds) });
  return Map.groupBy(rows, ({ round_id }) => round_id);
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

/** Spelled as in the partial index, or the index is not used. */
const isAwaited = sql<boolean>`state in ('asked', 'handed')`;

const selectLate = prepared((db, value: Parameter<InPool>) =>
  db
    .selectFrom("threshold_part")
    .select("round_id")
    .where("org_id", "=", value("orgId"))
    .where("pool_id", "=", value("poolId"))
    .where(isAwaited)
    .where("until", "<=", value("now"))
    .limit(sql.lit(1)),
);

/** Whether an agent has not answered in time: asked before anything is written for it. */
export const hasLate = async (db: Db, pool: InPool): Promise<boolean> =>
  (await selectLate(db, pool)).length > 0;

/** Agents that did not answer in time. @returns how many */
export async function markAbsent(db: Db, { orgId, poolId, now }: InPool): Promise<number> {
  const isLate = (eb: ExpressionBuilder<Schema, "threshold_part">) =>
    eb.and([allOf(eb, { org_id: orgId, pool_id: poolId }), isAwaited, eb("until", "<=", now)]);
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
