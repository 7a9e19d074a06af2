/** The statements of approvals: each writes the whole plan, and only over the one that was read. */
import type { ExpressionBuilder } from "kysely";
import type { Db } from "../../../../db/open.ts";
import type { Schema } from "../../../../db/schema.ts";
import { isLeased, refusedByPattern } from "../claim-request.store.ts";
import type { Lease } from "../lease.ts";
import {
  isChanged,
  isOpen,
  nextSeq,
  resetToPending,
  type SigningRequestRow,
} from "../signing-request.store.ts";
import type { AgentCaller } from "../signing-request.ts";

/** Oldest first; without those that this agent has given back. */
export function listPending(
  db: Db,
  { orgId, poolId, agentId }: AgentCaller,
  { now, limit, requestId }: { now: number; limit: number; requestId?: string | undefined },
): Promise<SigningRequestRow[]> {
  let pending = db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .where("refused_by", "not like", refusedByPattern(agentId));
  if (requestId !== undefined) pending = pending.where("id", "=", requestId);
  return pending.orderBy("created_at").orderBy("id").limit(limit).execute();
}

const isAsRead =
  ({ org_id, id, approvals }: SigningRequestRow) =>
  (eb: ExpressionBuilder<Schema, "signing_request">) =>
    eb.and([
      eb("org_id", "=", org_id),
      eb("id", "=", id),
      eb("approvals", approvals === null ? "is" : "=", approvals),
    ]);

export interface ApprovalClaim {
  readonly agentId: string;
  readonly kid: string;
  readonly rendering: string;
  readonly approvals: string;
  readonly tokenHash: string;
  readonly leaseUntil: number;
  readonly now: number;
}

/** @returns undefined when it is no longer as it was read */
export function claimWithPlan(
  db: Db,
  row: SigningRequestRow,
  { agentId, kid, rendering, approvals, tokenHash, leaseUntil, now }: ApprovalClaim,
): Promise<SigningRequestRow | undefined> {
  return db
    .updateTable("signing_request")
    .set((eb) => ({
      state: "claimed",
      seq: nextSeq,
      attempts: eb("attempts", "+", 1),
      claimed_by: agentId,
      ...{ kid, rendering, approvals, lease_token_hash: tokenHash, lease_until: leaseUntil },
    }))
    .where(isAsRead(row))
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .returningAll()
    .executeTakeFirst();
}

/** The next agent's turn; a kept approval is no attempt that failed. */
export const keepApproval = (
  db: Db,
  lease: Lease,
  row: SigningRequestRow,
  approvals: string,
): Promise<boolean> =>
  isChanged(
    db
      .updateTable("signing_request")
      .set((eb) => ({ ...resetToPending, approvals, attempts: eb("attempts", "-", 1) }))
      .where(isLeased(lease))
      .where(isAsRead(row)),
  );

/** The bytes are too old: all of it begins again. */
export const dropPlan = (db: Db, lease: Lease): Promise<boolean> =>
  isChanged(
    db
      .updateTable("signing_request")
      .set({ ...resetToPending, approvals: null })
      .where(isLeased(lease)),
  );
