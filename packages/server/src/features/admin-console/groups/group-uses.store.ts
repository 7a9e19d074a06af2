/** The applications that a group opens to its members. */
import type { GroupKey } from "../../../core/groups/groups.store.ts";
import type { Db } from "../../../db/open.ts";

export interface OpenedApplication {
  readonly id: string;
  readonly name: string;
  readonly assignedAt: number;
}

/** By name. */
export const listOpenedBy = (db: Db, { orgId, id }: GroupKey, limit: number): Promise<OpenedApplication[]> =>
  db
    .selectFrom("application_group")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "application_group.org_id")
        .onRef("application.id", "=", "application_group.application_id"),
    )
    .select(["application.id", "application.name", "application_group.assigned_at as assignedAt"])
    .where("application_group.org_id", "=", orgId)
    .where("application_group.group_id", "=", id)
    .orderBy("application.name")
    .orderBy("application.id")
    .limit(limit)
    .execute();
