/** The lists of users and groups that are assigned to an application: the database filters, sorts and pages. */
import { sql } from "kysely";
import { guestsAsTable } from "../../../core/users/members/guests.store.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

interface Assigned {
  readonly id: string;
  /** Of a user the email address, of a group its name. */
  readonly name: string;
  readonly createdBy: string;
  readonly createdAt: number;
}

export type AssignedPage = ListPage<Assigned & { readonly sortValue: string | number }>;

interface OfApplication {
  readonly orgId: string;
  readonly applicationId: string;
}

export const assignedUserFields: SqlFields = {
  id: { kind: "text", of: sql.ref("application_user.user_id") },
  email: { kind: "text", of: sql`coalesce(user_account.email, guest.email)` },
  createdBy: { kind: "text", of: sql.ref("application_user.assigned_by") },
  createdAt: { kind: "time", of: sql.ref("application_user.assigned_at"), isNeverNull: true },
};

export async function listAssignedUserPage(
  db: Db,
  { orgId, applicationId }: OfApplication,
  list: ListRequest,
): Promise<AssignedPage> {
  const sqlOf = sqlList(db, list, assignedUserFields, sql.ref("application_user.user_id"));
  const guests = await guestsAsTable(db, orgId);
  const matching = () =>
    db
      .selectFrom("application_user")
      .innerJoin("membership", (join) =>
        join
          .onRef("membership.org_id", "=", "application_user.org_id")
          .onRef("membership.user_id", "=", "application_user.user_id"),
      )
      .leftJoin("user_account", (join) =>
        join
          .onRef("user_account.org_id", "=", "membership.org_id")
          .onRef("user_account.id", "=", "membership.user_id")
          .onRef("user_account.org_id", "=", "membership.home_org_id"),
      )
      .leftJoin(guests.as("guest"), (join) =>
        join
          .onRef("guest.id", "=", "membership.user_id")
          .onRef("membership.home_org_id", "<>", "membership.org_id"),
      )
      .where("application_user.org_id", "=", orgId)
      .where("application_user.application_id", "=", applicationId)
      .where(sqlOf.matching);
  const rows = await matching()
    .select([
      "application_user.user_id as id",
      sql<string>`coalesce(user_account.email, guest.email)`.as("name"),
    ])
    .select(["application_user.assigned_by as createdBy", "application_user.assigned_at as createdAt"])
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  return sqlPage(list, rows, () => countRows(db, matching().select("application_user.user_id")));
}

export const assignedGroupFields: SqlFields = {
  id: { kind: "text", of: sql.ref("application_group.group_id") },
  displayName: { kind: "text", of: sql.ref("user_group.display_name") },
  createdBy: { kind: "text", of: sql.ref("application_group.assigned_by") },
  createdAt: { kind: "time", of: sql.ref("application_group.assigned_at"), isNeverNull: true },
};

export async function listAssignedGroupPage(
  db: Db,
  { orgId, applicationId }: OfApplication,
  list: ListRequest,
): Promise<AssignedPage> {
  const sqlOf = sqlList(db, list, assignedGroupFields, sql.ref("application_group.group_id"));
  const matching = () =>
    db
      .selectFrom("application_group")
      .innerJoin("user_group", (join) =>
        join
          .onRef("user_group.org_id", "=", "application_group.org_id")
          .onRef("user_group.id", "=", "application_group.group_id"),
      )
      .where("application_group.org_id", "=", orgId)
      .where("application_group.application_id", "=", applicationId)
      .where(sqlOf.matching);
  const rows = await matching()
    .select(["application_group.group_id as id", "user_group.display_name as name"])
    .select(["application_group.assigned_by as createdBy", "application_group.assigned_at as createdAt"])
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  return sqlPage(list, rows, () => countRows(db, matching().select("application_group.group_id")));
}
