/** What an agent does with a request: each is one statement that asks for the state, the lease and the time. */
import { type ExpressionBuilder, sql } from "kysely";
import { isPostgres } from "../../../db/is-postgres.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import type { Schema } from "../../../db/schema.ts";
import type { SigningRequestRow } from "./signing-request.store.ts";
import {
  CHALLENGE_LEASE_MS,
  type FailReason,
  LEASE_MS,
  MOST_BAD_SUBMISSIONS,
  MOST_CHALLENGES,
} from "./signing-request.ts";
import { failing, forgotten, isChanged, nextSeq, waitsAgain } from "./transition.store.ts";

/** Spelled out as the partial index has it, or it would not be used. */
const isOpen = sql<boolean>`ended_at is null and state <> 'signed'`;

/** Agents' ids are UUIDs: nothing in them means anything to LIKE. */
const refusalOf = (agentId: string) => `%"${agentId}"%`;

type AgentOf = { orgId: string; poolId: string; agentId: string };

/** Oldest first. */
export async function listPending(
  db: Db,
  { orgId, poolId, agentId, now, max }: AgentOf & { now: number; max: number },
): Promise<SigningRequestRow[]> {
  return db
    .selectFrom("signing_request")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", now)
    .where("refused_by", "not like", refusalOf(agentId))
    .orderBy("created_at")
    .limit(max)
    .execute();
}

