/** Stores who has which role. */
import { type ExpressionBuilder, sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import { inListOrder, type KeysetPage, readPage } from "../../db/keyset.ts";
import type { Db } from "../../db/open.ts";
import type { Schema } from "../../db/schema.ts";

export const subjectTypes = ["user", "group", "application", "systemAccount"] as const;
export type SubjectType = (typeof subjectTypes)[number];

export interface Subject {
  readonly subjectType: SubjectType;
  readonly subjectId: string;
}

export interface Assignment extends Subject {
  readonly orgId: string;
  readonly id: string;
  readonly roleId: string;
  readonly roleKey: string;
  readonly applicationId: string | null;
  readonly createdBy: string;
  readonly createdAt: number;
}

/** Where an assignment names its subject, and where the subjects are. */
export const subjectColumns = {
  user: "user_id",
  group: "group_id",
  application: "client_id",
  systemAccount: "system_account_id",
} as const satisfies Record<SubjectType, string>;

export const subjectExists = (
  db: Db,
  orgId: string,
  { subjectType, subjectId }: Subject,
): Promise<boolean> => {
  if (subjectType === "user") {
    const member = db.selectFrom("membership").select("user_id");
    return hasRow(member.where((eb) => allOf(eb, { org_id: orgId, user_id: subjectId })));
  }
  const table = { group: "user_group", application: "application", systemAccount: "system_account" } as const;
  const record = db.selectFrom(table[subjectType]).select("id");
  return hasRow(record.where("org_id", "=", orgId).where("id", "=", subjectId));
};

/** @returns false when the subject has the role already */
export const insertAssignment = (
  db: Db,
  { orgId, id, roleId, subjectType, subjectId, createdBy, createdAt }: Assignment,
): Promise<boolean> =>
  hasRow(
    db
      .insertInto("role_assignment")
      .values({
        ...{ org_id: orgId, id, role_id: roleId, created_by: createdBy, created_at: createdAt },
        ...{ user_id: null, group_id: null, client_id: null, system_account_id: null },
        [subjectColumns[subjectType]]: subjectId,
      })
      .onConflict((conflict) => conflict.doNothing())
      .returning("id"),
  );

export const deleteAssignment = (
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<boolean> =>
  affectsAny(db.deleteFrom("role_assignment").where((eb) => allOf(eb, { org_id: orgId, id })));

/** The members of an assignment as SQL, for lists that filter by them. */
export const assignmentColumns = {
  id: sql.ref("role_assignment.id"),
  roleId: sql.ref("role_assignment.role_id"),
  roleKey: sql.ref("role.key"),
  applicationId: sql.ref("role.application_id"),
  subjectType: sql`case when role_assignment.user_id is not null then 'user'
    when role_assignment.group_id is not null then 'group'
    when role_assignment.client_id is not null then 'application' else 'systemAccount' end`,
  subjectId: sql`coalesce(role_assignment.user_id, role_assignment.group_id, role_assignment.client_id,
    role_assignment.system_account_id)`,
  createdBy: sql.ref("role_assignment.created_by"),
  createdAt: sql.ref("role_assignment.created_at"),
} as const;

const assignments = (db: Db, orgId: string) =>
  db
    .selectFrom("role_assignment")
    .innerJoin("role", (join) =>
      join
        .onRef("role.org_id", "=", "role_assignment.org_id")
        .onRef("role.id", "=", "role_assignment.role_id"),
    )
    .select([
      "role_assignment.org_id as orgId",
      "role_assignment.id",
      "role_assignment.role_id as roleId",
      "role.key as roleKey",
      "role.application_id as applicationId",
      "role_assignment.created_by as createdBy",
      "role_assignment.created_at as createdAt",
      assignmentColumns.subjectType.$castTo<SubjectType>().as("subjectType"),
      assignmentColumns.subjectId.$castTo<string>().as("subjectId"),
    ])
    .where("role_assignment.org_id", "=", orgId);

export function findAssignment(
  db: Db,
  { orgId, id }: { readonly orgId: string; readonly id: string },
): Promise<Assignment | undefined> {
  return assignments(db, orgId).where("role_assignment.id", "=", id).executeTakeFirst();
}

export interface AssignmentPage extends KeysetPage {
  readonly limit: number;
  readonly of?: Partial<Subject> & { readonly roleId?: string; readonly applicationId?: string };
}

export async function listAssignments(db: Db, orgId: string, page: AssignmentPage): Promise<Assignment[]> {
  const { createdAt: value, id } = assignmentColumns;
  const { within, direction } = readPage(page, { value, id });
  const rows = await assignments(db, orgId)
    .where((eb) => isOf(eb, page.of ?? {}))
    .where(within)
    .orderBy(value, direction)
    .orderBy(id, direction)
    .limit(page.limit)
    .execute();
  return inListOrder(page, rows);
}

function isOf(
  eb: ExpressionBuilder<Schema, "role_assignment" | "role">,
  { roleId, applicationId, subjectType, subjectId }: NonNullable<AssignmentPage["of"]>,
) {
  const column = subjectType && (`role_assignment.${subjectColumns[subjectType]}` as const);
  return eb.and([
    ...(roleId === undefined ? [] : [eb("role_assignment.role_id", "=", roleId)]),
    ...(applicationId === undefined ? [] : [eb("role.application_id", "=", applicationId)]),
    ...(column && subjectId === undefined ? [eb(column, "is not", null)] : []),
    ...(column && subjectId !== undefined ? [eb(column, "=", subjectId)] : []),
  ]);
}
