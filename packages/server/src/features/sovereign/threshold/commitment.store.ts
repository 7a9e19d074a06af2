/** The agents' stock of nonce commitments: each is taken once, by one conditional statement. */
import type { NonceCommitment } from "@signet/protocol/threshold/group";
import { sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import { isInList } from "../../../db/one-of.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";

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

type StockOf = { readonly orgId: string; readonly kid: string; readonly agents: string };

const countUnused = prepared((db, value: Parameter<StockOf>) =>
  db
    .selectFrom("threshold_commitment")
    .select((eb) => ["agent_id", eb.fn.countAll<number | string>().as("count")])
    .where("org_id", "=", value("orgId"))
    .where(isInList(db, sql.ref("agent_id"), value("agents")))
    .where("used_at", "is", null)
    .where("kid", "=", value("kid"))
    .groupBy("agent_id"),
);

/** By agent, of those that have any for the key. */
export async function countStock(
  db: Db,
  orgId: string,
  { agentIds, kid }: { readonly agentIds: readonly string[]; readonly kid: string },
): Promise<ReadonlyMap<string, number>> {
  if (agentIds.length === 0) return new Map();
  const rows = await countUnused(db, { orgId, kid, agents: JSON.stringify(agentIds) });
  return new Map(rows.map(({ agent_id, count }) => [agent_id, Number(count)]));
}

interface Taking {
  readonly kid: string;
  readonly now: number;
  /** One for each commitment that is wanted. */
  readonly requestIds: readonly string[];
}

type TakingOf = Owner & { readonly kid: string; readonly now: number; readonly count: number };

const takeOldest = prepared((db, value: Parameter<TakingOf & { readonly requests: string }>) => {
  const unused = db
    .selectFrom("threshold_commitment")
    .select(["hiding", "created_at"])
    .where("org_id", "=", value("orgId"))
    .where("agent_id", "=", value("agentId"))
    .where("used_at", "is", null)
    .where("kid", "=", value("kid"))
    .orderBy("created_at")
    .orderBy("hiding")
    .limit(value("count"));
  // SQLite runs one writing transaction at a time.
  const found = isPostgres(db) ? unused.forUpdate().skipLocked() : unused;
  const requestId = isPostgres(db)
    ? sql<string>`cast(${value("requests")} as jsonb) ->> cast(oldest.n - 1 as int)`
    : sql<string>`${value("requests")} ->> ('$[' || (oldest.n - 1) || ']')`;
  return db
    .with(
      // Materialized: read twice, it would lock other rows than it returns.
      (cte) => cte("oldest").materialized(),
      () =>
        db
          .selectFrom(found.as("found"))
          .select(["hiding", sql<number>`row_number() over (order by created_at, hiding)`.as("n")]),
    )
    .updateTable("threshold_commitment")
    .from("oldest")
    .set({ request_id: requestId, used_at: value("now") })
    .where("threshold_commitment.org_id", "=", value("orgId"))
    .where("threshold_commitment.agent_id", "=", value("agentId"))
    .whereRef("threshold_commitment.hiding", "=", "oldest.hiding")
    .where("threshold_commitment.used_at", "is", null)
    .returning(["threshold_commitment.request_id", "threshold_commitment.hiding", "binding"]);
});

/** The oldest ones, each for one request and no other. @returns fewer when there are not enough: roll back then */
export async function takeCommitments(
  tx: Db,
  owner: Owner,
  { requestIds, ...taking }: Taking,
): Promise<Array<Points & { readonly requestId: string }>> {
  const count = requestIds.length;
  const rows = await takeOldest(tx, { ...owner, ...taking, count, requests: JSON.stringify(requestIds) });
  return rows.map(({ request_id, hiding, binding }) => ({ requestId: request_id ?? "", hiding, binding }));
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
