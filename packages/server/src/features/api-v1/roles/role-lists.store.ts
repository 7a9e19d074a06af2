/** The lists of roles and of assignments: the database filters, sorts and pages. */
import { sql } from "kysely";
import {
  type Assignment,
  assignmentColumns,
  type SubjectType,
} from "../../../core/roles/assignments.store.ts";
import type { Role } from "../../../core/roles/role.ts";
import { countRows } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import type { ListPage, ListRequest } from "../lists/list-request.ts";
import { type SqlFields, sqlList, sqlPage } from "../lists/sql-list.store.ts";

type Sorted<R> = ListPage<R & { readonly sortValue: string | number }>;

const text = (column: string) => ({ kind: "text", of: sql.ref(`role.${column}`) }) as const;
const time = (column: string) =>
  ({ kind: "time", of: sql.ref(`role.${column}`), isNeverNull: true }) as const;

export const roleFields: SqlFields = {
  ...{ id: text("id"), applicationId: text("application_id"), key: text("key"), name: text("name") },
  description: text("description"),
  builtIn: { kind: "boolean", is: sql`role.built_in = 1` },
  ...{ createdAt: time("created_at"), updatedAt: time("updated_at") },
};

export async function listRolePage(db: Db, orgId: string, list: ListRequest): Promise<Sorted<Role>> {
  const sqlOf = sqlList(db, list, roleFields, sql.ref("role.id"));
  const matching = () => db.selectFrom("role").where("role.org_id", "=", orgId).where(sqlOf.matching);
  const rows = await matching()
    .select(["org_id as orgId", "id", "application_id as applicationId", "key", "name", "description"])
    .select(["permissions", "built_in as builtIn", "version"])
    .select(["created_at as createdAt", "updated_at as updatedAt"])
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  const shown = rows.map((row) => ({
    ...row,
    permissions: JSON.parse(row.permissions) as string[],
    builtIn: row.builtIn === 1,
  }));
  return sqlPage(list, shown, () => countRows(db, matching().select("role.id")));
}

const assignmentText = (of: (typeof assignmentColumns)[keyof typeof assignmentColumns]) =>
  ({ kind: "text", of }) as const;

export const assignmentFields: SqlFields = {
  id: assignmentText(assignmentColumns.id),
  roleId: assignmentText(assignmentColumns.roleId),
  roleKey: assignmentText(assignmentColumns.roleKey),
  applicationId: assignmentText(assignmentColumns.applicationId),
  subjectType: assignmentText(assignmentColumns.subjectType),
  subjectId: assignmentText(assignmentColumns.subjectId),
  createdBy: assignmentText(assignmentColumns.createdBy),
  createdAt: { kind: "time", of: assignmentColumns.createdAt, isNeverNull: true },
};

export async function listAssignmentPage(
  db: Db,
  orgId: string,
  list: ListRequest,
): Promise<Sorted<Assignment>> {
  const sqlOf = sqlList(db, list, assignmentFields, sql.ref("role_assignment.id"));
  const { subjectType, subjectId } = assignmentColumns;
  const matching = () =>
    db
      .selectFrom("role_assignment")
      .innerJoin("role", (join) =>
        join
          .onRef("role.org_id", "=", "role_assignment.org_id")
          .onRef("role.id", "=", "role_assignment.role_id"),
      )
      .where("role_assignment.org_id", "=", orgId)
      .where(sqlOf.matching);
  const rows = await matching()
    .select(["role_assignment.org_id as orgId", "role_assignment.id", "role_assignment.role_id as roleId"])
    .select(["role.key as roleKey", "role.application_id as applicationId"])
    .select(["role_assignment.created_by as createdBy", "role_assignment.created_at as createdAt"])
    .select(subjectType.$castTo<SubjectType>().as("subjectType"))
    .select(subjectId.$castTo<string>().as("subjectId"))
    .select(sqlOf.value.as("sortValue"))
    .where(sqlOf.within)
    .orderBy(sqlOf.value, sqlOf.direction)
    .orderBy(sqlOf.id, sqlOf.direction)
    .limit(sqlOf.limit)
    .execute();
  return sqlPage(list, rows, () => countRows(db, matching().select("role_assignment.id")));
}
