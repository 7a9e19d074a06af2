import { deleteExpired } from "../../db/delete-expired.ts";
import type { Db } from "../../db/open.ts";

export interface RequestKey {
  readonly orgId: string;
  readonly accountId: string;
  /** SHA-256 of what the caller named the request. */
  readonly keyHash: string;
}

export interface Reservation extends RequestKey {
  /** SHA-256 of the request itself. */
  readonly requestHash: string;
  readonly now: number;
  readonly expiresAt: number;
  /** A first request that began before this and has no answer yet has died, and left nothing behind. */
  readonly abandonedBefore: number;
}

/** @returns whether this request may run: it is the first of its name, or the first one's time is over */
export async function reserveRequest(db: Db, request: Reservation): Promise<boolean> {
  const begun = {
    request_hash: request.requestHash,
    status: null,
    headers: null,
    body: null,
    created_at: request.now,
    expires_at: request.expiresAt,
  };
  const reserved = await db
    .insertInto("idempotency_key")
    .values({ org_id: request.orgId, account_id: request.accountId, key_hash: request.keyHash, ...begun })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "account_id", "key_hash"])
        .doUpdateSet(begun)
        .where((eb) =>
          eb.or([
            eb("idempotency_key.expires_at", "<=", request.now),
            eb.and([
              eb("idempotency_key.status", "is", null),
              eb("idempotency_key.request_hash", "=", request.requestHash),
              eb("idempotency_key.created_at", "<=", request.abandonedBefore),
            ]),
          ]),
        ),
    )
    .returning("created_at")
    .executeTakeFirst();
  return reserved !== undefined;
}

export interface KnownRequest {
  readonly requestHash: string;
  /** Undefined while the first request is under way. */
  readonly answer: KeptAnswer | undefined;
}

export interface KeptAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for an answer without a body. */
  readonly body: string | undefined;
}

export async function findRequest(db: Db, key: RequestKey): Promise<KnownRequest | undefined> {
  const row = await db
    .selectFrom("idempotency_key")
    .select(["request_hash", "status", "headers", "body"])
    .where("org_id", "=", key.orgId)
    .where("account_id", "=", key.accountId)
    .where("key_hash", "=", key.keyHash)
    .executeTakeFirst();
  if (!row) return undefined;
  const headers = JSON.parse(row.headers ?? "{}") as Record<string, string>;
  const answer =
    row.status === null ? undefined : { status: row.status, headers, body: row.body ?? undefined };
  return { requestHash: row.request_hash, answer };
}

/** In the transaction of the act. @returns false when the reservation is no longer this request's */
export async function keepAnswer(
  tx: Db,
  key: RequestKey & { readonly reservedAt: number },
  answer: KeptAnswer,
): Promise<boolean> {
  const kept = await tx
    .updateTable("idempotency_key")
    .set({
      status: answer.status,
      headers: JSON.stringify(answer.headers),
      body: answer.body ?? null,
    })
    .where("org_id", "=", key.orgId)
    .where("account_id", "=", key.accountId)
    .where("key_hash", "=", key.keyHash)
    .where("created_at", "=", key.reservedAt)
    .where("status", "is", null)
    .returning("created_at")
    .executeTakeFirst();
  return kept !== undefined;
}

export async function releaseRequest(
  db: Db,
  key: RequestKey & { readonly reservedAt: number },
): Promise<void> {
  await db
    .deleteFrom("idempotency_key")
    .where("org_id", "=", key.orgId)
    .where("account_id", "=", key.accountId)
    .where("key_hash", "=", key.keyHash)
    .where("created_at", "=", key.reservedAt)
    .where("status", "is", null)
    .execute();
}

/** @returns how many were deleted, at most `limit` */
export const deletePassedRequests = (db: Db, before: number, limit: number): Promise<number> =>
  deleteExpired(
    db,
    { table: "idempotency_key", key: ["org_id", "account_id", "key_hash"], column: "expires_at" },
    before,
    limit,
  );
