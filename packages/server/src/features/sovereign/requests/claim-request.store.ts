/** The statements that begin and end a claim: each checks state, lease and time in its own `where`. */
import { type ExpressionBuilder, sql } from "kysely";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { Schema } from "../../../db/schema.ts";
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

type NewLease = AgentRef & {
  kid: string;
  leaseTokenHash: string;
  leaseUntil: number;
  rendering: string;
  now: number;
};
type Claiming = NewLease & { refusal: string };

const claim = (db: Db, value: Parameter<Claiming>) =>
  db
    .updateTable("signing_request")
    .set((eb) => ({
      state: "claimed",
      seq: nextSeq,
      attempts: eb("attempts", "+", 1),
      claimed_by: value("agentId"),
      kid: value("kid"),
      lease_token_hash: value("leaseTokenHash"),
      lease_until: value("leaseUntil"),
      rendering: value("rendering"),
    }))
    .where("org_id", "=", value("orgId"))
    .where("pool_id", "=", value("poolId"))
    .where("state", "=", "pending")
    .where("expires_at", ">", value("now"))
    .where("refused_by", "not like", value("refusal"))
    // The agent may have been deactivated while its call was held.
    .where(
      sql<boolean>`exists (select 1 from signing_agent a
        join signing_pool p on p.org_id = a.org_id and p.id = a.pool_id
        where a.org_id = ${value("orgId")} and a.id = ${value("agentId")} and a.pool_id = ${value("poolId")}
          and a.deactivated_at is null and p.disabled_at is null)`,
    );

const claimNamed = prepared((db, value: Parameter<Claiming & { requestId: string }>) =>
  claim(db, value).where("id", "=", value("requestId")).returningAll(),
);

const claimFirst = prepared((db, value: Parameter<Claiming>) =>
  claim(db, value)
    .where("id", "=", (eb) => {
      const oldest = eb
        .selectFrom("signing_request")
        .select("id")
        .where("org_id", "=", value("orgId"))
        .where("pool_id", "=", value("poolId"))
        .where(isOpen)
        .where("state", "=", "pending")
        .where("expires_at", ">", value("now"))
        .where("refused_by", "not like", value("refusal"))
        .orderBy("created_at")
        .limit(1);
      // SQLite runs one writing statement at a time.
      return isPostgres(db) ? oldest.forUpdate().skipLocked() : oldest;
    })
    .returningAll(),
);

/** @returns undefined when another agent was faster, or this one rejected the request before */
export async function claimById(
  db: Db,
  requestId: string,
  lease: NewLease,
): Promise<SigningRequestRow | undefined> {
  return (await claimNamed(db, { ...lease, requestId, refusal: refusedByPattern(lease.agentId) }))[0];
}

/** The oldest pending request that this agent hasn't rejected. */
export async function claimOldest(db: Db, lease: NewLease): Promise<SigningRequestRow | undefined> {
  return (await claimFirst(db, { ...lease, refusal: refusedByPattern(lease.agentId) }))[0];
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
  await db
    .updateTable("signing_request")
    .set((eb) => ({ ...resetToPending, attempts: eb("attempts", "-", 1) }))
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("claimed_by", "=", agentId)
    .where("state", "in", ["claimed", "challenge", "responded"])
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
