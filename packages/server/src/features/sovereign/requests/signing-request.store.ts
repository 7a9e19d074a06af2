/** The row of a signing request, and what every change of its state writes. */
import { sql, type UpdateQueryBuilder, type UpdateResult } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { Schema } from "../../../db/schema.ts";
import type { SigningRequestTable } from "../../../db/tables/sovereign-signing.ts";
import {
  type FailReason,
  openJson,
  type RequestKey,
  type SealedPart,
  type SigningDeps,
} from "./signing-request.ts";

export type SigningRequestRow = Readonly<SigningRequestTable>;

const selectRequest = prepared((db, value: Parameter<RequestKey>) =>
  db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("requestId")),
);

export async function findRequest(
  db: Db,
  { orgId, requestId }: RequestKey,
): Promise<SigningRequestRow | undefined> {
  return (await selectRequest(db, { orgId, requestId }))[0];
}

/** Those that exist, in any order. */
export async function findRequests(
  db: Db,
  orgId: string,
  requestIds: readonly string[],
): Promise<SigningRequestRow[]> {
  const [first, ...others] = requestIds;
  if (first === undefined) return [];
  if (others.length === 0) return selectRequest(db, { orgId, requestId: first });
  return db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "in", requestIds)
    .execute();
}

export const rowKey = (row: SigningRequestRow): RequestKey => ({ orgId: row.org_id, requestId: row.id });

/** @throws when the column is empty, was altered, or belongs to another row or column */
export const openColumn = <T>(
  { encryption }: Pick<SigningDeps, "encryption">,
  row: SigningRequestRow,
  column: SealedPart,
): T => openJson<T>(encryption, rowKey(row), column, row[column]);

/** Spelled as in the partial index, or the index is not used. */
export const isOpen = sql<boolean>`ended_at is null and state <> 'signed'`;

/** Every change of state raises `seq`, so that a waiter notices it. */
export const nextSeq = sql<number>`seq + 1`;

/** Columns that outlive neither a signature nor the end of a request (sovereign-signing.md §2, "Purge"). */
export const clearedColumns = {
  claims: null,
  rendering: null,
  challenge: null,
  challenge_until: null,
  answer: null,
  lease_token_hash: null,
  lease_until: null,
};

/** A final state: nobody waits for the request or joins it any more. */
export const ending = (state: "failed" | "expired", now: number) => ({
  ...clearedColumns,
  state,
  seq: nextSeq,
  join_key_hash: null,
  waiter: null,
  waiter_until: null,
  ended_at: now,
});

export const failing = (reason: FailReason, now: number) => ({
  ...ending("failed", now),
  fail_reason: reason,
});

/** The lease is over; its challenge is withdrawn with it. */
export const resetToPending = {
  state: "pending",
  seq: nextSeq,
  claimed_by: null,
  kid: null,
  rendering: null,
  challenge: null,
  challenge_until: null,
  answer: null,
  answered_at: null,
  lease_token_hash: null,
  lease_until: null,
};

/** @returns whether the statement found its row */
export async function isChanged(
  update: UpdateQueryBuilder<Schema, "signing_request", "signing_request", UpdateResult>,
): Promise<boolean> {
  return (await update.returning("id").executeTakeFirst()) !== undefined;
}
