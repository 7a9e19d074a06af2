/** The statements that begin and end a claim: each checks state, lease and time in its own `where`. */
import { type ExpressionBuilder, sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import { unsynced } from "../../../db/unsynced.ts";
import type { Lease } from "./lease.ts";
import {
  failing,
  isChanged,
  isOpen,
  nextSeq,
  resetToPending,
  type SigningRequestRow,
} from "./signing-request.store.ts";
import type { FailReason } from "./signing-request.ts";

/** Agent ids are UUIDs: they contain no LIKE wildcards. */
export const refusedByPattern = (agentId: string) => `%"${agentId}"%`;

type AgentRef = { orgId: string; poolId: string; agentId: string };

/** Each request gets its own; JSON, so that one statement can give them out. */
export type NewLease = {
  readonly tokenHash: string;
  /** JSON. */
  readonly rendering: string;
};

type Claiming = AgentRef & { kid: string; leaseUntil: number; now: number };
type ClaimingOf = Claiming & { refusal: string };

const claimedBy = (value: Parameter<ClaimingOf>) => (eb: ExpressionBuilder<Schema, "signing_request">) => ({
  state: "claimed",
  seq: nextSeq,
  attempts: eb("attempts", "+", 1),
  claimed_by: value("agentId"),
  kid: value("kid"),
  lease_until: value("leaseUntil"),
});

const isClaimable = (value: Parameter<ClaimingOf>) => (eb: ExpressionBuilder<Schema, "signing_request">) =>
  eb.and([
    eb("org_id", "=", value("orgId")),
    eb("pool_id", "=", value("poolId")),
    eb("state", "=", "pending"),
    eb("expires_at", ">", value("now")),
    eb("refused_by", "not like", value("refusal")),
  ]);

/** The agent may have been deactivated while its call was held. */
const isAgentActive = (value: Parameter<ClaimingOf>) =>
  sql<boolean>`exists (select 1 from signing_agent a
    join signing_pool p on p.org_id = a.org_id and p.id = a.pool_id
    where a.org_id = ${value("orgId")} and a.id = ${value("agentId")} and a.pool_id = ${value("poolId")}
      and a.deactivated_at is null and p.disabled_at is null)`;

const claimNamed = prepared((db, value: Parameter<ClaimingOf & NewLease & { requestId: string }>) =>
  db
    .updateTable("signing_request")
    .set((eb) => ({
      ...claimedBy(value)(eb),
      lease_token_hash: value("tokenHash"),
      rendering: value("rendering"),
    }))
    .where("id", "=", value("requestId"))
    .where(isClaimable(value))
    .where(isAgentActive(value))
    .returningAll(),
);

/** A member of the n-th object in a JSON list, n from 1. */
const nthMember = (db: Db, list: string, member: keyof NewLease) =>
  isPostgres(db)
    ? sql<string>`cast(${list} as jsonb) -> cast(oldest.n - 1 as int) ->> ${sql.lit(member)}`
    : sql<string>`json_extract(${list}, '$[' || (oldest.n - 1) || '].' || ${sql.lit(member)})`;

const selectOldest = (db: Db, value: Parameter<ClaimingOf & { count: number }>) => {
  const oldest = db
    .selectFrom("signing_request")
    .select(["id", "created_at"])
    .where(isOpen)
    .where(isClaimable(value))
    .orderBy("created_at")
    .limit(value("count"));
  // SQLite runs one writing statement at a time.
  return isPostgres(db) ? oldest.forUpdate().skipLocked() : oldest;
};

const claimFirst = prepared((db, value: Parameter<ClaimingOf & { count: number; leases: string }>) => {
  const update = db
    .with(
      // Materialized: read twice, it would lock other rows than it returns.
      (cte) => cte("oldest").materialized(),
      () =>
        db
          .selectFrom(selectOldest(db, value).as("found"))
          .select(["id", sql<number>`row_number() over (order by created_at, id)`.as("n")]),
    )
    .updateTable("signing_request")
    .from("oldest")
    .set((eb) => ({
      ...claimedBy(value)(eb as unknown as ExpressionBuilder<Schema, "signing_request">),
      lease_token_hash: nthMember(db, value("leases"), "tokenHash"),
      rendering: nthMember(db, value("leases"), "rendering"),
    }))
    .whereRef("signing_request.id", "=", "oldest.id")
    .where((eb) => isClaimable(value)(eb as unknown as ExpressionBuilder<Schema, "signing_request">))
    .where(isAgentActive(value))
    // A lost claim is one that nobody has heard of: the request is pending again, and the agent's signature refused.
    .where(unsynced(db));
  return isPostgres(db) ? update.returningAll("signing_request") : update.returningAll();
}) as unknown as (
  db: Db,
  values: ClaimingOf & { count: number; leases: string },
) => Promise<SigningRequestRow[]>;

/** @returns undefined when another agent was faster, or this one rejected the request before */
export async function claimById(
  db: Db,
  requestId: string,
  claiming: Claiming,
  lease: NewLease,
): Promise<SigningRequestRow | undefined> {
  const refusal = refusedByPattern(claiming.agentId);
  return (await claimNamed(db, { ...claiming, ...lease, requestId, refusal }))[0];
}

/**
 * The oldest pending requests that this agent hasn't rejected, as many as there are leases, each with one of them.
 * @param db not a transaction: the statement is not synced (unsynced.ts)
 */
export async function claimOldest(
  db: Db,
  claiming: Claiming,
  leases: readonly NewLease[],
): Promise<SigningRequestRow[]> {
  const rows = await claimFirst(db, {
    ...claiming,
    refusal: refusedByPattern(claiming.agentId),
    count: leases.length,
    leases: JSON.stringify(leases),
  });
  return rows.toSorted((one, other) => one.created_at - other.created_at);
}

/** The lease is valid, and the request has not expired. */
export const isLeased = (lease: Lease) => isLeasedBy((name) => lease[name]);

/** The same in a prepared statement. */
export const isLeasedBy =
  (value: <Name extends Exclude<keyof Lease, "address">>(name: Name) => Lease[Name]) =>
  (eb: ExpressionBuilder<Schema, "signing_request">) =>
    eb.and([
      eb("org_id", "=", value("orgId")),
      eb("id", "=", value("requestId")),
      eb("pool_id", "=", value("poolId")),
      eb("claimed_by", "=", value("agentId")),
      eb("lease_token_hash", "=", value("hash")),
      eb("lease_until", ">", value("now")),
      eb("expires_at", ">", value("now")),
      eb("state", "in", ["claimed", "challenge", "responded"]),
    ]);

/** As if the request had never been claimed. */
export async function revertClaim(db: Db, lease: Lease): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set((eb) => ({ ...resetToPending, attempts: eb("attempts", "-", 1) }))
      .where(isLeased(lease))
      .where("state", "=", "claimed"),
  );
}

