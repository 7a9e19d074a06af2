/** Rounds are begun: what is pending is claimed by its round, with a part for each agent that is asked; a few statements for all. */
import { sql } from "kysely";
import { isPostgres } from "../../../db/is-postgres.ts";
import { jsonRows } from "../../../db/json-rows.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { isOpen, nextSeq, type SigningRequestRow } from "../requests/signing-request.store.ts";
import type { InPool } from "./round.store.ts";

const selectPending = (db: Db, value: Parameter<InPool>) =>
  db
    .selectFrom("signing_request")
    .where("org_id", "=", value("orgId"))
    .where("pool_id", "=", value("poolId"))
    .where(isOpen)
    .where("state", "=", "pending")
    .where("expires_at", ">", value("now"));

const selectOldest = prepared((db, value: Parameter<InPool & { readonly limit: number }>) => {
  const oldest = selectPending(db, value)
    .selectAll()
    .orderBy("created_at")
    .orderBy("id")
    .limit(value("limit"));
  return isPostgres(db) ? oldest.forUpdate().skipLocked() : oldest;
});

/** The oldest pending requests of the pool. On PostgreSQL they are locked, and those that another node has are skipped. */
export const lockPending = (tx: Db, pool: InPool, limit: number): Promise<SigningRequestRow[]> =>
  selectOldest(tx, { ...pool, limit });

const selectFirst = prepared((db, value: Parameter<InPool>) =>
  selectPending(db, value).select("id").limit(sql.lit(1)),
);

/** Whether anything is pending: asked before a transaction is begun for it. */
export const hasPending = async (db: Db, pool: InPool): Promise<boolean> =>
  (await selectFirst(db, pool)).length > 0;

export interface RoundClaim {
  readonly requestId: string;
  readonly roundId: string;
  readonly roundHash: string;
  /** JSON. */
  readonly rendering: string;
}

type NewRounds = {
  readonly orgId: string;
  /** Of the group key. */
  readonly kid: string;
  readonly until: number;
};

const claimAll = prepared((db, value: Parameter<NewRounds & { readonly rounds: string }>) => {
  const members = ["requestId", "roundId", "roundHash", "rendering"] as const;
  return db
    .updateTable("signing_request")
    .from(jsonRows(db, value("rounds"), members).as("r"))
    .set((eb) => ({
      state: "claimed",
      seq: nextSeq,
      attempts: eb("attempts", "+", 1),
      claimed_by: eb.ref("r.roundId"),
      kid: value("kid"),
      rendering: eb.ref("r.rendering"),
      lease_token_hash: eb.ref("r.roundHash"),
      lease_until: value("until"),
    }))
    .where("signing_request.org_id", "=", value("orgId"))
    .whereRef("signing_request.id", "=", "r.requestId")
    .where("signing_request.state", "=", "pending")
    .returning("signing_request.id");
});

/** @returns false when one of them is pending no more: roll back then */
export async function claimForRounds(
  tx: Db,
  rounds: NewRounds,
  claims: readonly RoundClaim[],
): Promise<boolean> {
  const claimed = await claimAll(tx, { ...rounds, rounds: JSON.stringify(claims) });
  return claimed.length === claims.length;
}

const MEMBERS = ["roundId", "agentId", "requestId", "state", "commitments"] as const;

/** `state`: `handed` to the agent that begins the round, `asked` of others. `commitments` is JSON. */
export type NewPart = Readonly<Record<(typeof MEMBERS)[number], string>>;

type OfParts = {
  readonly orgId: string;
  readonly poolId: string;
  readonly ceremonyId: string | null;
  readonly now: number;
  readonly until: number;
};

const insertAll = prepared((db, value: Parameter<OfParts & { readonly parts: string }>) => {
  const text = (name: "orgId" | "poolId" | "ceremonyId") => sql<string>`cast(${value(name)} as text)`;
  const number = (name: "now" | "until") => sql<number>`cast(${value(name)} as bigint)`;
  return db
    .insertInto("threshold_part")
    .columns([
      ...(["org_id", "round_id", "agent_id", "request_id", "pool_id", "ceremony_id"] as const),
      ...(["state", "commitments", "created_at", "until"] as const),
    ])
    .expression(
      db
        .selectFrom(jsonRows(db, value("parts"), MEMBERS).as("r"))
        .select((eb) => [
          text("orgId").as("org_id"),
          eb.ref("r.roundId").as("round_id"),
          eb.ref("r.agentId").as("agent_id"),
          eb.ref("r.requestId").as("request_id"),
          text("poolId").as("pool_id"),
          text("ceremonyId").as("ceremony_id"),
          eb.ref("r.state").as("state"),
          eb.ref("r.commitments").as("commitments"),
          number("now").as("created_at"),
          number("until").as("until"),
        ]),
    );
});

export async function insertParts(tx: Db, of: OfParts, parts: readonly NewPart[]): Promise<void> {
  await insertAll(tx, { ...of, parts: JSON.stringify(parts) });
}
