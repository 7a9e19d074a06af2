/** Stores which users are assigned to which applications. */
import { affectsAny, hasRow } from "../../db/affected.ts";
import { allOf } from "../../db/conditions.ts";
import type { Db } from "../../db/open.ts";
import { type Parameter, prepared } from "../../db/prepared.ts";
import { toRow } from "../../db/records.ts";

type Assignment = { orgId: string; applicationId: string; userId: string };

const selectAssigned = prepared((db, value: Parameter<Assignment>) =>
  db
    .selectFrom("application_user")
    .select("user_id")
    .where((eb) => allOf(eb, { org_id: value("orgId"), application_id: value("applicationId") }))
    .where("user_id", "=", value("userId")),
);

export async function isAssigned(db: Db, assignment: Assignment): Promise<boolean> {
  return (await selectAssigned(db, assignment)).length > 0;
}

/** @param among.applicationIds at most a few hundred. @returns those that the user is assigned to */
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
  return new Set(rows.map(({ application_id }) => application_id));
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
  return db
    .selectFrom("application_user")
    .innerJoin("membership", (join) =>
      join
        .onRef("membership.org_id", "=", "application_user.org_id")
        .onRef("membership.user_id", "=", "application_user.user_id"),
    )
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.home_org_id")
        .onRef("user_account.id", "=", "membership.user_id"),
    )
    .select(["application_user.user_id as id", "user_account.email"])
    .select(["application_user.assigned_by as assignedBy", "application_user.assigned_at as assignedAt"])
    .where("application_user.org_id", "=", of.orgId)
    .where("application_user.application_id", "=", of.applicationId)
    .$if(page.after !== undefined, (query) => query.where("application_user.user_id", ">", page.after ?? ""))
    .orderBy("application_user.user_id")
    .limit(page.limit + 1)
    .execute();
}
