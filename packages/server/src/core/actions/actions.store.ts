import type { Db } from "../../db/open.ts";
import type { UserActionTable } from "../../db/tables/messages.ts";
import type { ActionType, UserAction } from "./user-action.ts";

export interface StoredAction extends Omit<UserAction, "data"> {
  readonly sealed: string;
  readonly usedAt: number | null;
}

/** Takes the place of the user's open one of the same type, if there is one: there is never a moment with two. */
export async function insertAction(db: Db, action: StoredAction): Promise<void> {
  const { orgId, idHash, type, userId, sealed, createdAt, expiresAt, usedAt } = action;
  const values = { id_hash: idHash, data: sealed, created_at: createdAt, expires_at: expiresAt };
  await db
    .insertInto("user_action")
    .values({ org_id: orgId, type, user_id: userId, ...values, used_at: usedAt })
    .onConflict((conflict) =>
      conflict.columns(["org_id", "user_id", "type"]).where("used_at", "is", null).doUpdateSet(values),
    )
    .execute();
}

type ActionKey = { readonly orgId: string; readonly type: ActionType; readonly idHash: string };

export async function findActionRow(db: Db, key: ActionKey): Promise<StoredAction | undefined> {
  const row = await db
    .selectFrom("user_action")
    .selectAll()
    .where("org_id", "=", key.orgId)
    .where("id_hash", "=", key.idHash)
    .where("type", "=", key.type)
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Of whichever organisation: the id alone names it, as an address of the legacy API does. */
export async function findActionAnywhere(db: Db, idHash: string): Promise<StoredAction | undefined> {
  const row = await db.selectFrom("user_action").selectAll().where("id_hash", "=", idHash).executeTakeFirst();
  return row && fromRow(row);
}

/** One conditional statement: of many at once, one gets the row. */
export async function useActionRow(
  db: Db,
  key: ActionKey & { now: number },
): Promise<StoredAction | undefined> {
  const row = await db
    .updateTable("user_action")
    .set({ used_at: key.now })
    .where("org_id", "=", key.orgId)
    .where("id_hash", "=", key.idHash)
    .where("type", "=", key.type)
    .where("used_at", "is", null)
    .where("expires_at", ">", key.now)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The user's open links of a type open nothing any more. */
export async function voidActions(
  db: Db,
  which: { orgId: string; userId: string; type: ActionType; now: number },
): Promise<void> {
  await db
    .updateTable("user_action")
    .set({ used_at: which.now })
    .where("org_id", "=", which.orgId)
    .where("user_id", "=", which.userId)
    .where("type", "=", which.type)
    .where("used_at", "is", null)
    .execute();
}

/** @returns how many were removed, at most `limit` */
export async function deletePassedActions(db: Db, before: number, limit: number): Promise<number> {
  const passed = await db
    .selectFrom("user_action")
    .select(["org_id", "id_hash"])
    .where("expires_at", "<", before)
    .orderBy("expires_at")
    .limit(limit)
    .execute();
  for (const { org_id, id_hash } of passed) {
    await db.deleteFrom("user_action").where("org_id", "=", org_id).where("id_hash", "=", id_hash).execute();
  }
  return passed.length;
}

function fromRow(row: UserActionTable): StoredAction {
  return {
    orgId: row.org_id,
    idHash: row.id_hash,
    type: row.type as ActionType,
    userId: row.user_id,
    sealed: row.data,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    usedAt: row.used_at,
  };
}
