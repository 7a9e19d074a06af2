/** Stores passkeys. */
import type { Selectable } from "kysely";
import type { Db } from "../../../db/open.ts";
import type { PasskeyTable } from "../../../db/tables/second-factors.ts";
import type { FactorOwner } from "../second-factor.ts";
import type { Passkey } from "./passkey.ts";

/** Oldest first. */
export async function listPasskeys(db: Db, owner: FactorOwner): Promise<Passkey[]> {
  const rows = await passkeysOf(db, owner).orderBy("created_at").orderBy("id").execute();
  return rows.map(fromRow);
}

export async function findPasskey(db: Db, owner: FactorOwner, id: string): Promise<Passkey | undefined> {
  const row = await passkeysOf(db, owner).where("id", "=", id).executeTakeFirst();
  return row && fromRow(row);
}

const passkeysOf = (db: Db, { homeOrgId, userId }: FactorOwner) =>
  db.selectFrom("passkey").selectAll().where("org_id", "=", homeOrgId).where("user_id", "=", userId);

/** @returns false when the credential is registered in the organisation already (WebAuthn §7.1, step 26) */
export async function insertPasskey(db: Db, owner: FactorOwner, passkey: Passkey): Promise<boolean> {
  const row = await db
    .insertInto("passkey")
    .values({
      org_id: owner.homeOrgId,
      user_id: owner.userId,
      id: passkey.id,
      public_key: passkey.publicKey,
      counter: passkey.counter,
      transports: JSON.stringify(passkey.transports),
      name: passkey.name,
      backed_up: passkey.isBackedUp ? 1 : 0,
      created_at: passkey.createdAt,
      last_used_at: passkey.lastUsedAt,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "id"]).doNothing())
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}

/**
 * Stores the signature counter, which only grows (WebAuthn §6.1.1); that of synced passkeys stays 0.
 * @returns false when the passkey was removed or a later use came first
 */
export async function recordPasskeyUse(
  db: Db,
  owner: FactorOwner,
  use: { id: string; counter: number; isBackedUp: boolean; now: number },
): Promise<boolean> {
  const result = await db
    .updateTable("passkey")
    .set({ counter: use.counter, backed_up: use.isBackedUp ? 1 : 0, last_used_at: use.now })
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId, id: use.id }))
    .where((eb) => (use.counter === 0 ? eb("counter", "=", 0) : eb("counter", "<", use.counter)))
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** @returns false when there is no such passkey, or it has this name already */
export async function renamePasskey(
  db: Db,
  owner: FactorOwner,
  change: { id: string; name: string },
): Promise<boolean> {
  const result = await db
    .updateTable("passkey")
    .set({ name: change.name })
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId, id: change.id }))
    .where("name", "!=", change.name)
    .executeTakeFirst();
  return result.numUpdatedRows > 0n;
}

/** One, or all of the user's. @returns how many there were */
export async function deletePasskeys(db: Db, owner: FactorOwner, id?: string): Promise<number> {
  let query = db
    .deleteFrom("passkey")
    .where((eb) => eb.and({ org_id: owner.homeOrgId, user_id: owner.userId }));
  if (id !== undefined) query = query.where("id", "=", id);
  return Number((await query.executeTakeFirst()).numDeletedRows);
}

function fromRow(row: Selectable<PasskeyTable>): Passkey {
  return {
    id: row.id,
    publicKey: row.public_key,
    counter: row.counter,
    transports: JSON.parse(row.transports) as string[],
    name: row.name,
    isBackedUp: row.backed_up === 1,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
  };
}
