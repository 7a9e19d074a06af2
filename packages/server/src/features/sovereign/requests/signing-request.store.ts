/** Signing requests as rows: what begins and ends them. What an agent does with one is in requests/lease.store.ts. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { SigningRequestTable } from "../../../db/tables/sovereign-signing.ts";
import { MOST_OF_USER } from "./signing-request.ts";
import { failing, isChanged, nextSeq } from "./transition.store.ts";

export type SigningRequestRow = Readonly<SigningRequestTable>;

/** What a new row holds; the rest is empty. */
export type NewRow = Pick<
  SigningRequestTable,
  | "org_id"
  | "id"
  | "pool_id"
  | "application_id"
  | "user_id"
  | "grant_type"
  | "interactive"
  | "parent_request_id"
  | "claims"
  | "browser_session_hash"
  | "continuation"
  | "join_key_hash"
  | "waiter"
  | "waiter_until"
  | "created_at"
  | "expires_at"
>;

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
] as const satisfies ReadonlyArray<keyof NewRow>;

/** The `waiter_until` of what nobody waits for. */
export const NOBODY = 0;

const insertWhere = prepared((db, value: Parameter<NewRow & { agentsSince: number }>) =>
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
        // Without a browser nothing is queued for agents that are away (sovereign-signing.md §3).
        .where(
          sql<boolean>`(${value("interactive")} = 1 or exists (select 1 from signing_agent a
            where a.org_id = p.org_id and a.pool_id = p.id and a.deactivated_at is null
              and a.last_seen_at > ${value("agentsSince")}))`,
        )
        .where(
          sql<boolean>`(select case when count(*) < p.max_pending
              and count(case when r.user_id = ${value("user_id")} then 1 end) < ${sql.lit(MOST_OF_USER)} then 1 else 0 end
            from signing_request r
            where r.org_id = p.org_id and r.pool_id = p.id and r.ended_at is null and r.state <> 'signed'
              and r.expires_at > ${value("created_at")}) = 1`,
        ),
    )
    .returning("id"),
);

/**
 * Queues it when its pool works, has room (for this user, too), and an agent was seen after `agentsSince` (or a browser
 * waits). On PostgreSQL requests at the same moment may pass the limit by as many as there are connections.
 */
export async function insertRequest(db: Db, row: NewRow, agentsSince: number): Promise<boolean> {
  return (await insertWhere(db, { ...row, agentsSince })).length > 0;
}

type RequestKey = { orgId: string; requestId: string };

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

type Join = { orgId: string; applicationId: string; joinKeyHash: string; now: number };

const selectUnwaited = prepared((db, value: Parameter<Join>) =>
  db
    .selectFrom("signing_request")
    .select("id")
    .where("org_id", "=", value("orgId"))
    .where("join_key_hash", "=", value("joinKeyHash"))
    .where("application_id", "=", value("applicationId"))
    .where("ended_at", "is", null)
    .where("expires_at", ">", value("now"))
    // By its index: the many of the same call that are waited for are not looked at.
    .where("waiter_until", "<=", value("now"))
    // Who comes late gets new ones, as with a code (sovereign-signing.md §4).
    .where(sql<boolean>`(state <> 'signed' or (token_exp - ${value("now")}) * 2 >= token_exp - signed_at)`)
    .orderBy("created_at")
    .limit(1),
);

/** The oldest that the same call began before and nobody waits for, signed meanwhile (with half of its time left) or not. */
export async function joinRequest(
  db: Db,
  { waiter, until, ...join }: Join & { waiter: string; until: number },
): Promise<string | undefined> {
  // Mostly there is none: to read that is cheaper than to write nothing.
  for (;;) {
    const [found] = await selectUnwaited(db, join);
    if (!found) return undefined;
    const { orgId, now } = join;
    const row = await db
      .updateTable("signing_request")
      .set({ waiter, waiter_until: until })
      .where("org_id", "=", orgId)
      .where("id", "=", found.id)
      .where("ended_at", "is", null)
      .where("expires_at", ">", now)
      .where("waiter_until", "<=", now)
      .returning("id")
      .executeTakeFirst();
    // Another call was faster: perhaps there is one more.
    if (row) return row.id;
  }
}

