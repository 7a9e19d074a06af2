/** Single-use values such as nonces and assertion ids, on every node: stored as SHA-256 until they expire anyway. */
import { sha256Base64url } from "@signet/protocol/hash";
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
 * @param use.value unique within its kind, so it includes its owner
 * @param use.expiresAt milliseconds; from then on the value is refused for its age
 * @returns whether this is the first use
 */
export async function consumeOnce(
  db: Db,
  use: { orgId: string; kind: string; value: string; expiresAt: number },
): Promise<boolean> {
  const row = {
    org_id: use.orgId,
    kind: use.kind,
    value_hash: sha256Base64url(use.value),
    expires_at: use.expiresAt,
  };
  return (await consume(db, row)).length > 0;
}

/** Whether the value was used. What follows from it is decided by `consumeOnce` alone. */
export async function isConsumed(
  db: Db,
  { orgId, kind, value }: { orgId: string; kind: string; value: string },
): Promise<boolean> {
  const row = await db
    .selectFrom("consumed_value")
    .select("kind")
    .where("org_id", "=", orgId)
    .where("kind", "=", kind)
    .where("value_hash", "=", sha256Base64url(value))
    .executeTakeFirst();
  return row !== undefined;
}
