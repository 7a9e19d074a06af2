/** Single-use values such as nonces and assertion ids, on every node: stored as SHA-256 until they expire anyway. */
import { sha256Base64url } from "@signet/protocol/hash";
import { sql } from "kysely";
import type { Db } from "../db/open.ts";
import { type Parameter, prepared } from "../db/prepared.ts";
import { unsynced } from "../db/unsynced.ts";

type ConsumedRow = { org_id: string; kind: string; value_hash: string; expires_at: number };

const columns = ["org_id", "kind", "value_hash", "expires_at"] as const satisfies (keyof ConsumedRow)[];

const insertion = (db: Db, value: Parameter<ConsumedRow>, isSynced: boolean) =>
  db
    .insertInto("consumed_value")
    .columns(columns)
    .expression(
      db
        .selectNoFrom([
          ...columns.slice(0, 3).map((name) => sql<string>`cast(${value(name)} as text)`.as(name)),
          sql<number>`cast(${value("expires_at")} as bigint)`.as("expires_at"),
        ])
        // `on conflict` behind a select needs a condition in SQLite.
        .where(isSynced ? sql<boolean>`1 = 1` : unsynced(db)),
    )
    .onConflict((conflict) => conflict.columns(["org_id", "kind", "value_hash"]).doNothing())
    .returning("value_hash");

const consume = prepared((db, value: Parameter<ConsumedRow>) => insertion(db, value, true));
const consumeUnsynced = prepared((db, value: Parameter<ConsumedRow>) => insertion(db, value, false));

/**
 * @param db with `isSynced: false` not a transaction (db/unsynced.ts)
 * @param use.value unique within its kind, so it includes its owner
 * @param use.expiresAt milliseconds; from then on the value is refused for its age
 * @returns whether this is the first use
 */
export async function consumeOnce(
  db: Db,
  use: { orgId: string; kind: string; value: string; expiresAt: number; isSynced?: boolean },
): Promise<boolean> {
  const row = {
    org_id: use.orgId,
    kind: use.kind,
    value_hash: sha256Base64url(use.value),
    expires_at: use.expiresAt,
  };
  return (await (use.isSynced === false ? consumeUnsynced : consume)(db, row)).length > 0;
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