/** Those of the agent's leases whose challenge has been answered. */
export async function listAnswered(
  db: Db,
  { orgId, poolId, agentId, now }: AgentOf & { now: number },
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

type NewLease = AgentOf & {
  kid: string;
  leaseTokenHash: string;
  leaseUntil: number;
  rendering: string;
  now: number;
};
type Claiming = NewLease & { refusal: string };

const claim = (db: Db, value: Parameter<Claiming>) =>
  db
    .updateTable("signing_request")
    .set((eb) => ({
      state: "claimed",
      seq: nextSeq,
      attempts: eb("attempts", "+", 1),
      claimed_by: value("agentId"),
      kid: value("kid"),
      lease_token_hash: value("leaseTokenHash"),
      lease_until: value("leaseUntil"),
      rendering: value("rendering"),
    }))
    .where("org_id", "=", value("orgId"))
    .where("pool_id", "=", value("poolId"))
    .where("state", "=", "pending")
    .where("expires_at", ">", value("now"))
    .where("refused_by", "not like", value("refusal"))
    // A call may have been held since its agent was deactivated: it learns no more claims, and holds up nobody.
    .where(
      sql<boolean>`exists (select 1 from signing_agent a
        join signing_pool p on p.org_id = a.org_id and p.id = a.pool_id
        where a.org_id = ${value("orgId")} and a.id = ${value("agentId")} and a.pool_id = ${value("poolId")}
          and a.deactivated_at is null and p.disabled_at is null)`,
    );

const claimNamed = prepared((db, value: Parameter<Claiming & { requestId: string }>) =>
  claim(db, value).where("id", "=", value("requestId")).returningAll(),
);

const claimFirst = prepared((db, value: Parameter<Claiming>) =>
  claim(db, value)
    .where("id", "=", (eb) => {
      const oldest = eb
        .selectFrom("signing_request")
        .select("id")
        .where("org_id", "=", value("orgId"))
        .where("pool_id", "=", value("poolId"))
        .where(isOpen)
        .where("state", "=", "pending")
        .where("expires_at", ">", value("now"))
        .where("refused_by", "not like", value("refusal"))
        .orderBy("created_at")
        .limit(1);
      // SQLite's statements that write have the database to themselves.
      return isPostgres(db) ? oldest.forUpdate().skipLocked() : oldest;
    })
    .returningAll(),
);

/** @returns it as it is now; undefined when somebody was faster, or the agent gave it back before */
export async function claimRequest(
  db: Db,
  requestId: string,
  lease: NewLease,
): Promise<SigningRequestRow | undefined> {
  return (await claimNamed(db, { ...lease, requestId, refusal: refusalOf(lease.agentId) }))[0];
}

/** The oldest that waits, those left out that the agent gave back before. */
export async function claimOldest(db: Db, lease: NewLease): Promise<SigningRequestRow | undefined> {
  return (await claimFirst(db, { ...lease, refusal: refusalOf(lease.agentId) }))[0];
}

export interface Lease {
  readonly orgId: string;
  readonly poolId: string;
  readonly agentId: string;
  readonly requestId: string;
  /** SHA-256 of the lease token. */
  readonly hash: string;
  readonly now: number;
  /** Where its agent calls from. */
  readonly address?: string | undefined;
}

type LeasedBuilder = ExpressionBuilder<Schema, "signing_request">;

/** The lease holds, and the request has not expired. */
const isLeased =
  ({ orgId, poolId, agentId, requestId, hash, now }: Lease) =>
  (eb: LeasedBuilder) =>
    eb.and([
      eb("org_id", "=", orgId),
      eb("id", "=", requestId),
      eb("pool_id", "=", poolId),
      eb("claimed_by", "=", agentId),
      eb("lease_token_hash", "=", hash),
      eb("lease_until", ">", now),
      eb("expires_at", ">", now),
      eb("state", "in", ["claimed", "challenge", "responded"]),
    ]);

type Signed = {
  orgId: string;
  poolId: string;
  agentId: string;
  requestId: string;
  hash: string;
  now: number;
  rendering: string;
  signed: string;
  inputHashes: string;
  tokenIds: string;
  tokenExp: number;
  keptUntil: number;
};

const signLeased = prepared((db, value: Parameter<Signed>) =>
  db
    .updateTable("signing_request")
    .set({
      ...forgotten,
      state: "signed",
      seq: nextSeq,
      signed: value("signed"),
      signed_lease_hash: value("hash"),
      input_hashes: value("inputHashes"),
      token_ids: value("tokenIds"),
      token_exp: value("tokenExp"),
      signed_at: value("now"),
      expires_at: value("keptUntil"),
    })
    .where("org_id", "=", value("orgId"))
    .where("id", "=", value("requestId"))
    .where("pool_id", "=", value("poolId"))
    .where("claimed_by", "=", value("agentId"))
    .where("lease_token_hash", "=", value("hash"))
    .where("lease_until", ">", value("now"))
    .where("expires_at", ">", value("now"))
    .where("state", "in", ["claimed", "challenge", "responded"])
    // The bytes that were checked, not some that were rendered meanwhile.
    .where("rendering", "=", value("rendering"))
    .where(
      sql<boolean>`exists (select 1 from agent_key k
        join signing_agent a on a.org_id = k.org_id and a.id = k.agent_id
        join signing_pool p on p.org_id = a.org_id and p.id = a.pool_id
        join organisation o on o.id = p.org_id
        where k.org_id = signing_request.org_id and k.kid = signing_request.kid and k.agent_id = ${value("agentId")}
          and k.compromised_at is null and k.active_from <= ${value("now")}
          and (k.retiring_at is null or k.retiring_at > ${value("now")})
          and a.deactivated_at is null and p.disabled_at is null and o.disabled_at is null)`,
    )
    .returning("id"),
);

/** Lease, agent, key, pool and organisation must all still stand. */
export async function signRequest(db: Db, signed: Signed): Promise<boolean> {
  return (await signLeased(db, signed)).length > 0;
}

/** New tokens for the same lease; no other state. @param was as it was read */
export async function renderAgain(db: Db, lease: Lease, was: string, rendering: string): Promise<boolean> {
  return isChanged(
    db.updateTable("signing_request").set({ rendering }).where(isLeased(lease)).where("rendering", "=", was),
  );
}

/** @returns whether this was the one too many; undefined when the lease did not hold */
export async function countBadSubmission(db: Db, lease: Lease): Promise<"counted" | "failed" | undefined> {
  const leased = db
    .updateTable("signing_request")
    .set((eb) => ({ bad_submissions: eb("bad_submissions", "+", 1) }))
    .where(isLeased(lease));
  if (await isChanged(leased.where("bad_submissions", "<", MOST_BAD_SUBMISSIONS - 1))) return "counted";
  const isLast = await isChanged(
    leased.set(failing("bad_signatures", lease.now)).where("bad_submissions", ">=", MOST_BAD_SUBMISSIONS - 1),
  );
  return isLast ? "failed" : undefined;
}

/**
 * Asks the user.
 * @param challenge.was what was asked last, as it was read: the same call twice at once asks once
 * @returns false when the lease does not hold, nobody can be asked, or three were asked
 */
export async function openChallenge(
  db: Db,
  lease: Lease,
  challenge: { readonly was: string | null; readonly sealed: string; readonly until: number },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set((eb) => ({
        state: "challenge",
        seq: nextSeq,
        challenge: challenge.sealed,
        challenge_count: eb("challenge_count", "+", 1),
        challenge_until: challenge.until,
        lease_until: lease.now + CHALLENGE_LEASE_MS,
        answer: null,
        answered_at: null,
      }))
      .where(isLeased(lease))
      .where("state", "in", ["claimed", "responded"])
      .where("challenge", challenge.was === null ? "is" : "=", challenge.was)
      .where("interactive", "=", 1)
      .where("challenge_count", "<", MOST_CHALLENGES),
  );
}

