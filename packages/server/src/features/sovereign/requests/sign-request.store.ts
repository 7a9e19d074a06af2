/** Stores a signature, or counts a bad one. */
import { type ExpressionBuilder, sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { type Parameter, prepared } from "../../../db/prepared.ts";
import { lockedInOrder } from "../../../db/row-locks.ts";
import type { Schema } from "../../../db/schema.ts";
import { isLeased, isLeasedBy } from "./claim-request.store.ts";
import type { Lease } from "./lease.ts";
import { clearedColumns, failing, isChanged, nextSeq } from "./signing-request.store.ts";
import { MAX_BAD_SUBMISSIONS } from "./signing-request.ts";

type Signed = Omit<Lease, "address"> &
  Readonly<Record<"rendering" | "signed" | "inputHashes" | "tokenIds", string>> &
  Readonly<Record<"tokenExp" | "keptUntil", number>>;

const signedBy = (db: Db, value: Parameter<Signed>) =>
  db
    .updateTable("signing_request")
    .set({
      ...clearedColumns,
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
    .where(isLeasedBy(value))
    // The bytes that were checked, not a newer rendering.
    .where("rendering", "=", value("rendering"))
    .returning("created_at");

const signLeased = prepared((db, value: Parameter<Signed>) =>
  signedBy(db, value).where(
    sql<boolean>`exists (select 1 from agent_key k
        join signing_agent a on a.org_id = k.org_id and a.id = k.agent_id
        join signing_pool p on p.org_id = a.org_id and p.id = a.pool_id
        join organisation o on o.id = p.org_id
        where k.org_id = signing_request.org_id and k.kid = signing_request.kid and k.agent_id = ${value("agentId")}
          and k.compromised_at is null and k.active_from <= ${value("now")}
          and (k.retiring_at is null or k.retiring_at > ${value("now")})
          and a.deactivated_at is null and p.disabled_at is null and o.disabled_at is null)`,
  ),
);

/** By a group key, which no agent has: the lease is a round's (threshold/rounds.ts). */
const signShared = prepared((db, value: Parameter<Signed>) =>
  signedBy(db, value).where(
    sql<boolean>`exists (select 1 from agent_key k
      join signing_pool p on p.org_id = k.org_id and p.id = k.pool_id
      join organisation o on o.id = p.org_id
      where k.org_id = signing_request.org_id and k.kid = signing_request.kid and k.pool_id = signing_request.pool_id
        and k.ceremony_id is not null and k.compromised_at is null and k.active_from <= ${value("now")}
        and (k.retiring_at is null or k.retiring_at > ${value("now")})
        and p.disabled_at is null and o.disabled_at is null)`,
  ),
);

/**
 * Lease, agent, key, pool and organisation must all still be valid.
 * @returns since when it had waited; undefined when nothing was stored
 */
export async function storeSigned(db: Db, signed: Signed, isShared = false): Promise<number | undefined> {
  const [row] = await (isShared ? signShared : signLeased)(db, signed);
  return row?.created_at;
}

/** New tokens for the same lease; the state stays. @param before the rendering as it was read */
export async function replaceRendering(
  db: Db,
  lease: Lease,
  before: string,
  rendering: string,
): Promise<boolean> {
  return isChanged(
    db
      .updateTable("signing_request")
      .set({ rendering })
      .where(isLeased(lease))
      .where("rendering", "=", before),
  );
}

/** @returns `failed` when this was one too many; undefined when the lease is not valid */
export async function countBadSubmission(db: Db, lease: Lease): Promise<"counted" | "failed" | undefined> {
  const leased = db
    .updateTable("signing_request")
    .set((eb) => ({ bad_submissions: eb("bad_submissions", "+", 1) }))
    .where(isLeased(lease));
  if (await isChanged(leased.where("bad_submissions", "<", MAX_BAD_SUBMISSIONS - 1))) return "counted";
  const isLast = await isChanged(
    leased.set(failing("bad_signatures", lease.now)).where("bad_submissions", ">=", MAX_BAD_SUBMISSIONS - 1),
  );
  return isLast ? "failed" : undefined;
}

/** Fails what compromised keys signed and nobody has fetched yet. @returns the failed requests */
export async function failSignedBy(
  db: Db,
  { orgId, kids, now }: { orgId: string; kids: readonly string[]; now: number },
): Promise<string[]> {
  if (kids.length === 0) return [];
  const isSigned = (eb: ExpressionBuilder<Schema, "signing_request">) =>
    eb.and([
      allOf(eb, { org_id: orgId, state: "signed" }),
      eb("kid", "in", kids),
      eb("ended_at", "is", null),
    ]);
  const signed = db.selectFrom("signing_request").select("id").where(isSigned);
  const rows = await db
    .updateTable("signing_request")
    .set({ ...failing("key_unavailable", now), signed: null })
    .where("id", "in", lockedInOrder(db, signed, "id"))
    .where(isSigned)
    .returning("id")
    .execute();
  return rows.map(({ id }) => id);
}
