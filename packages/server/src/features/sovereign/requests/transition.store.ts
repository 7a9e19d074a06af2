/** What the statements that change a signing request's state write, each the same wherever it is done. */
import { sql, type UpdateQueryBuilder, type UpdateResult } from "kysely";
import type { Schema } from "../../../db/schema.ts";
import type { FailReason } from "./signing-request.ts";

/** Nothing of it outlives the end of a request, nor its signature (sovereign-signing.md §2, "Purge"). */
export const forgotten = {
  claims: null,
  rendering: null,
  challenge: null,
  challenge_until: null,
  answer: null,
  lease_token_hash: null,
  lease_until: null,
};

/** Every change of state counts, so that whoever waits sees that there was one. */
export const nextSeq = sql<number>`seq + 1`;

/** At a final state also nobody waits for it any more, and nobody joins it. */
export const ending = (state: "failed" | "expired", now: number) => ({
  ...forgotten,
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

/** A lease that has ended, whatever ended it: the challenge is withdrawn with it. */
export const waitsAgain = {
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

/** @returns whether there was a row as the statement wants it */
export async function isChanged(
  update: UpdateQueryBuilder<Schema, "signing_request", "signing_request", UpdateResult>,
): Promise<boolean> {
  return (await update.returning("id").executeTakeFirst()) !== undefined;
}
