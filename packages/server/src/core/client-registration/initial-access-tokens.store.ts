/** Stores initial access tokens; secrets as their hashes. */
import { affectsAny } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { InitialAccessTokenTable } from "../../db/tables/applications.ts";
import type { GrantType } from "../applications/application.ts";
import type { InitialAccessToken } from "./initial-access-token.ts";

type TokenKey = Pick<InitialAccessToken, "orgId" | "id">;

const fromRow = (row: InitialAccessTokenTable): InitialAccessToken => ({
  ...toRecord(row),
  allowedScopes: JSON.parse(row.allowed_scopes) as string[],
  allowedResources: JSON.parse(row.allowed_resources) as string[],
  grantTypes: JSON.parse(row.grant_types) as GrantType[],
  enabled: row.enabled === 1,
});

const rowOf = (token: InitialAccessToken): InitialAccessTokenTable => ({
  ...toRow(token),
  allowed_scopes: JSON.stringify(token.allowedScopes),
  allowed_resources: JSON.stringify(token.allowedResources),
  grant_types: JSON.stringify(token.grantTypes),
  enabled: token.enabled ? 1 : 0,
});

export async function insertInitialAccessToken(tx: Db, token: InitialAccessToken): Promise<void> {
  await tx.insertInto("initial_access_token").values(rowOf(token)).execute();
}

export async function findInitialAccessToken(
  db: Db,
  { orgId, id }: TokenKey,
): Promise<InitialAccessToken | undefined> {
  const row = await db
    .selectFrom("initial_access_token")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Whatever became of it. */
export async function findTokenByHash(
  db: Db,
  { orgId, tokenHash }: Pick<InitialAccessToken, "orgId" | "tokenHash">,
): Promise<InitialAccessToken | undefined> {
  const row = await db
    .selectFrom("initial_access_token")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, token_hash: tokenHash }))
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Of several at once, no more than it has uses left. @returns what it allows; undefined when it is over, disabled or gone */
export async function useInitialAccessToken(
  tx: Db,
  { orgId, id, now }: TokenKey & { readonly now: number },
): Promise<InitialAccessToken | undefined> {
  const row = await tx
    .updateTable("initial_access_token")
    .set((eb) => ({ uses: eb("uses", "+", 1) }))
    .where((eb) => allOf(eb, { org_id: orgId, id, enabled: 1 }))
    .where("expires_at", ">", now)
    .whereRef("uses", "<", "max_uses")
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** Locks it until the end of the transaction. */
export async function lockInitialAccessToken(
  tx: Db,
  { orgId, id }: TokenKey,
): Promise<InitialAccessToken | undefined> {
  const row = await tx
    .updateTable("initial_access_token")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked it. */
export async function replaceInitialAccessToken(tx: Db, token: InitialAccessToken): Promise<void> {
  const { org_id, id, created_at: _, token_hash: __, uses: ___, ...changed } = rowOf(token);
  await tx
    .updateTable("initial_access_token")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteTokenRow = (tx: Db, { orgId, id }: TokenKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("initial_access_token").where((eb) => allOf(eb, { org_id: orgId, id })));

/** All of them, oldest first: their number is bounded. */
export async function listInitialAccessTokens(db: Db, orgId: string): Promise<InitialAccessToken[]> {
  const rows = await db
    .selectFrom("initial_access_token")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id")
    .execute();
  return rows.map(fromRow);
}
