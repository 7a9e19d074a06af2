/** System accounts, their keys and permissions. */

import { sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { countRows, inListOrder, type KeysetPage, readPage } from "../../db/keyset.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRecord, toRow } from "../../db/records.ts";
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
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && toAccount(row, (await loadPermissions(db, orgId, [id])).get(id) ?? []);
}

/** By id. */
export async function findSystemAccounts(
  db: Db,
  orgId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, SystemAccount>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("system_account")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", "in", ids)
    .execute();
  const permissions = await loadPermissions(db, orgId, ids);
  return new Map(rows.map((row) => [row.id, toAccount(row, permissions.get(row.id) ?? [])]));
}

/** @returns one more than the limit, to tell that there is a next page */
export async function listSystemAccounts(
  db: Db,
  orgId: string,
  { limit, after = "" }: { limit: number; after: string | undefined },
): Promise<SystemAccount[]> {
  const rows = await db
    .selectFrom("system_account")
    .selectAll()
    .where("org_id", "=", orgId)
    .where("id", ">", after)
    .orderBy("id")
    .limit(limit + 1)
    .execute();
  const ids = rows.map(({ id }) => id);
  const permissions = await loadPermissions(db, orgId, ids);
  return rows.map((row) => toAccount(row, permissions.get(row.id) ?? []));
}

/** What an index holds in order; ids rise with the time of creation. */
export type AccountSort = "created" | "name";

export interface AccountFilter {
  /** Part of a name or an id; case-sensitive beyond ASCII on SQLite. */
  readonly text?: string | undefined;
  readonly isAdministrator?: boolean | undefined;
  readonly state?: "enabled" | "disabled" | undefined;
}

export interface ListedAccount extends SystemAccount {
  readonly applicationName: string;
  /** As the list is sorted by name: for a cursor. */
  readonly nameOrder: string;
}

// As in the indexes.
const orderColumns = {
  created: sql.ref("system_account.id"),
  name: sql`lower(system_account.name)`,
} as const;

/** Each with the name of its application. */
export async function searchSystemAccounts(
  db: Db,
  orgId: string,
  { page, limit, ...filter }: AccountFilter & { page: KeysetPage & { sort: AccountSort }; limit: number },
): Promise<ListedAccount[]> {
  const value = orderColumns[page.sort];
  const { within, direction } = readPage(page, { value, id: orderColumns.created });
  const rows = await matching(db, orgId, filter)
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "system_account.org_id")
        .onRef("application.id", "=", "system_account.application_id"),
    )
    .selectAll("system_account")
    .select("application.name as application_name")
    .select(orderColumns.name.$castTo<string>().as("name_order"))
    .where(within)
    .orderBy(value, direction)
    .orderBy("system_account.id", direction)
    .limit(limit)
    .execute();
  return inListOrder(page, rows).map(
    ({ application_name: applicationName, name_order: nameOrder, ...row }) => ({
      ...toAccount(row, []),
      applicationName,
      nameOrder,
    }),
  );
}

/** @param max counts no further */
export const countSystemAccounts = (
  db: Db,
  orgId: string,
  { max, ...filter }: AccountFilter & { max: number },
): Promise<number> => countRows(db, matching(db, orgId, filter).select("system_account.id").limit(max));

const matching = (db: Db, orgId: string, { text, isAdministrator, state }: AccountFilter) =>
  db
    .selectFrom("system_account")
    .where("system_account.org_id", "=", orgId)
    .$if(text !== undefined, (query) => query.where(isNamed("system_account", text ?? "")))
    .$if(isAdministrator !== undefined, (query) =>
      query.where("system_account.administrator", "=", isAdministrator ? 1 : 0),
    )
    .$if(state === "enabled", (query) => query.where("system_account.disabled_at", "is", null))
    .$if(state === "disabled", (query) => query.where("system_account.disabled_at", "is not", null));

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
export const lockSystemAccount = (tx: Db, { orgId, id }: { orgId: string; id: string }): Promise<boolean> =>
  affectsAny(
    tx
      .updateTable("system_account")
      .set((eb) => ({ version: eb.ref("version") }))
      .where((eb) => allOf(eb, { org_id: orgId, id })),
  );

export async function insertSystemAccount(db: Db, account: SystemAccount): Promise<void> {
  const {
    permissions: _,
    isAdministrator,
    requiresStrictSignature,
    allowsEndUserAddress,
    ...members
  } = account;
  const flags = {
    administrator: isAdministrator ? 1 : 0,
    require_strict: requiresStrictSignature ? 1 : 0,
    allow_end_user_address: allowsEndUserAddress ? 1 : 0,
  };
  await db
    .insertInto("system_account")
    .values({ ...toRow(members), ...flags })
    .execute();
}

