/** Inserts a signing request, and assigns the call that waits for it. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { SigningRequestTable } from "../../../db/tables/sovereign-signing.ts";
import { unsynced } from "../../../db/unsynced.ts";
import { MAX_PER_USER, type RequestKey } from "./signing-request.ts";

const newColumns = [
  "org_id",
  "id",
  "pool_id",
  "application_id",
  "user_id",
  "grant_type",
  "interactive",
  "parent_request_id",
  "claims",
  "browser_session_hash",
  "continuation",
  "join_key_hash",
  "waiter",
  "waiter_until",
  "created_at",
  "expires_at",
] as const satisfies ReadonlyArray<keyof SigningRequestTable>;

type NewRow = Pick<SigningRequestTable, (typeof newColumns)[number]>;

/** The `waiter_until` of a request that nobody waits for. */
export const NO_WAITER = 0;

/** `own_of`: the application of a request without a user. `anonymous_of`: the grant type, for somebody who has not authenticated. */
type Insertion = NewRow & { agentsSince: number; own_of: string | null; anonymous_of: string | null };

const insertion = (db: Db, value: Parameter<Insertion>, isSynced: boolean) =>
  db
    .insertInto("signing_request")
    .columns([...newColumns, "state", "seq", "attempts", "refused_by", "challenge_count", "bad_submissions"])
    .expression((eb) =>
      eb
        .selectFrom("signing_pool as p")
        .select([
          ...newColumns.map((name) => sql`${value(name)}`.as(name)),
          sql.lit("pending").as("state"),
          sql.lit(1).as("seq"),
          sql.lit(0).as("attempts"),
          sql.lit("[]").as("refused_by"),
          sql.lit(0).as("challenge_count"),
          sql.lit(0).as("bad_submissions"),
        ])
        .where("p.org_id", "=", value("org_id"))
        .where("p.id", "=", value("pool_id"))
        .where("p.disabled_at", "is", null)
        .$if(!isSynced, (query) => query.where(unsynced(db)))
        // Without a browser nothing is queued for agents that are away (sovereign-signing.md §3).
        .where(
          sql<boolean>`(${value("interactive")} = 1 or exists (select 1 from signing_agent a
            where a.org_id = p.org_id and a.pool_id = p.id and a.deactivated_at is null
              and a.last_seen_at > ${value("agentsSince")}))`,
        )
        .where(
          // Half of the queue for one user, three quarters for one client's own requests, of which a quarter for those that anybody
          // can make; a queue too small to share is not.
          sql<boolean>`(select case when count(*) < p.max_pending
              and count(case when r.user_id = ${value("user_id")} then 1 end)
                < case when p.max_pending < 3 then p.max_pending
                  when p.max_pending < ${sql.lit(2 * MAX_PER_USER)} then p.max_pending / 2
                  else ${sql.lit(MAX_PER_USER)} end
              and count(case when r.user_id is null and r.application_id = ${value("own_of")} then 1 end)
                < case when p.max_pending < 8 then p.max_pending else p.max_pending * 3 / 4 end
              and count(case when r.user_id is null and r.application_id = ${value("own_of")}
                  and r.grant_type = ${value("anonymous_of")} then 1 end)
                < case when p.max_pending < 8 then p.max_pending else p.max_pending / 4 end
              then 1 else 0 end
            from signing_request r
            where r.org_id = p.org_id and r.pool_id = p.id and r.ended_at is null and r.state <> 'signed'
              and r.expires_at > ${value("created_at")}) = 1`,
        ),
    )
    .returning("id");

const insertSynced = prepared((db, value: Parameter<Insertion>) => insertion(db, value, true));
const insertUnsynced = prepared((db, value: Parameter<Insertion>) => insertion(db, value, false));

/**
 * Inserts the request if its pool is enabled, has room (also for this user or client), and an agent was seen after `agentsSince` or a
 * browser waits. On PostgreSQL, simultaneous requests may exceed the limit by the number of connections.
 * Without a browser nobody knows of the request but the call that waits for it: with the process that call is gone too, and
 * what is made of the request later is synced.
 * @param db not a transaction
 */
export async function insertRequest(
  db: Db,
  row: NewRow,
  { agentsSince, isAnonymous }: { readonly agentsSince: number; readonly isAnonymous?: true | undefined },
): Promise<boolean> {
  const own_of = row.user_id === null ? row.application_id : null;
  const anonymous_of = isAnonymous ? row.grant_type : null;
  const insert = row.interactive === 1 ? insertSynced : insertUnsynced;
  return (await insert(db, { ...row, agentsSince, own_of, anonymous_of })).length > 0;
}

type Join = { orgId: string; applicationId: string; joinKeyHash: string; now: number };

const selectWithoutWaiter = prepared((db, value: Parameter<Join>) =>
  db
    .selectFrom("signing_request")
    .select("id")
    .where("org_id", "=", value("orgId"))
    .where("join_key_hash", "=", value("joinKeyHash"))
    .where("application_id", "=", value("applicationId"))
    .where("ended_at", "is", null)
    .where("expires_at", ">", value("now"))
    // Uses the index: requests of the same call that still have a waiter are not read.
    .where("waiter_until", "<=", value("now"))
    // After half of the tokens' lifetime they are signed anew, as with a code (sovereign-signing.md §4).
    .where(sql<boolean>`(state <> 'signed' or (token_exp - ${value("now")}) * 2 >= token_exp - signed_at)`)
    .orderBy("created_at")
    .limit(1),
);

/** Takes the oldest request with this join key that has no waiter, signed (with half of its lifetime left) or not. */
export async function assignWaiter(
  db: Db,
  { waiter, until, ...join }: Join & { waiter: string; until: number },
): Promise<string | undefined> {
  // There is rarely one, and a read is cheaper than an update that changes nothing.
  for (;;) {
    const [candidate] = await selectWithoutWaiter(db, join);
    if (!candidate) return undefined;
    const { orgId, now } = join;
    const row = await db
      .updateTable("signing_request")
      .set({ waiter, waiter_until: until })
      .where("org_id", "=", orgId)
      .where("id", "=", candidate.id)
      .where("ended_at", "is", null)
      .where("expires_at", ">", now)
      .where("waiter_until", "<=", now)
      .returning("id")
      .executeTakeFirst();
    // Another call took this one; there may be a second.
    if (row) return row.id;
  }
}

/** The waiter is gone: the next identical call may join the request. */
export async function removeWaiter(db: Db, { orgId, requestId }: RequestKey, waiter: string): Promise<void> {
  await db
    .updateTable("signing_request")
    .set({ waiter: null, waiter_until: NO_WAITER })
    .where("org_id", "=", orgId)
    .where("id", "=", requestId)
    .where("waiter", "=", waiter)
    .execute();
}
