/** Opens a challenge, and stores what the user answers. */
import type { Db } from "../../../../db/open.ts";
import { isLeased } from "../claim-request.store.ts";
import type { Lease } from "../lease.ts";
import { failing, isChanged, nextSeq, type SigningRequestRow } from "../signing-request.store.ts";
import { CHALLENGE_LEASE_MS, MAX_CHALLENGES, type RequestKey } from "../signing-request.ts";

/**
 * @param challenge.was the last challenge as it was read, so that two simultaneous calls open one challenge
 * @returns false when the lease is not valid, no browser waits, or the limit is reached
 */
export async function openChallenge(
  db: Db,
  lease: Lease,
  challenge: { readonly before: string | null; readonly sealed: string; readonly until: number },
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
      .where("challenge", challenge.before === null ? "is" : "=", challenge.before)
      .where("interactive", "=", 1)
      .where("challenge_count", "<", MAX_CHALLENGES),
  );
}

type Answer = RequestKey & { challenge: string; sealed: string; now: number };

/** @param answer.challenge the sealed challenge that it answers, as it was read. @returns the agent that waits for it */
export async function storeAnswer(db: Db, answer: Answer): Promise<string | undefined> {
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
    .where("challenge", "=", answer.challenge)
    .where("challenge_until", ">", answer.now)
    .where("lease_until", ">", answer.now)
    .where("expires_at", ">", answer.now)
    .returning("claimed_by")
    .executeTakeFirst();
  return row?.claimed_by ?? undefined;
}

/**
 * The user refuses, whatever the request waits for.
 * @param denial.challenge the sealed challenge that is refused; absent to refuse the request as a whole
 * @returns the user, the pool and the claiming agent; undefined when the request was final
 */
export async function denyRequest(
  db: Db,
  { orgId, requestId, challenge, now }: RequestKey & { challenge: string | undefined; now: number },
): Promise<Pick<SigningRequestRow, "user_id" | "pool_id" | "claimed_by"> | undefined> {
  return db
    .updateTable("signing_request")
    .set(failing("user_denied", now))
    .where("org_id", "=", orgId)
    .where("id", "=", requestId)
    .where("state", "in", ["pending", "claimed", "challenge", "responded"])
    .where("expires_at", ">", now)
    .$if(challenge !== undefined, (query) =>
      query.where("state", "=", "challenge").where("challenge", "=", challenge ?? null),
    )
    .returning(["user_id", "pool_id", "claimed_by"])
    .executeTakeFirst();
}