/** Releases the claims of an agent that is deactivated; these attempts don't count. */
export async function releaseClaims(db: Db, { orgId, poolId, agentId }: AgentRef): Promise<void> {
  const isClaimed = (eb: ExpressionBuilder<Schema, "signing_request">) =>
    eb.and([
      allOf(eb, { org_id: orgId, pool_id: poolId, claimed_by: agentId }),
      isOpen,
      eb("state", "in", ["claimed", "challenge", "responded"]),
    ]);
  const claimed = db.selectFrom("signing_request").select("id").where(isClaimed);
  await db
    .updateTable("signing_request")
    .set((eb) => ({ ...resetToPending, attempts: eb("attempts", "-", 1) }))
    .where("id", "in", lockedInOrder(db, claimed, "id"))
    .where(isClaimed)
    .execute();
}

export const failLeased = (db: Db, lease: Lease, reason: FailReason): Promise<boolean> =>
  isChanged(db.updateTable("signing_request").set(failing(reason, lease.now)).where(isLeased(lease)));

/** @param refusals.refusedBy the row's `refused_by` as it was read, with this agent added */
export async function returnToQueue(
  db: Db,
  lease: Lease,
  refusals: { readonly before: string; readonly refusedBy: string },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ ...resetToPending, refused_by: refusals.refusedBy })
      .where(isLeased(lease))
      .where("refused_by", "=", refusals.before),
  );
}
