/** Stores the single-use links of emails. */
import { allOf } from "../../db/conditions.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { UserActionTable } from "../../db/tables/messages.ts";
import type { ActionType, UserAction } from "./user-action.ts";

export interface StoredAction extends Omit<UserAction, "data"> {
  readonly sealed: string;
  readonly usedAt: number | null;
}

/** Replaces the user's open action of the same type, in one statement: there are never two. */
export async function insertAction(db: Db, action: StoredAction): Promise<void> {
  const { sealed, ...stored } = action;
  const row = { ...toRow(stored), data: sealed };
  const { id_hash, data, created_at, expires_at } = row;
  await db
    .insertInto("user_action")
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(["org_id", "user_id", "type"])
        .where("used_at", "is", null)
        .doUpdateSet({ id_hash, data, created_at, expires_at }),
    )
    .execute();
}

type ActionKey = { readonly orgId: string; readonly type: ActionType; readonly idHash: string };

export async function findActionRow(db: Db, key: ActionKey): Promise<StoredAction | undefined> {
  const row = await db
    .selectFrom("user_action")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: key.orgId, id_hash: key.idHash, type: key.type }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** In any organisation: URLs of the legacy API carry the id alone. */
export async function findActionAnywhere(db: Db, idHash: string): Promise<StoredAction | undefined> {
  const row = await db.selectFrom("user_action").selectAll().where("id_hash", "=", idHash).executeTakeFirst();
  return row && fromRow(row);
}

/** One conditional statement: of concurrent requests, one gets the row. */
export async function redeemActionRow(
  db: Db,
  key: ActionKey & { now: number },
): Promise<StoredAction | undefined> {
  const row = await db
    .updateTable("user_action")
    .set({ used_at: key.now })
    .where((eb) => allOf(eb, { org_id: key.orgId, id_hash: key.idHash, type: key.type }))
    .where("used_at", "is", null)
    .where("expires_at", ">", key.now)
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Until the end of the transaction. */
export async function lockActions(
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<void> {
  if (!isPostgres(db)) return;
  await db
    .selectFrom("user_action")
    .select("id_hash")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .orderBy("id_hash")
    .forUpdate()
    .execute();
}

/** Marks the user's open links of a type as used. */
export async function voidActions(
  db: Db,
  which: { orgId: string; userId: string; type: ActionType; now: number },
): Promise<void> {
  await db
    .updateTable("user_action")
    .set({ used_at: which.now })
    .where((eb) => allOf(eb, { org_id: which.orgId, user_id: which.userId, type: which.type }))
    .where("used_at", "is", null)
    .execute();
}

const fromRow = ({ data, type, ...row }: UserActionTable): StoredAction => ({
  ...toRecord(row),
  type: type as ActionType,
  sealed: data,
});
