/** Further data for a member's page. */
import type { Db } from "../../../db/open.ts";

type Member = { orgId: string; userId: string };

/** By name. */
export async function listAssignedTo(
  db: Db,
  { orgId, userId }: Member,
  limit: number,
): Promise<{ id: string; name: string }[]> {
  return db
    .selectFrom("application_user")
    .innerJoin("application", (join) =>
      join
        .onRef("application.org_id", "=", "application_user.org_id")
        .onRef("application.id", "=", "application_user.application_id"),
    )
    .select(["application.id", "application.name"])
    .where("application_user.org_id", "=", orgId)
    .where("application_user.user_id", "=", userId)
    .orderBy("application.name")
    .orderBy("application.id")
    .limit(limit)
    .execute();
}
