/** Stores which users and groups are assigned to which applications. */
import { type CompiledQuery, sql } from "kysely";
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRow } from "../../db/records.ts";
import { findMemberNames } from "../users/members/member-names.store.ts";

type Assignment = { orgId: string; applicationId: string; userId: string };

const selectAssigned = prepared((db, value: Parameter<Assignment>) =>
  db
    .selectFrom("application_user")
    .select("user_id")
    .where((eb) => allOf(eb, { org_id: value("orgId"), application_id: value("applicationId") }))
    .where("user_id", "=", value("userId")),
);

/** Whether the user itself is assigned. */
export async function isAssigned(db: Db, assignment: Assignment): Promise<boolean> {
  return (await selectAssigned(db, assignment)).length > 0;
}

type Member = Pick<Assignment, "orgId" | "userId">;

/** The groups that a user is in, at any depth. */
const groupsOf = ({ orgId, userId }: Member) => sql`with recursive inside (id) as (
    select group_id from group_user where org_id = ${orgId} and user_id = ${userId}
    union
    select n.group_id from inside join group_nested n on n.org_id = ${orgId} and n.member_id = inside.id)`;

const selectAssignedGroup = prepared((db, value: Parameter<Assignment>) => {
  const orgId = value("orgId");
  const statement = sql<{ groupId: string }>`${groupsOf({ orgId, userId: value("userId") })}
    select p.group_id as "groupId" from inside join application_group p
      on p.org_id = ${orgId} and p.application_id = ${value("applicationId")} and p.group_id = inside.id
    limit 1`;
  return { compile: (): CompiledQuery<{ groupId: string }> => statement.compile(db) };
});

/** Whether one of the user's groups is assigned. */
export async function isAssignedByGroup(db: Db, assignment: Assignment): Promise<boolean> {
  return (await selectAssignedGroup(db, assignment)).length > 0;
}

/**
 * @param among.applicationIds at most a few hundred
 * @returns those that the user is assigned to, itself or by a group
 */
export async function findAssigned(
  db: Db,
  { orgId, userId, applicationIds }: { orgId: string; userId: string; applicationIds: readonly string[] },
): Promise<ReadonlySet<string>> {
  if (applicationIds.length === 0) return new Set();
  const rows = await db
    .selectFrom("application_user")
    .select("application_id")
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
    .where("application_id", "in", applicationIds)
    .execute();
  const byGroup = await sql<{ application_id: string }>`${groupsOf({ orgId, userId })}
    select distinct p.application_id from inside
    join application_group p on p.org_id = ${orgId} and p.group_id = inside.id
    where p.application_id in (${sql.join(applicationIds)})`.execute(db);
  return new Set([...rows, ...byGroup.rows].map(({ application_id }) => application_id));
}

/** The application and the membership must exist. @returns false when the user is already assigned */
export async function insertAssignment(
  db: Db,
  assignment: Assignment & { by: string; now: number },
): Promise<boolean> {
  const { orgId, applicationId, userId, by, now } = assignment;
  return hasRow(
    db
      .insertInto("application_user")
      .values({ ...toRow({ orgId, applicationId, userId }), assigned_by: by, assigned_at: now })
      .onConflict((conflict) => conflict.columns(["org_id", "application_id", "user_id"]).doNothing())
      .returning("user_id"),
  );
}

/** @returns false when the user was not assigned */
export const deleteAssignment = (db: Db, { orgId, applicationId, userId }: Assignment): Promise<boolean> =>
  affectsAny(
    db.deleteFrom("application_user").where((eb) => allOf(eb, toRow({ orgId, applicationId, userId }))),
  );

export interface AssignedUser {
  readonly id: string;
  readonly email: string;
  readonly assignedBy: string;
  readonly assignedAt: number;
}

/** By PermId; reads one more than the limit. */
export async function listAssignedUsers(
  db: Db,
  of: { orgId: string; applicationId: string },
  page: { limit: number; after: string | undefined },
): Promise<AssignedUser[]> {
  const rows = await db
    .selectFrom("application_user")
    .select(["application_user.user_id as id"])
    .select(["application_user.assigned_by as assignedBy", "application_user.assigned_at as assignedAt"])
    .where("application_user.org_id", "=", of.orgId)
    .where("application_user.application_id", "=", of.applicationId)
    .$if(page.after !== undefined, (query) => query.where("application_user.user_id", ">", page.after ?? ""))
    .orderBy("application_user.user_id")
    .limit(page.limit + 1)
    .execute();
  const ids = rows.map(({ id }) => id);
  const names = await findMemberNames(db, of.orgId, ids);
  return rows.map((row) => ({ ...row, email: names.get(row.id)?.email ?? "" }));
}

type GroupAssignment = { orgId: string; applicationId: string; groupId: string };

/** The application and the group must exist. @returns false when the group is already assigned */
export const insertGroupAssignment = (
  db: Db,
  { orgId, applicationId, groupId, by, now }: GroupAssignment & { by: string; now: number },
): Promise<boolean> =>
  hasRow(
    db
      .insertInto("application_group")
      .values({ ...toRow({ orgId, applicationId, groupId }), assigned_by: by, assigned_at: now })
      .onConflict((conflict) => conflict.columns(["org_id", "application_id", "group_id"]).doNothing())
      .returning("group_id"),
  );

/** @returns false when the group was not assigned */
export const deleteGroupAssignment = (
  db: Db,
  { orgId, applicationId, groupId }: GroupAssignment,
): Promise<boolean> =>
  affectsAny(
    db.deleteFrom("application_group").where((eb) => allOf(eb, toRow({ orgId, applicationId, groupId }))),
  );

export interface AssignedGroup {
  readonly id: string;
  readonly displayName: string;
  readonly assignedBy: string;
  readonly assignedAt: number;
}

/** By id; reads one more than the limit. */
export async function listAssignedGroups(
  db: Db,
  of: { orgId: string; applicationId: string },
  { limit, after = "" }: { limit: number; after?: string | undefined },
): Promise<AssignedGroup[]> {
  return db
    .selectFrom("application_group")
    .innerJoin("user_group", (join) =>
      join
        .onRef("user_group.org_id", "=", "application_group.org_id")
        .onRef("user_group.id", "=", "application_group.group_id"),
    )
    .select(["user_group.id", "user_group.display_name as displayName"])
    .select(["application_group.assigned_by as assignedBy", "application_group.assigned_at as assignedAt"])
    .where((eb) => allOf(eb, { "application_group.org_id": of.orgId }))
    .where("application_group.application_id", "=", of.applicationId)
    .where("application_group.group_id", ">", after)
    .orderBy("application_group.group_id")
    .limit(limit + 1)
    .execute();
}
