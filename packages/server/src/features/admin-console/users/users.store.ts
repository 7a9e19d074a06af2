/** What the page of a member shows beside what the core knows of them. */
import type { Db } from "../../../db/open.ts";

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

/** Milliseconds; sessions are forgotten after their end, and the audit log remembers longer. */
export async function findLastSignIn(db: Db, { orgId, userId }: Member): Promise<number | undefined> {
  const session = await db
    .selectFrom("browser_session")
    .select((eb) => eb.fn.max("auth_time").as("at"))
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .executeTakeFirst();
  // Of no row at all the greatest is null, whatever the types say.
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

export interface AssignedApplication {
  readonly id: string;
  readonly name: string;
}

/** Applications that the member is assigned to, by name. */
export async function listAssignedTo(
  db: Db,
  { orgId, userId }: Member,
  limit: number,
): Promise<AssignedApplication[]> {
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
