/** Idempotency keys: the reservation of the first request, and its stored response. */
import type { ExpressionBuilder } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRow } from "../../db/records.ts";
import type { Schema } from "../../db/schema.ts";

export interface RequestKey {
  readonly orgId: string;
  readonly accountId: string;
  /** SHA-256 of the Idempotency-Key. */
  readonly keyHash: string;
}

export interface Reservation extends RequestKey {
  readonly requestHash: string;
  readonly now: number;
  readonly expiresAt: number;
  /** A request without a response that started before this time has died, and has changed nothing. */
  readonly abandonedBefore: number;
}

/** @returns whether this request may run: it is the first of its key, or the first has expired or died */
export function reserveRequest(db: Db, request: Reservation): Promise<boolean> {
  const { orgId, accountId, keyHash, requestHash, now, expiresAt, abandonedBefore } = request;
  const times = { created_at: now, expires_at: expiresAt };
  const reservation = { request_hash: requestHash, status: null, headers: null, body: null, ...times };
  return hasRow(
    db
      .insertInto("idempotency_key")
      .values({ ...toRow({ orgId, accountId, keyHash }), ...reservation })
      .onConflict((conflict) =>
        conflict
          .columns(["org_id", "account_id", "key_hash"])
          .doUpdateSet(reservation)
          .where((eb) =>
            eb.or([
              eb("idempotency_key.expires_at", "<=", now),
              eb.and([
                eb("idempotency_key.status", "is", null),
                eb("idempotency_key.request_hash", "=", requestHash),
                eb("idempotency_key.created_at", "<=", abandonedBefore),
              ]),
            ]),
          ),
      )
      .returning("created_at"),
  );
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for a response without a body. */
  readonly body: string | undefined;
}

/** The answer is undefined while the first request is running. */
export async function findRequest(
  db: Db,
  { orgId, accountId, keyHash }: RequestKey,
): Promise<{ requestHash: string; answer: StoredAnswer | undefined } | undefined> {
  const row = await db
    .selectFrom("idempotency_key")
    .select(["request_hash", "status", "headers", "body"])
    .where((eb) => allOf(eb, toRow({ orgId, accountId, keyHash })))
    .executeTakeFirst();
  if (!row) return undefined;
  const headers = JSON.parse(row.headers ?? "{}") as Record<string, string>;
  const answer =
    row.status === null ? undefined : { status: row.status, headers, body: row.body ?? undefined };
  return { requestHash: row.request_hash, answer };
}

type Reserved = RequestKey & { readonly reservedAt: number };

/** The reservation, unless another request has taken it over or it has a response. */
const isReserved =
  ({ orgId, accountId, keyHash, reservedAt }: Reserved) =>
  (eb: ExpressionBuilder<Schema, "idempotency_key">) =>
    allOf(eb, { ...toRow({ orgId, accountId, keyHash }), created_at: reservedAt, status: null });

/** @param tx the transaction of the act. @returns false when another request has taken over the reservation */
export const storeAnswer = (
  tx: Db,
  reserved: Reserved,
  { status, headers, body }: StoredAnswer,
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("idempotency_key")
      .set({ status, headers: JSON.stringify(headers), body: body ?? null })
      .where(isReserved(reserved)),
  );

export async function releaseRequest(db: Db, reserved: Reserved): Promise<void> {
  await db.deleteFrom("idempotency_key").where(isReserved(reserved)).execute();
}
