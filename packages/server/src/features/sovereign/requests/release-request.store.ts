/** Releases signed JWTs and continuations, each once. */
import { sql } from "kysely";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { isChanged, nextSeq, type SigningRequestRow } from "./signing-request.store.ts";
import type { RequestKey } from "./signing-request.ts";

type Release = RequestKey & { seq: number; now: number; waiter: string | null };

const updateSigned = prepared((db, value: Parameter<Release>) =>
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
    // A compromised key's signatures are worthless.
    .where(
      sql<boolean>`not exists (select 1 from agent_key k where k.org_id = signing_request.org_id
        and k.kid = signing_request.kid and k.compromised_at is not null)`,
    )
    // The application may have been disabled while its client waited.
    .where(
      sql<boolean>`exists (select 1 from application a where a.org_id = signing_request.org_id
        and a.id = signing_request.application_id and a.disabled_at is null)`,
    )
    .returning("id"),
);

/**
 * Succeeds once; clears the JWTs.
 * @param which.seq of the row as it was read with the JWTs
 * @param which.waiter must still be assigned, when given
 */
export async function releaseSigned(
  db: Db,
  { waiter, ...which }: RequestKey & { seq: number; waiter?: string | undefined; now: number },
): Promise<boolean> {
  return (await updateSigned(db, { ...which, waiter: waiter ?? null })).length > 0;
}

/** Succeeds once. @param row as it was read with the continuation */
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

/** Keeps signed JWTs at least until then. */
export async function extendSigned(
  db: Db,
  { orgId, requestId, until, now }: RequestKey & { until: number; now: number },
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ expires_at: sql<number>`case when expires_at > ${until} then expires_at else ${until} end` })
      .where("org_id", "=", orgId)
      .where("id", "=", requestId)
      .where("state", "=", "signed")
      .where("expires_at", ">", now),
  );
}
