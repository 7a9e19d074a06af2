/** What an agent's poll reads: pending requests, answered challenges, and its leases. */
import type { ExpressionBuilder } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import { refusedByPattern } from "../requests/claim-request.store.ts";
import { isOpen, type SigningRequestRow } from "../requests/signing-request.store.ts";
import { CHALLENGE_LEASE_MS, LEASE_MS } from "../requests/signing-request.ts";

type AgentRef = { orgId: string; poolId: string; agentId: string };

/** Oldest first. */
export async function listPending(
  db: Db,
  { orgId, poolId, agentId, now, max }: AgentRef & { now: number; max: number },
): Promise<SigningRequestRow[]> {
  return db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .where("refused_by", "not like", refusedByPattern(agentId))
    .orderBy("created_at")
    .limit(max)
    .execute();
}

/** The agent's claims whose challenge has been answered. */
export async function listAnswered(
  db: Db,
  { orgId, poolId, agentId, now }: AgentRef & { now: number },
): Promise<SigningRequestRow[]> {
  return db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("claimed_by", "=", agentId)
    .where("lease_until", ">", now)
    .where("expires_at", ">", now)
    .where("state", "=", "responded")
    .orderBy("answered_at")
    .execute();
}

type Renewal = Omit<AgentRef, "poolId"> & { requestIds: readonly string[]; now: number };

/** @returns the state of each request the agent still has a lease on */
export async function extendLeases(
  db: Db,
  { orgId, agentId, requestIds, now }: Renewal,
): Promise<Array<{ id: string; state: string }>> {
  const isHeld = (eb: ExpressionBuilder<Schema, "signing_request">) =>
    eb.and([
      allOf(eb, { org_id: orgId, claimed_by: agentId }),
      eb("id", "in", requestIds),
      eb("state", "in", ["claimed", "challenge", "responded"]),
      eb("lease_until", ">", now),
      eb("expires_at", ">", now),
    ]);
  const held = db.selectFrom("signing_request").select("id").where(isHeld);
  return db
    .updateTable("signing_request")
    .set((eb) => ({
      lease_until: eb
        .case()
        .when("state", "=", "challenge")
        .then(eb.cast<number>(eb.val(now + CHALLENGE_LEASE_MS), "bigint"))
        .else(eb.val(now + LEASE_MS))
        .end(),
    }))
    .where("id", "in", lockedInOrder(db, held, "id"))
    .where(isHeld)
    .returning(["id", "state"])
    .execute();
}
