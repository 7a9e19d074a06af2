/** Reads open invitations. */
import { sql } from "kysely";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import type { AuditAction } from "../../audit/actions.ts";

export const invitationActions: readonly AuditAction[] = [
  "user.invited",
  "invitation.accepted",
  "invitation.withdrawn",
];

interface Member {
  readonly orgId: string;
  readonly userId: string;
}

export const invitationSteps = (db: Db, { orgId, userId }: Member) =>
  db
    .selectFrom("audit_event")
    .select(["action", "at"])
    .where((eb) => allOf(eb, { org_id: orgId, target: userId }))
    // Only changes, of which a user has few; failed sign-ins can be any number.
    .where("is_change", "=", sql.lit(1))
    .where("action", "in", invitationActions)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1);

/** The unused link, expired or not. */
export async function findOpenInvitation(
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<{ createdAt: number; expiresAt: number } | undefined> {
  return db
    .selectFrom("user_action")
    .select(["created_at as createdAt", "expires_at as expiresAt"])
    .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, type: "AcceptInvitation" }))
    .where("used_at", "is", null)
    .executeTakeFirst();
}

/** The status of an invitation's newest email; undefined when it has been deleted since. */
export async function findInvitationMail(
  db: Db,
  { orgId, recipient }: { orgId: string; recipient: string },
): Promise<"waiting" | "sent" | "failed" | undefined> {
  const mail = await db
    .selectFrom("outgoing_mail")
    .select(["sent_at", "failed_at"])
    .where((eb) => allOf(eb, { org_id: orgId, recipient, template: "AcceptInvitation" }))
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!mail) return undefined;
  if (mail.sent_at !== null) return "sent";
  return mail.failed_at === null ? "waiting" : "failed";
}
