/** Idempotency keys: the reservation of the first request, and its stored response. */
import type { Db } from "../../db/open.ts";

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
export async function reserveRequest(db: Db, request: Reservation): Promise<boolean> {
  const reservation = {
    request_hash: request.requestHash,
    status: null,
    headers: null,
    body: null,
    created_at: request.now,
    expires_at: request.expiresAt,
  };
  const reserved = await db
    .insertInto("idempotency_key")
    .values({
      org_id: request.orgId,
      account_id: request.accountId,
      key_hash: request.keyHash,
      ...reservation,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "account_id", "key_hash"])
        .doUpdateSet(reservation)
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

export interface StoredRequest {
  readonly requestHash: string;
  /** Undefined while the first request is running. */
  readonly answer: StoredAnswer | undefined;
}

export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; undefined for a response without a body. */
  readonly body: string | undefined;
}

export async function findRequest(db: Db, key: RequestKey): Promise<StoredRequest | undefined> {
  const row = await db
    .selectFrom("idempotency_key")
    .select(["request_hash", "status", "headers", "body"])
    .where((eb) => eb.and({ org_id: key.orgId, account_id: key.accountId, key_hash: key.keyHash }))
    .executeTakeFirst();
  if (!row) return undefined;
  const headers = JSON.parse(row.headers ?? "{}") as Record<string, string>;
  const answer =
    row.status === null ? undefined : { status: row.status, headers, body: row.body ?? undefined };
  return { requestHash: row.request_hash, answer };
}

/** @param tx the transaction of the act. @returns false when another request has taken over the reservation */
export async function storeAnswer(
  tx: Db,
  key: RequestKey & { readonly reservedAt: number },
  answer: StoredAnswer,
): Promise<boolean> {
  const stored = await tx
    .updateTable("idempotency_key")
    .set({
      status: answer.status,
      headers: JSON.stringify(answer.headers),
      body: answer.body ?? null,
    })
    .where((eb) => eb.and({ org_id: key.orgId, account_id: key.accountId, key_hash: key.keyHash }))
    .where("created_at", "=", key.reservedAt)
    .where("status", "is", null)
    .returning("created_at")
    .executeTakeFirst();
  return stored !== undefined;
}

export async function releaseRequest(
  db: Db,
  key: RequestKey & { readonly reservedAt: number },
): Promise<void> {
  await db
    .deleteFrom("idempotency_key")
    .where((eb) => eb.and({ org_id: key.orgId, account_id: key.accountId, key_hash: key.keyHash }))
    .where("created_at", "=", key.reservedAt)
    .where("status", "is", null)
    .execute();
}
