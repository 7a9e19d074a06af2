/** When a member signed in last. */
import type { Db } from "../../db/open.ts";

/** Milliseconds. From the audit log, which outlasts sessions. */
export async function findLastSignIn(
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<number | undefined> {
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