/** The agent's no, for good. */
export const failLeased = (db: Db, lease: Lease, reason: FailReason): Promise<boolean> =>
  isChanged(db.updateTable("signing_request").set(failing(reason, lease.now)).where(isLeased(lease)));

/** As if it had never been claimed: nobody has heard of the lease. */
export async function undoClaim(db: Db, lease: Lease): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set((eb) => ({ ...waitsAgain, attempts: eb("attempts", "-", 1) }))
      .where(isLeased(lease))
      .where("state", "=", "claimed"),
  );
}

/** What an agent holds that is deactivated waits again, and that attempt does not count: nothing came of it. */
export async function endLeases(db: Db, { orgId, poolId, agentId }: AgentOf): Promise<void> {
  await db
    .updateTable("signing_request")
    .set((eb) => ({ ...waitsAgain, attempts: eb("attempts", "-", 1) }))
    .where("org_id", "=", orgId)
    .where("pool_id", "=", poolId)
    .where(isOpen)
    .where("claimed_by", "=", agentId)
    .where("state", "in", ["claimed", "challenge", "responded"])
    .execute();
}

/** The agent gives it back, for others. @param refusedBy the row's `refused_by` as it was read, with this agent added */
export async function giveBack(
  db: Db,
  lease: Lease,
  refusals: { readonly was: string; readonly refusedBy: string },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ ...waitsAgain, refused_by: refusals.refusedBy })
      .where(isLeased(lease))
      .where("refused_by", "=", refusals.was),
  );
}

/** Keeps the agent's leases for longer; no other state. @returns the state of each that it has */
export async function renewLeases(
  db: Db,
  {
    orgId,
    agentId,
    requestIds,
    now,
  }: Omit<AgentOf, "poolId"> & { requestIds: readonly string[]; now: number },
): Promise<Array<{ id: string; state: string }>> {
  return db
    .updateTable("signing_request")
    .set((eb) => ({
      lease_until: eb
        .case()
        .when("state", "=", "challenge")
        .then(now + CHALLENGE_LEASE_MS)
        .else(now + LEASE_MS)
        .end(),
    }))
    .where("org_id", "=", orgId)
    .where("id", "in", requestIds)
    .where("claimed_by", "=", agentId)
    .where("state", "in", ["claimed", "challenge", "responded"])
    .where("lease_until", ">", now)
    .where("expires_at", ">", now)
    .returning(["id", "state"])
    .execute();
}
