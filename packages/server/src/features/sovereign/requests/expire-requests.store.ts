/** Expires requests, leases and challenges, and deletes old rows. */
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import {
  ending,
  failing,
  isChanged,
  isOpen,
  resetToPending,
  type SigningRequestRow,
} from "./signing-request.store.ts";
import { MAX_ATTEMPTS } from "./signing-request.ts";

const timeColumns = [
  "org_id",
  "id",
  "pool_id",
  "state",
  "attempts",
  "lease_until",
  "challenge_until",
  "expires_at",
  "ended_at",
] as const satisfies ReadonlyArray<keyof SigningRequestRow>;

export type TimesRow = Pick<SigningRequestRow, (typeof timeColumns)[number]>;

type InPool = { orgId: string; poolId: string; now: number; limit: number };

/** A pool's open requests of which something has expired. */
export async function listDue(db: Db, { orgId, poolId, now, limit }: InPool): Promise<TimesRow[]> {
  return db
    .selectFrom("signing_request")
    .select(timeColumns)
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where((eb) =>
      eb.or([eb("expires_at", "<=", now), eb("lease_until", "<=", now), eb("challenge_until", "<=", now)]),
    )
    .orderBy("created_at")
    .limit(limit)
    .execute();
}

/** Of all organisations, for the housekeeping. */
export async function listExpired(db: Db, now: number, limit: number): Promise<TimesRow[]> {
  return db
    .selectFrom("signing_request")
    .select(timeColumns)
    .where("ended_at", "is", null)
    .where("expires_at", "<=", now)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
}

/** Each request's `seq`, and whether something of it has expired. */
export async function listSeqs(
  db: Db,
  requests: ReadonlyArray<{ readonly orgId: string; readonly requestId: string }>,
  now: number,
) {
  const rows = await db
    .selectFrom("signing_request")
    .select(["seq", ...timeColumns])
    .where("id", "in", [...new Set(requests.map(({ requestId }) => requestId))])
    .where("org_id", "in", [...new Set(requests.map(({ orgId }) => orgId))])
    .execute();
  return rows.map((row) => ({
    orgId: row.org_id,
    id: row.id,
    seq: row.seq,
    isDue:
      row.ended_at === null &&
      [row.expires_at, row.lease_until, row.challenge_until].some((at) => at !== null && at <= now),
  }));
}

/** How many of the pool's requests are pending, at most `limit`. */
export async function countPending(db: Db, { orgId, poolId, now, limit }: InPool): Promise<number> {
  const rows = await db
    .selectFrom("signing_request")
    .select("id")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .limit(limit)
    .execute();
  return rows.length;
}

/** Each statement checks its reason again: another node may apply the same expiry. */
export interface DueRequest {
  readonly row: TimesRow;
  readonly now: number;
}

const dueRow = (db: Db, { row }: DueRequest) =>
  db.updateTable("signing_request").where("org_id", "=", row.org_id).where("id", "=", row.id);

export const expireRequest = (db: Db, due: DueRequest): Promise<boolean> =>
  isChanged(
    dueRow(db, due)
      .set({ ...ending("expired", due.now), signed: null })
      .where("ended_at", "is", null)
      .where("expires_at", "<=", due.now),
  );

export const timeOutChallenge = (db: Db, due: DueRequest): Promise<boolean> =>
  isChanged(
    dueRow(db, due)
      .set(failing("challenge_timeout", due.now))
      .where("state", "=", "challenge")
      .where("challenge_until", "<=", due.now),
  );

const expiredLease = (db: Db, due: DueRequest) =>
  dueRow(db, due)
    .where("state", "in", ["claimed", "challenge", "responded"])
    .where("lease_until", "<=", due.now);

export const failExhausted = (db: Db, due: DueRequest): Promise<boolean> =>
  isChanged(
    expiredLease(db, due).set(failing("max_attempts", due.now)).where("attempts", ">=", MAX_ATTEMPTS),
  );

export const expireLease = (db: Db, due: DueRequest): Promise<boolean> =>
  isChanged(
    expiredLease(db, due)
      .set(resetToPending)
      .where("attempts", "<", MAX_ATTEMPTS)
      .where("expires_at", ">", due.now),
  );

const endedBefore = (db: Db, before: number, limit: number) =>
  db.selectFrom("signing_request").select(["org_id", "id"]).where("ended_at", "<", before).limit(limit);

/** @returns how many were found, at most `limit`; each is cleared by itself, as they are of many organisations */
export async function clearOldContinuations(db: Db, before: number, limit: number): Promise<number> {
  const rows = await endedBefore(db, before, limit).where("continuation", "is not", null).execute();
  for (const { org_id, id } of rows)
    await db
      .updateTable("signing_request")
      .set({ continuation: null })
      .where((eb) => allOf(eb, { org_id, id }))
      .execute();
  return rows.length;
}

/** @returns how many were found, at most `limit` */
export async function deleteOldRequests(db: Db, before: number, limit: number): Promise<number> {
  const rows = await endedBefore(db, before, limit).orderBy("ended_at").execute();
  for (const { org_id, id } of rows)
    await db
      .deleteFrom("signing_request")
      .where((eb) => allOf(eb, { org_id, id }))
      .execute();
  return rows.length;
}
