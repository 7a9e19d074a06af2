import { sql } from "kysely";
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

/** What happened last to a user's invitation. */
export const findInvitationSteps = (
  db: Db,
  member: Member,
): Promise<{ action: string; at: number } | undefined> => invitationSteps(db, member).executeTakeFirst();

export const invitationSteps = (db: Db, { orgId, userId }: Member) =>
  db
    .selectFrom("audit_event")
    .select(["action", "at"])
    .where("org_id", "=", orgId)
    .where("target", "=", userId)
    // All of them are changes, of which a record has few; that somebody fails to sign in happens to it without end.
    .where("is_change", "=", sql.lit(1))
    .where("action", "in", invitationActions)
    .orderBy("at", "desc")
    .orderBy("id", "desc")
    .limit(1);

/** The link that is not used; it may have run out. */
export async function findOpenInvitation(
  db: Db,
  { orgId, userId }: { orgId: string; userId: string },
): Promise<{ createdAt: number; expiresAt: number } | undefined> {
  return db
    .selectFrom("user_action")
    .select(["created_at as createdAt", "expires_at as expiresAt"])
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .where("type", "=", "AcceptInvitation")
    .where("used_at", "is", null)
    .executeTakeFirst();
}

/** How the newest mail of an invitation stands; undefined when it was sent so long ago that it is forgotten. */
export async function findInvitationMail(
  db: Db,
  { orgId, recipient }: { orgId: string; recipient: string },
): Promise<"waiting" | "sent" | "failed" | undefined> {
  const mail = await db
    .selectFrom("outgoing_mail")
    .select(["sent_at", "failed_at"])
    .where("org_id", "=", orgId)
    .where("recipient", "=", recipient)
    .where("template", "=", "AcceptInvitation")
    .orderBy("id", "desc")
    .limit(1)
    .executeTakeFirst();
  if (!mail) return undefined;
  if (mail.sent_at !== null) return "sent";
  return mail.failed_at === null ? "waiting" : "failed";
}

/** An account that is not disabled and has no password; it is held for the transaction. */
export async function hasNoPassword(
  tx: Db,
  { homeOrgId, id }: { homeOrgId: string; id: string },
): Promise<boolean> {
  const held = await tx
    .updateTable("user_account")
    .set((eb) => ({ updated_at: eb.ref("updated_at") }))
    .where("org_id", "=", homeOrgId)
    .where("id", "=", id)
    .where("password_hash", "is", null)
    .where("disabled_at", "is", null)
    .executeTakeFirst();
  return held.numUpdatedRows > 0n;
}
