/** Further data for a member's page. */
import type { Db } from "../../../db/open.ts";

type Member = { orgId: string; userId: string };

/** Milliseconds. From the audit log, which outlasts sessions. */
export async function findLastSignIn(db: Db, { orgId, userId }: Member): Promise<number | undefined> {
  const session = await db
    .selectFrom("browser_session")
    .select((eb) => eb.fn.max("auth_time").as("at"))
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  // `max` of no rows is null, whatever the types say.
  const at = session?.at as number | null | undefined;
  if (at !== null && at !== undefined) return at;
  const event = await db
    .selectFrom("audit_event")
    .select("at")
    .where("org_id", "=", orgId)
    .where("actor", "=", `user:${userId}`)
    .where("action", "in", ["session.started", "session.renewed"])
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  return event?.at;
}

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