export async function insertKey(
  db: Db,
  { orgId, id: accountId }: { orgId: string; id: string },
  key: SystemAccountKey,
  sealedSecret: string,
): Promise<void> {
  await db
    .insertInto("system_account_key")
    .values(toRow({ ...key, orgId, accountId, secret: sealedSecret }))
    .execute();
}

/** Changes the account and increments its version. @returns false when there is none */
export function updateSystemAccount(
  db: Db,
  { orgId, id }: { orgId: string; id: string },
  change: Partial<
    Pick<SystemAccount, "name" | "requiresStrictSignature" | "allowsEndUserAddress" | "disabledAt">
  >,
  now: number,
): Promise<boolean> {
  const { requiresStrictSignature: strict, allowsEndUserAddress: allows, ...members } = change;
  return affectsAny(
    db
      .updateTable("system_account")
      .set((eb) => ({ ...toRow(members), updated_at: now, version: eb("version", "+", 1) }))
      .$if(strict !== undefined, (query) => query.set({ require_strict: strict ? 1 : 0 }))
      .$if(allows !== undefined, (query) => query.set({ allow_end_user_address: allows ? 1 : 0 }))
      .where((eb) => allOf(eb, { org_id: orgId, id })),
  );
}

/** @returns false when there is no such unrevoked key */
export const revokeKey = (
  db: Db,
  { orgId, accountId, publicKey }: { orgId: string; accountId: string; publicKey: string },
  now: number,
): Promise<boolean> =>
  affectsAny(
    db
      .updateTable("system_account_key")
      .set({ revoked_at: now })
      .where((eb) => allOf(eb, { org_id: orgId, account_id: accountId, public_key: publicKey }))
      .where("revoked_at", "is", null),
  );

/** Expires the other keys at that time, unless they expire sooner. */
export async function expireOtherKeys(
  db: Db,
  except: { orgId: string; accountId: string; publicKey: string },
  at: number,
): Promise<void> {
  await db
    .updateTable("system_account_key")
    .set({ expires_at: at })
    .where((eb) => allOf(eb, { org_id: except.orgId, account_id: except.accountId }))
    .where("public_key", "!=", except.publicKey)
    .where("revoked_at", "is", null)
    .where((or) => or.or([or("expires_at", "is", null), or("expires_at", ">", at)]))
    .execute();
}

/** @returns false when it exists */
export const insertPermission = (
  db: Db,
  permission: { orgId: string; accountId: string; applicationId: string; by: string; now: number },
): Promise<boolean> => {
  const { by: grantedBy, now: grantedAt, ...key } = permission;
  return hasRow(
    db
      .insertInto("system_account_permission")
      .values(toRow({ ...key, grantedBy, grantedAt }))
      .onConflict((conflict) => conflict.columns(["org_id", "account_id", "application_id"]).doNothing())
      .returning("account_id"),
  );
};

export const deletePermission = (
  db: Db,
  key: { orgId: string; accountId: string; applicationId: string },
): Promise<boolean> =>
  affectsAny(
    db
      .deleteFrom("system_account_permission")
      .where((eb) => allOf(eb, { org_id: key.orgId, account_id: key.accountId }))
      .where("application_id", "=", key.applicationId),
  );

export const deleteSystemAccount = (db: Db, { orgId, id }: { orgId: string; id: string }): Promise<boolean> =>
  affectsAny(db.deleteFrom("system_account").where((eb) => allOf(eb, { org_id: orgId, id })));

export async function recordKeyUse(
  db: Db,
  { orgId, accountId, publicKey }: { orgId: string; accountId: string; publicKey: string },
  at: number,
): Promise<void> {
  await db
    .updateTable("system_account_key")
    .set({ last_used_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, public_key: publicKey }))
    .execute();
  await db
    .updateTable("system_account")
    .set({ last_used_at: at })
    .where((eb) => allOf(eb, { org_id: orgId, id: accountId }))
    .execute();
}

function toAccount(row: SystemAccountTable, permissions: readonly string[]): SystemAccount {
  const { administrator, require_strict, allow_end_user_address, ...members } = row;
  const flags = {
    isAdministrator: administrator === 1,
    requiresStrictSignature: require_strict === 1,
    allowsEndUserAddress: allow_end_user_address === 1,
  };
  return { ...toRecord(members), ...flags, permissions };
}

function toKey({ org_id, account_id, secret, ...key }: SystemAccountKeyTable): SystemAccountKey {
  return toRecord(key);
}
