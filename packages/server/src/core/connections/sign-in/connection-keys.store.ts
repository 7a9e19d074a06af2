/** Stores what identity providers sign with, as it was last seen. */
import { affectsAny, hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import type { ConnectionKey } from "../connection.ts";

export interface SeenKeys {
  readonly issuer: string;
  readonly thumbprints: readonly string[];
}

/** @property toldAt when the administrators got an email last; null: never */
export type StoredKeys = SeenKeys & { readonly toldAt: number | null };

const NEVER = 0;

export async function findSeenKeys(db: Db, { orgId, id }: ConnectionKey): Promise<StoredKeys | undefined> {
  const row = await db
    .selectFrom("connection_keys")
    .select(["issuer", "thumbprints", "changed_at"])
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
    .executeTakeFirst();
  if (!row) return undefined;
  const toldAt = row.changed_at === NEVER ? null : row.changed_at;
  return { issuer: row.issuer, thumbprints: JSON.parse(row.thumbprints) as string[], toldAt };
}

/** @returns false when another request has done so */
export const insertSeenKeys = (
  tx: Db,
  { orgId, id }: ConnectionKey,
  { issuer, thumbprints }: SeenKeys,
): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("connection_keys")
      .values({
        ...{ org_id: orgId, connection_id: id, issuer, changed_at: NEVER },
        thumbprints: JSON.stringify(thumbprints),
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("connection_id"),
  );

/** @returns false when another request has: of two nodes one tells */
export const replaceSeenKeys = (
  tx: Db,
  { orgId, id }: ConnectionKey,
  {
    before,
    seen,
    toldAt,
  }: { readonly before: SeenKeys; readonly seen: SeenKeys; readonly toldAt: number | null },
): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("connection_keys")
      .set({
        issuer: seen.issuer,
        thumbprints: JSON.stringify(seen.thumbprints),
        changed_at: toldAt ?? NEVER,
      })
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
      .where("thumbprints", "=", JSON.stringify(before.thumbprints))
      .where("issuer", "=", before.issuer),
  );