export async function leaveRequest(db: Db, { orgId, requestId }: RequestKey, waiter: string): Promise<void> {
  await db
    .updateTable("signing_request")
    .set({ waiter: null, waiter_until: NOBODY })
    .where("org_id", "=", orgId)
    .where("id", "=", requestId)
    .where("waiter", "=", waiter)
    .execute();
}

type ReleaseOf = RequestKey & { seq: number; now: number; waiter: string | null };

const releaseSigned = prepared((db, value: Parameter<ReleaseOf>) =>
  db
    .updateTable("signing_request")
    .set({
      state: "released",
      seq: nextSeq,
      released_at: value("now"),
      ended_at: value("now"),
      signed: null,
      continuation: null,
      join_key_hash: null,
      waiter: null,
      waiter_until: null,
    })
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("requestId"))
    .where("state", "=", "signed")
    .where("seq", "=", value("seq"))
    .where("expires_at", ">", value("now"))
    .where(sql<boolean>`(cast(${value("waiter")} as text) is null or waiter = ${value("waiter")})`)
    // What a thief may have signed too is worth nothing.
    .where(
      sql<boolean>`not exists (select 1 from agent_key k where k.org_id = signing_request.org_id
        and k.kid = signing_request.kid and k.compromised_at is not null)`,
    )
    // Its client may have waited for a while: who was told to stop meanwhile gets nothing.
    .where(
      sql<boolean>`exists (select 1 from application a where a.org_id = signing_request.org_id
        and a.id = signing_request.application_id and a.disabled_at is null)`,
    )
    .returning("id"),
);

/**
 * The one release.
 * @param which.seq of the row as it was read with the JWTs in it: they are gone from it afterwards
 * @param which.waiter when given, it must still be the one who waits
 */
export async function releaseRequest(
  db: Db,
  { waiter, ...which }: RequestKey & { seq: number; waiter?: string | undefined; now: number },
): Promise<boolean> {
  return (await releaseSigned(db, { ...which, waiter: waiter ?? null })).length > 0;
}

/** Signed, but not released yet, by a key that was stolen meanwhile. @returns what is over */
export async function failSignedBy(
  db: Db,
  { orgId, kids, now }: { orgId: string; kids: readonly string[]; now: number },
): Promise<string[]> {
  if (kids.length === 0) return [];
  const rows = await db
    .updateTable("signing_request")
    .set({ ...failing("key_unavailable", now), signed: null })
    .where("org_id", "=", orgId)
    .where("kid", "in", kids)
    .where("state", "=", "signed")
    .where("ended_at", "is", null)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}

/** The browser's one way on. @param row as it was read with the continuation in it */
export async function clearContinuation(db: Db, row: SigningRequestRow): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ continuation: null })
      .where("org_id", "=", row.org_id)
      .where("id", "=", row.id)
      .where("state", "=", row.state)
      .where("continuation", "=", row.continuation),
  );
}

/** Signed JWTs are kept at least until then. */
export async function extendSigned(
  db: Db,
  { orgId, requestId, until, now }: RequestKey & { until: number; now: number },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set((eb) => ({
        expires_at: eb.case().when("expires_at", ">", until).then(eb.ref("expires_at")).else(until).end(),
      }))
      .where("org_id", "=", orgId)
      .where("id", "=", requestId)
      .where("state", "=", "signed")
      .where("expires_at", ">", now),
  );
}

type Answer = RequestKey & { asked: string; sealed: string; now: number };

/**
 * @param answer.asked the sealed challenge that it answers, as it was read
 * @returns the agent that waits for it
 */
export async function answerChallenge(db: Db, answer: Answer): Promise<string | undefined> {
  const row = await db
    .updateTable("signing_request")
    .set({
      state: "responded",
      seq: nextSeq,
      answer: answer.sealed,
      challenge_until: null,
      answered_at: answer.now,
    })
    .where("org_id", "=", answer.orgId)
    .where("id", "=", answer.requestId)
    .where("state", "=", "challenge")
    .where("challenge", "=", answer.asked)
    .where("challenge_until", ">", answer.now)
    .where("lease_until", ">", answer.now)
    .where("expires_at", ">", answer.now)
    .returning("claimed_by")
    .executeTakeFirst();
  return row?.claimed_by ?? undefined;
}
