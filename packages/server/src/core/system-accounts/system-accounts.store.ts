/** System accounts, their keys and permissions. */
import type { Selectable } from "kysely";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { isNamed } from "../../db/search-text.ts";
import type { SystemAccountKeyTable, SystemAccountTable } from "../../db/tables/system-accounts.ts";
import type { SystemAccount, SystemAccountKey } from "./system-account.ts";

export interface KeyedAccount {
  readonly account: SystemAccount;
  readonly key: SystemAccountKey;
  /** Sealed under the master key. */
  readonly sealedSecret: string;
}

const selectKey = prepared((db, value: Parameter<{ publicKey: string }>) =>
  db.selectFrom("system_account_key").selectAll().where("public_key", "=", value("publicKey")),
);

/** Finds disabled accounts and ended keys too. By the public key alone: a call names no organisation. */
export async function findByPublicKey(db: Db, publicKey: string): Promise<KeyedAccount | undefined> {
  const [key] = await selectKey(db, { publicKey });
  const account = key && (await findSystemAccount(db, key.org_id, key.account_id));
  return key && account ? { account, key: toKey(key), sealedSecret: key.secret } : undefined;
}

export async function findSystemAccount(
  db: Db,
  orgId: string,
  id: string,
): Promise<SystemAccount | undefined> {
  const row = await db
    .selectFrom("system_account")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "=", id)
    .executeTakeFirst();
  return row && toAccount(row, (await loadPermissions(db, orgId, [id])).get(id) ?? []);
}

/** @returns one more than the limit, to tell that there is a next page */
export async function listSystemAccounts(
  db: Db,
  orgId: string,
  page: { limit: number; after: string | undefined },
): Promise<SystemAccount[]> {
  const rows = await db
    .selectFrom("system_account")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(page.after !== undefined, (query) => query.where("id", ">", page.after ?? ""))
    .orderBy("id")
    .limit(page.limit + 1)
    .execute();
  const permissions = await loadPermissions(
    db,
    orgId,
    rows.map(({ id }) => id),
  );
  return rows.map((row) => toAccount(row, permissions.get(row.id) ?? []));
}

export interface AccountSearch {
  readonly after?: string | undefined;
  readonly limit: number;
  /** Part of a name or an id; case-sensitive beyond ASCII on SQLite. */
  readonly text?: string | undefined;
}

/** Newest first, each with the name of its application. */
export async function searchSystemAccounts(
  db: Db,
  orgId: string,
  { after, limit, text }: AccountSearch,
): Promise<Array<{ account: SystemAccount; applicationName: string }>> {
  let query = db
    .selectFrom("system_account")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "system_account.org_id")
        .onRef("application.id", "=", "system_account.application_id"),
    )
    .selectAll("system_account")
    .select("application.name as application_name")
    .where("system_account.org_id", "=", orgId);
  if (after !== undefined) query = query.where("system_account.id", "<", after);
  if (text !== undefined) query = query.where(isNamed("system_account", text));
  const rows = await query.orderBy("system_account.id", "desc").limit(limit).execute();
  return rows.map(({ application_name: applicationName, ...row }) => ({
    account: toAccount(row, []),
    applicationName,
  }));
}

/** The applications that an account may act for beside its own, by name. */
export async function listPermittedApplications(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
): Promise<Array<{ id: string; name: string }>> {
  return db
    .selectFrom("system_account_permission")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "system_account_permission.org_id")
        .onRef("application.id", "=", "system_account_permission.application_id"),
    )
    .select(["application.id", "application.name"])
    .where("system_account_permission.org_id", "=", orgId)
    .where("system_account_permission.account_id", "=", id)
    .orderBy("application.name")
    .orderBy("application.id")
    .execute();
}

async function loadPermissions(
  db: Db,
  orgId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  if (accountIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("system_account_permission")
    .select(["account_id", "application_id"])
    .where("org_id", "=", orgId)
    .where("account_id", "in", accountIds)
    .orderBy("granted_at")
    .orderBy("application_id")
    .execute();
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id);
  return new Map(
    [...byAccount].map(([id, granted]) => [id, granted.map(({ application_id }) => application_id)]),
  );
}

/** Oldest first. */
export const listKeys = async (db: Db, orgId: string, accountId: string): Promise<SystemAccountKey[]> =>
  (await listKeysByAccount(db, orgId, [accountId])).get(accountId) ?? [];

/** By account, oldest first. */
export async function listKeysByAccount(
  db: Db,
  orgId: string,
  accountIds: readonly string[],
): Promise<ReadonlyMap<string, SystemAccountKey[]>> {
  if (accountIds.length === 0) return new Map();
  const rows = await db
    .selectFrom("system_account_key")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("account_id", "in", accountIds)
    .orderBy("created_at")
    .orderBy("public_key")
    .execute();
  const byAccount = Map.groupBy(rows, ({ account_id }) => account_id);
  return new Map([...byAccount].map(([id, keys]) => [id, keys.map(toKey)]));
}

/** Locks the account until the transaction ends. @returns false when there is none */
export async function lockSystemAccount(tx: Db, named: { orgId: string; id: string }): Promise<boolean> {
  const held = await tx
    .updateTable("system_account")
    .set((expression) => ({ version: expression.ref("version") }))
    .where("org_id", "=", named.orgId)
    .where("id", "=", named.id)
    .returning("id")
    .executeTakeFirst();
  return held !== undefined;
}

