/** The agents' stock of nonce commitments: each is taken once, by one conditional statement. */
import type { NonceCommitment } from "@signet/protocol/threshold/group";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";

type Owner = { readonly orgId: string; readonly agentId: string };
type Points = Omit<NonceCommitment, "kid">;

interface NewCommitments {
  /** Of the group key. */
  readonly kid: string;
  readonly bootId: string;
  readonly commitments: readonly Points[];
  readonly now: number;
}

/** @returns how many were new: one that was ever there is not taken again */
export async function insertCommitments(
  tx: Db,
  { orgId, agentId }: Owner,
  { kid, bootId, commitments, now }: NewCommitments,
): Promise<number> {
  const rows = await tx
    .insertInto("threshold_commitment")
    .values(
      commitments.map(({ hiding, binding }) => ({
        ...{ org_id: orgId, agent_id: agentId, hiding, binding, kid, boot_id: bootId, created_at: now },
        ...{ request_id: null, used_at: null },
      })),
    )
    .onConflict((conflict) => conflict.doNothing())
    .returning("hiding")
    .execute();
  return rows.length;
}

/** What an earlier start of the agent left: its nonces are gone. */
export async function deleteOldStock(tx: Db, { orgId, agentId }: Owner, bootId: string): Promise<void> {
  await tx
    .deleteFrom("threshold_commitment")
    .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
    .where("used_at", "is", null)
    .where("boot_id", "<>", bootId)
    .execute();
}

/** By agent, of those that have any for the key. */
export async function countStock(
  db: Db,
  orgId: string,
  { agentIds, kid }: { readonly agentIds: readonly string[]; readonly kid: string },
): Promise<ReadonlyMap<string, number>> {
  if (agentIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("threshold_commitment")
    .select((eb) => ["agent_id", eb.fn.countAll<number | string>().as("count")])
    .where("org_id", "=", orgId)
    .where("agent_id", "in", agentIds)
    .where("used_at", "is", null)
    .where("kid", "=", kid)
    .groupBy("agent_id")
    .execute();
  return new Map(rows.map(({ agent_id, count }) => [agent_id, Number(count)]));
}

interface Taking {
  readonly kid: string;
  readonly requestId: string;
  readonly count: number;
  readonly now: number;
}

/** The oldest ones, for this request and no other. @returns fewer when there are not enough: roll back then */
export async function takeCommitments(
  tx: Db,
  { orgId, agentId }: Owner,
  { kid, requestId, count, now }: Taking,
): Promise<Points[]> {
  const oldest = tx
    .selectFrom("threshold_commitment")
    .select("hiding")
    .where("org_id", "=", orgId)
    .where("agent_id", "=", agentId)
    .where("used_at", "is", null)
    .where("kid", "=", kid)
    .orderBy("created_at")
    .orderBy("hiding")
    .limit(count);
  return (
    tx
      .updateTable("threshold_commitment")
      .set({ request_id: requestId, used_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, agent_id: agentId }))
      // SQLite runs one writing transaction at a time.
      .where("hiding", "in", isPostgres(tx) ? oldest.forUpdate().skipLocked() : oldest)
      .where("used_at", "is", null)
      .returning(["hiding", "binding"])
      .execute()
  );
}

/** For the housekeeping. @returns how many were deleted, at most `limit` */
export async function deleteUsedCommitments(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .selectFrom("threshold_commitment")
    .select(["org_id", "agent_id", "hiding"])
    .where("used_at", "<", before)
    .limit(limit)
    .execute();
  for (const { org_id, agent_id, hiding } of rows)
    await db
      .deleteFrom("threshold_commitment")
      .where((eb) => allOf(eb, { org_id, agent_id, hiding }))
      .execute();
  return rows.length;
}
