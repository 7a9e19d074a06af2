/** Values that may be seen once, on whichever node: kept as SHA-256 for as long as they could be shown again. */
import { sha256Base64url } from "@signet/protocol/hash";
import { deleteExpired } from "../db/delete-expired.ts";
import type { Db } from "../db/open.ts";
import { type Parameter, prepared } from "../db/prepared.ts";

type ConsumedRow = { org_id: string; kind: string; value_hash: string; expires_at: number };

const consume = prepared((db, value: Parameter<ConsumedRow>) =>
  db
    .insertInto("consumed_value")
    .values({
      org_id: value("org_id"),
      kind: value("kind"),
      value_hash: value("value_hash"),
      expires_at: value("expires_at"),
    })
    .onConflict((conflict) => conflict.columns(["org_id", "kind", "value_hash"]).doNothing())
    .returning("value_hash"),
);

/**
 * @param once.value names the value within its kind, whoever it belongs to included
 * @param once.expiresAt milliseconds; from then on the value itself is refused for its age
 * @returns whether this was the first time
 */
export async function consumeOnce(
  db: Db,
  once: { orgId: string; kind: string; value: string; expiresAt: number },
): Promise<boolean> {
  const row = {
    org_id: once.orgId,
    kind: once.kind,
    value_hash: sha256Base64url(once.value),
    expires_at: once.expiresAt,
  };
  return (await consume(db, row)).length > 0;
}

/** @returns how many were deleted, at most `limit` */
export const deletePassedValues = (db: Db, before: number, limit: number): Promise<number> =>
  deleteExpired(
    db,
    { table: "consumed_value", key: ["org_id", "kind", "value_hash"], column: "expires_at" },
    before,
    limit,
  );
