/** Stores connections and their tokens. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { isUniqueViolation } from "../../db/database-errors.ts";
import { isPostgres } from "../../db/is-postgres.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { ConnectionTable } from "../../db/tables/connections.ts";
import type { Connection, ConnectionKey, ConnectionToken } from "./connection.ts";

const fromRow = (row: ConnectionTable): Connection => ({
  ...toRecord(row),
  kind: row.kind as Connection["kind"],
  enabled: row.enabled === 1,
  deletionPolicy: row.deletion_policy as Connection["deletionPolicy"],
  settings: row.settings === null ? null : (JSON.parse(row.settings) as Connection["settings"]),
});

const toConnectionRow = (connection: Connection): ConnectionTable => ({
  ...toRow(connection),
  enabled: connection.enabled ? 1 : 0,
  settings: connection.settings === null ? null : JSON.stringify(connection.settings),
});

/** @returns false when the name is taken */
export const insertConnection = (tx: Db, connection: Connection): Promise<boolean> =>
  hasRow(
    tx
      .insertInto("connection")
      .values(toConnectionRow(connection))
      .onConflict((conflict) => conflict.columns(["org_id", "name_key"]).doNothing())
      .returning("id"),
  );

/** Whether another one has it. The index refuses two at once. */
export const isNameTaken = (
  tx: Db,
  { orgId, id, nameKey }: ConnectionKey & { readonly nameKey: string },
): Promise<boolean> =>
  hasRow(
    tx
      .selectFrom("connection")
      .select("id")
      .where((eb) => allOf(eb, { org_id: orgId, name_key: nameKey }))
      .where("id", "<>", id),
  );

export async function findConnection(db: Db, { orgId, id }: ConnectionKey): Promise<Connection | undefined> {
  const row = await db
    .selectFrom("connection")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockConnection(tx: Db, { orgId, id }: ConnectionKey): Promise<Connection | undefined> {
  const row = await tx
    .updateTable("connection")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Keeps it from being deleted until the end of the transaction. @returns whether it is there */
export async function holdConnection(tx: Db, { orgId, id }: ConnectionKey): Promise<boolean> {
  const query = tx
    .selectFrom("connection")
    .select("id")
    .where((eb) => allOf(eb, { org_id: orgId, id }));
  return hasRow(isPostgres(tx) ? query.forShare() : query);
}

/**
 * The caller has locked it. @returns false when another one took its name between a look and this: roll back, as the
 * transaction can do nothing else any more
 */
export async function replaceConnection(tx: Db, connection: Connection): Promise<boolean> {
  const { org_id, id, created_at: _, ...changed } = toConnectionRow(connection);
  const replacing = tx
    .updateTable("connection")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
  return replacing.then(
    () => true,
    (error: unknown) => {
      if (isUniqueViolation(error)) return false;
      throw error;
    },
  );
}

/** Tokens, calls and what is kept of its users go with it. */
export const deleteConnectionRow = (tx: Db, { orgId, id }: ConnectionKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("connection").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them: an organisation has a few. */
export async function listConnections(db: Db, orgId: string): Promise<Connection[]> {
  const rows = await db
    .selectFrom("connection")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}

export type SignInButton = Pick<Connection, "id" | "name">;

/** Those that a sign-in page offers, in the order they were made. Kinds that nobody signs in by yet are left out. */
export async function listSignInButtons(
  db: Db,
  orgId: string,
  kinds: readonly Connection["kind"][],
): Promise<SignInButton[]> {
  if (kinds.length === 0) return [];
  const rows = await db
    .selectFrom("connection")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, enabled: 1 }))
    .where("kind", "in", kinds)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(fromRow).filter(({ settings }) => settings?.shown === true);
}

const tokenColumns = [
  ...(["org_id", "id", "connection_id", "label"] as const),
  ...(["created_at", "expires_at", "last_used_at"] as const),
] as const;

export async function insertToken(
  tx: Db,
  token: ConnectionToken & { readonly tokenHash: string },
): Promise<void> {
  await tx.insertInto("connection_token").values(toRow(token)).execute();
}

/** Oldest first. */
export async function listTokens(db: Db, { orgId, id }: ConnectionKey): Promise<ConnectionToken[]> {
  const rows = await db
    .selectFrom("connection_token")
    .select(tokenColumns)
    .where((eb) => allOf(eb, { org_id: orgId, connection_id: id }))
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map((row) => toRecord(row));
}

export const deleteTokenRow = (tx: Db, { orgId, id }: ConnectionKey, tokenId: string): Promise<boolean> =>
  affectsAny(
    tx
      .deleteFrom("connection_token")
      .where((eb) => allOf(eb, { org_id: orgId, connection_id: id, id: tokenId })),
  );

/** The token of that hash, if it is this connection's and has not expired. */
export async function findToken(
  db: Db,
  { orgId, id }: ConnectionKey,
  { hash, now }: { readonly hash: string; readonly now: number },
): Promise<ConnectionToken | undefined> {
  const row = await db
    .selectFrom("connection_token")
    .select(tokenColumns)
    .where((eb) => allOf(eb, { org_id: orgId, token_hash: hash, connection_id: id }))
    .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", now)]))
    .executeTakeFirst();
  return row && toRecord(row);
}

export async function recordTokenUse(db: Db, { orgId, id }: ConnectionKey, now: number): Promise<void> {
  await db
    .updateTable("connection_token")
    .set({ last_used_at: now })
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .execute();
}
