/** Stores passkeys. */

import { affectsAny, countAffected, hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import { toRecord, toRow } from "../../../db/records.ts";
import type { PasskeyTable } from "../../../db/tables/second-factors.ts";
import type { FactorOwner } from "../second-factor.ts";
import { ownedBy } from "../second-factors.store.ts";
import type { Passkey } from "./passkeys.ts";

/** Oldest first. */
export async function listPasskeys(db: Db, owner: FactorOwner): Promise<Passkey[]> {
  const rows = await passkeysOf(db, owner).orderBy("created_at").orderBy("id").execute();
  return rows.map(fromRow);
}

export async function findPasskey(db: Db, owner: FactorOwner, id: string): Promise<Passkey | undefined> {
  const row = await passkeysOf(db, owner).where("id", "=", id).executeTakeFirst();
  return row && fromRow(row);
}

const passkeysOf = (db: Db, owner: FactorOwner) =>
  db
    .selectFrom("passkey")
    .select(["id", "public_key", "counter", "transports", "name", "backed_up", "created_at", "last_used_at"])
    .where((eb) => allOf(eb, ownedBy(owner)));

const fromRow = ({ transports, backed_up, ...row }: Omit<PasskeyTable, "org_id" | "user_id">): Passkey => ({
  ...toRecord(row),
  transports: JSON.parse(transports) as string[],
  isBackedUp: backed_up === 1,
});

/** @returns false when the credential is registered in the organisation already (WebAuthn §7.1, step 26) */
export function insertPasskey(db: Db, owner: FactorOwner, passkey: Passkey): Promise<boolean> {
  const { transports, isBackedUp, ...stored } = passkey;
  const json = { transports: JSON.stringify(transports), backed_up: isBackedUp ? 1 : 0 };
  return hasRow(
    db
      .insertInto("passkey")
      .values({ ...toRow(stored), ...json, ...ownedBy(owner) })
      .onConflict((conflict) => conflict.columns(["org_id", "id"]).doNothing())
      .returning("id"),
  );
}

/**
 * Stores the signature counter, which only grows (WebAuthn §6.1.1); that of synced passkeys stays 0.
 * @returns false when the passkey was removed or a later use came first
 */
export const recordPasskeyUse = (
  db: Db,
  owner: FactorOwner,
  use: { id: string; counter: number; isBackedUp: boolean; now: number },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("passkey")
      .set({ counter: use.counter, backed_up: use.isBackedUp ? 1 : 0, last_used_at: use.now })
      .where((eb) => allOf(eb, { ...ownedBy(owner), id: use.id }))
      .where((eb) => (use.counter === 0 ? eb("counter", "=", 0) : eb("counter", "<", use.counter))),
  );

/** @returns false when there is no such passkey, or it has this name already */
export const renamePasskey = (
  db: Db,
  owner: FactorOwner,
  { id, name }: { id: string; name: string },
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("passkey")
      .set({ name })
      .where((eb) => allOf(eb, { ...ownedBy(owner), id }))
      .where("name", "!=", name),
  );

/** One, or all of the user's. @returns how many there were */
export const deletePasskeys = (db: Db, owner: FactorOwner, id?: string): Promise<number> =>
  countAffected(
    db
      .deleteFrom("passkey")
      .where((eb) => allOf(eb, { ...ownedBy(owner), ...(id === undefined ? {} : { id }) })),
  );
