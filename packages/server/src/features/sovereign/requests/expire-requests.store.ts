/** What time does to a request, and what is removed in the end. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { SigningRequestRow } from "./signing-request.store.ts";
import { MOST_ATTEMPTS } from "./signing-request.ts";
import { ending, failing, isChanged, waitsAgain } from "./transition.store.ts";

/** Where in time a request stands; read by `lapseOf`. */
export type TimesRow = Pick<
  SigningRequestRow,
  | "org_id"
  | "id"
  | "pool_id"
  | "state"
  | "attempts"
  | "lease_until"
  | "challenge_until"
  | "expires_at"
  | "ended_at"
>;

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
] as const satisfies ReadonlyArray<keyof TimesRow>;

/** Those of a pool's open requests whose time for something has come. */
export async function listLapsed(
  db: Db,
  { orgId, poolId, now, limit }: { orgId: string; poolId: string; now: number; limit: number },
): Promise<TimesRow[]> {
  return db
    .selectFrom("signing_request")
    .select(timeColumns)
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(sql<boolean>`ended_at is null and state <> 'signed'`)
    .where((eb) =>
      eb.or([eb("expires_at", "<=", now), eb("lease_until", "<=", now), eb("challenge_until", "<=", now)]),
    )
    .orderBy("created_at")
    .limit(limit)
    .execute();
}

/** Of any organisation: for the background. */
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

type Seen = { readonly orgId: string; readonly id: string; readonly seq: number; readonly isDue: boolean };

/** How far each of the requests is, and whether it needs to be settled. */
export async function listSeqs(
  db: Db,
  requests: ReadonlyArray<{ readonly orgId: string; readonly requestId: string }>,
  now: number,
): Promise<Seen[]> {
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

/** How many of the pool's requests wait for an agent, at most `limit`. */
export async function countPending(
  db: Db,
  { orgId, poolId, now, limit }: { orgId: string; poolId: string; now: number; limit: number },
): Promise<number> {
  const rows = await db
    .selectFrom("signing_request")
    .select("id")
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(sql<boolean>`ended_at is null and state <> 'signed'`)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .limit(limit)
    .execute();
  return rows.length;
}

/** Each asks once more for what it follows from: another node may be settling the same. */
export interface Settled {
  readonly row: TimesRow;
  readonly now: number;
}

const settledRow = (db: Db, { row }: Settled) =>
  db.updateTable("signing_request").where("org_id", "=", row.org_id).where("id", "=", row.id);

export const expireRequest = (db: Db, settled: Settled): Promise<boolean> =>
  isChanged(
    settledRow(db, settled)
      .set({ ...ending("expired", settled.now), signed: null })
      .where("ended_at", "is", null)
      .where("expires_at", "<=", settled.now),
  );

export const timeOutChallenge = (db: Db, settled: Settled): Promise<boolean> =>
  isChanged(
    settledRow(db, settled)
      .set(failing("challenge_timeout", settled.now))
      .where("state", "=", "challenge")
      .where("challenge_until", "<=", settled.now),
  );

const lapsedLease = (db: Db, settled: Settled) =>
  settledRow(db, settled)
    .where("state", "in", ["claimed", "challenge", "responded"])
    .where("lease_until", "<=", settled.now);

export const failExhausted = (db: Db, settled: Settled): Promise<boolean> =>
  isChanged(
    lapsedLease(db, settled).set(failing("max_attempts", settled.now)).where("attempts", ">=", MOST_ATTEMPTS),
  );

export const endLapsedLease = (db: Db, settled: Settled): Promise<boolean> =>
  isChanged(
    lapsedLease(db, settled)
      .set(waitsAgain)
      .where("attempts", "<", MOST_ATTEMPTS)
      .where("expires_at", ">", settled.now),
  );

/**
 * The user's no, to whatever it is that waits.
 * @param denial.asked the sealed challenge that it answers; absent for a no without one
 * @returns whose it was, and the agent that had it; undefined when it was final
 */
export async function denyRequest(
  db: Db,
  { orgId, requestId, asked, now }: { orgId: string; requestId: string; asked?: string; now: number },
): Promise<Pick<SigningRequestRow, "user_id" | "pool_id" | "claimed_by"> | undefined> {
  return db
    .updateTable("signing_request")
    .set(failing("user_denied", now))
    .where("org_id", "=", orgId)
    .where("id", "=", requestId)
    .where("state", "in", ["pending", "claimed", "challenge", "responded"])
    .where("expires_at", ">", now)
    .$if(asked !== undefined, (query) =>
      query.where("state", "=", "challenge").where("challenge", "=", asked ?? null),
    )
    .returning(["user_id", "pool_id", "claimed_by"])
    .executeTakeFirst();
}

/** What the browser of an ended request could still have gone on with. @returns how many, at most `limit` */
export async function forgetContinuations(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .updateTable("signing_request")
    .set({ continuation: null })
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("org_id", "id"),
        "in",
        selectFrom("signing_request")
          .select(["org_id", "id"])
          .where("continuation", "is not", null)
          .where("ended_at", "<", before)
          .limit(limit)
          .$asTuple("org_id", "id"),
      ),
    )
    .returning("id")
    .execute();
  return rows.length;
}

/** @returns how many were removed, at most `limit` */
export async function deleteOldRequests(db: Db, before: number, limit: number): Promise<number> {
  const rows = await db
    .deleteFrom("signing_request")
    .where(({ eb, refTuple, selectFrom }) =>
      eb(
        refTuple("org_id", "id"),
        "in",
        selectFrom("signing_request")
          .select(["org_id", "id"])
          .where("ended_at", "<", before)
          .orderBy("ended_at")
          .limit(limit)
          .$asTuple("org_id", "id"),
      ),
    )
    .returning("id")
    .execute();
  return rows.length;
}