export async function insertSystemAccount(db: Db, account: SystemAccount): Promise<void> {
  await db
    .insertInto("system_account")
    .values({
      org_id: account.orgId,
      id: account.id,
      application_id: account.applicationId,
      name: account.name,
      administrator: account.isAdministrator ? 1 : 0,
      require_strict: account.requiresStrictSignature ? 1 : 0,
      created_at: account.createdAt,
      created_by: account.createdBy,
      updated_at: account.updatedAt,
      disabled_at: account.disabledAt,
      last_used_at: account.lastUsedAt,
      version: account.version,
    })
    .execute();
}

export async function insertKey(
  db: Db,
  account: { orgId: string; id: string },
  key: SystemAccountKey,
  sealedSecret: string,
): Promise<void> {
  await db
    .insertInto("system_account_key")
    .values({
      org_id: account.orgId,
      public_key: key.publicKey,
      account_id: account.id,
      secret: sealedSecret,
      label: key.label,
      created_at: key.createdAt,
      expires_at: key.expiresAt,
      revoked_at: key.revokedAt,
      last_used_at: key.lastUsedAt,
    })
    .execute();
}

/** Changes the account and increments its version. @returns false when there is none */
export async function updateSystemAccount(
  db: Db,
  named: { orgId: string; id: string },
  change: Partial<Pick<SystemAccount, "name" | "requiresStrictSignature" | "disabledAt">>,
  now: number,
): Promise<boolean> {
  const { name, requiresStrictSignature: strict, disabledAt } = change;
  const updated = await db
    .updateTable("system_account")
    .set((expression) => ({
      updated_at: now,
      version: expression("version", "+", 1),
      ...(name === undefined ? {} : { name }),
      ...(strict === undefined ? {} : { require_strict: strict ? 1 : 0 }),
      ...(disabledAt === undefined ? {} : { disabled_at: disabledAt }),
    }))
    .where("org_id", "=", named.orgId)
    .where("id", "=", named.id)
    .returning("id")
    .executeTakeFirst();
  return updated !== undefined;
}

/** @returns false when there is no such unrevoked key */
export async function revokeKey(
  db: Db,
  named: { orgId: string; accountId: string; publicKey: string },
  now: number,
): Promise<boolean> {
  const revoked = await db
    .updateTable("system_account_key")
    .set({ revoked_at: now })
    .where("org_id", "=", named.orgId)
    .where("account_id", "=", named.accountId)
    .where("public_key", "=", named.publicKey)
    .where("revoked_at", "is", null)
    .returning("public_key")
    .executeTakeFirst();
  return revoked !== undefined;
}

/** Expires the other keys at that time, unless they expire sooner. */
export async function expireOtherKeys(
  db: Db,
  except: { orgId: string; accountId: string; publicKey: string },
  at: number,
): Promise<void> {
  await db
    .updateTable("system_account_key")
    .set({ expires_at: at })
    .where("org_id", "=", except.orgId)
    .where("account_id", "=", except.accountId)
    .where("public_key", "!=", except.publicKey)
    .where("revoked_at", "is", null)
    .where((or) => or.or([or("expires_at", "is", null), or("expires_at", ">", at)]))
    .execute();
}

/** @returns false when it exists */
export async function insertPermission(
  db: Db,
  permission: { orgId: string; accountId: string; applicationId: string; by: string; now: number },
): Promise<boolean> {
  const inserted = await db
    .insertInto("system_account_permission")
    .values({
      org_id: permission.orgId,
      account_id: permission.accountId,
      application_id: permission.applicationId,
      granted_by: permission.by,
      granted_at: permission.now,
    })
    .onConflict((conflict) => conflict.columns(["org_id", "account_id", "application_id"]).doNothing())
    .returning("account_id")
    .executeTakeFirst();
  return inserted !== undefined;
}

export async function deletePermission(
  db: Db,
  permission: { orgId: string; accountId: string; applicationId: string },
): Promise<boolean> {
  const deleted = await db
    .deleteFrom("system_account_permission")
    .where("org_id", "=", permission.orgId)
    .where("account_id", "=", permission.accountId)
    .where("application_id", "=", permission.applicationId)
    .returning("account_id")
    .executeTakeFirst();
  return deleted !== undefined;
}

export async function deleteSystemAccount(db: Db, named: { orgId: string; id: string }): Promise<boolean> {
  const deleted = await db
    .deleteFrom("system_account")
    .where("org_id", "=", named.orgId)
    .where("id", "=", named.id)
    .returning("id")
    .executeTakeFirst();
  return deleted !== undefined;
}

export async function recordKeyUse(
  db: Db,
  { orgId, accountId, publicKey }: { orgId: string; accountId: string; publicKey: string },
  at: number,
): Promise<void> {
  await db
    .updateTable("system_account_key")
    .set({ last_used_at: at })
    .where("org_id", "=", orgId)
    .where("public_key", "=", publicKey)
    .execute();
  await db
    .updateTable("system_account")
    .set({ last_used_at: at })
    .where("org_id", "=", orgId)
    .where("id", "=", accountId)
    .execute();
}

function toAccount(row: Selectable<SystemAccountTable>, permissions: readonly string[]): SystemAccount {
  return {
    orgId: row.org_id,
    id: row.id,
    applicationId: row.application_id,
    name: row.name,
    isAdministrator: row.administrator === 1,
    requiresStrictSignature: row.require_strict === 1,
    permissions,
    createdAt: row.created_at,
    createdBy: row.created_by,
    updatedAt: row.updated_at,
    disabledAt: row.disabled_at,
    lastUsedAt: row.last_used_at,
    version: row.version,
  };
}

function toKey(row: Selectable<SystemAccountKeyTable>): SystemAccountKey {
  return {
    publicKey: row.public_key,
    label: row.label,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
  };
}
