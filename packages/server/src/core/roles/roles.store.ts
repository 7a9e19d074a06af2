/** Stores roles. */
import { sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { inListOrder, type KeysetPage, readPage } from "../../db/keyset.ts";
import type { Db } from "../../db/open.ts";
import { toRecord, toRow } from "../../db/records.ts";
import type { RoleTable } from "../../db/tables/groups.ts";
import type { Role } from "./role.ts";

export interface RoleKey {
  readonly orgId: string;
  readonly id: string;
}

const toRoleRow = ({ permissions, builtIn, ...members }: Role): RoleTable => ({
  ...toRow(members),
  permissions: JSON.stringify(permissions),
  built_in: builtIn ? 1 : 0,
});

const fromRow = ({ permissions, built_in, ...row }: RoleTable): Role => ({
  ...toRecord(row),
  permissions: JSON.parse(permissions) as string[],
  builtIn: built_in === 1,
});

/** @returns false when the application, or the organisation, has a role with this key */
export const insertRole = (db: Db, role: Role): Promise<boolean> =>
  hasRow(
    db
      .insertInto("role")
      .values(toRoleRow(role))
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  );

/** Locks the role until the end of the transaction. */
export async function lockRole(tx: Db, { orgId, id }: RoleKey): Promise<Role | undefined> {
  const row = await tx
    .updateTable("role")
    .set((eb) => ({ version: eb.ref("version") }))
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .returningAll()
    .executeTakeFirst();
  return row && fromRow(row);
}

/** The caller has locked the role. */
export async function replaceRole(tx: Db, role: Role): Promise<void> {
  const { org_id, id, created_at: _, ...changed } = toRoleRow(role);
  await tx
    .updateTable("role")
    .set(changed)
    .where((eb) => allOf(eb, { org_id, id }))
    .execute();
}

export const deleteRoleRow = (tx: Db, { orgId, id }: RoleKey): Promise<boolean> =>
  affectsAny(tx.deleteFrom("role").where((eb) => allOf(eb, { org_id: orgId, id })));

export async function findRole(db: Db, { orgId, id }: RoleKey): Promise<Role | undefined> {
  const row = await db
    .selectFrom("role")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, id }))
    .executeTakeFirst();
  return row && fromRow(row);
}

const ofApplication = (applicationId: string | null) =>
  sql<boolean>`coalesce(application_id, '') = ${applicationId ?? ""}`;

export async function findRoleByKey(
  db: Db,
  { orgId, applicationId, key }: Pick<Role, "orgId" | "applicationId" | "key">,
): Promise<Role | undefined> {
  const row = await db
    .selectFrom("role")
    .selectAll()
    .where((eb) => allOf(eb, { org_id: orgId, key }))
    .where(ofApplication(applicationId))
    .executeTakeFirst();
  return row && fromRow(row);
}

export async function countRoles(
  db: Db,
  { orgId, applicationId }: Pick<Role, "orgId" | "applicationId">,
): Promise<number> {
  const { count } = await db
    .selectFrom("role")
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .where("org_id", "=", orgId)
    .where(ofApplication(applicationId))
    .executeTakeFirstOrThrow();
  return Number(count);
}

export const roleSorts = { createdAt: "created_at", key: "key", name: "name" } as const;

export interface RolePage extends KeysetPage {
  readonly sort: keyof typeof roleSorts;
  readonly limit: number;
  /** Null: the organisation's own. */
  readonly applicationId?: string | null;
}

export async function listRoles(db: Db, orgId: string, page: RolePage): Promise<Role[]> {
  const column = sql.ref(roleSorts[page.sort]);
  const { within, direction } = readPage(page, { value: column, id: sql.ref("id") });
  const { applicationId } = page;
  const rows = await db
    .selectFrom("role")
    .selectAll()
    .where("org_id", "=", orgId)
    .$if(applicationId !== undefined, (query) => query.where(ofApplication(applicationId ?? null)))
    .where(within)
    .orderBy(column, direction)
    .orderBy("id", direction)
    .limit(page.limit)
    .execute();
  return inListOrder(page, rows).map(fromRow);
}
