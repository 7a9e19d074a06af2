import type { Db } from "../../../db/open.ts";
import type { MailTemplate } from "../../mail/mail.ts";

/** Whose: everything of a user in one organisation. */
export interface MemberKey {
  readonly orgId: string;
  readonly userId: string;
}

/**
 * Whether somebody else can administer the organisation: neither disabled, nor with a home that is, nor only invited: an
 * invitation may never be accepted.
 */
export async function hasOtherAdministrator(tx: Db, { orgId, userId }: MemberKey): Promise<boolean> {
  const row = await tx
    .selectFrom("membership")
    .innerJoin("user_account", (join) =>
      join
        .onRef("user_account.org_id", "=", "membership.home_org_id")
        .onRef("user_account.id", "=", "membership.user_id"),
    )
    .innerJoin("organisation as home", "home.id", "membership.home_org_id")
    .select("membership.user_id")
    .where("membership.org_id", "=", orgId)
    .where("membership.role", "=", "Administrator")
    .where("membership.user_id", "<>", userId)
    .where("user_account.disabled_at", "is", null)
    .where("user_account.password_hash", "is not", null)
    .where("home.disabled_at", "is", null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether the user administers the organisation now. */
export async function isAdministrator(tx: Db, { orgId, userId }: MemberKey): Promise<boolean> {
  const row = await tx
    .selectFrom("membership")
    .select("user_id")
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .where("role", "=", "Administrator")
    .executeTakeFirst();
  return row !== undefined;
}

/** Tables that keep something about a member and do not go with the membership's row. */
const personal = [
  "authorization_code",
  "device_authorization",
  "token_family",
  "session_key",
  "remembered_device",
  "known_browser",
  "browser_session",
] as const;

/** The links of mails, used or not. */
export async function deleteLinks(tx: Db, { orgId, userId }: MemberKey): Promise<void> {
  await tx.deleteFrom("user_action").where("org_id", "=", orgId).where("user_id", "=", userId).execute();
}

/** What an organisation keeps about a member, besides the audit log. The sessions have ended before. */
export async function deletePersonalRows(tx: Db, { orgId, userId }: MemberKey): Promise<void> {
  for (const table of personal)
    await tx.deleteFrom(table).where("org_id", "=", orgId).where("user_id", "=", userId).execute();
  // Those in force and those taken back each have an index.
  for (const is of ["is", "is not"] as const)
    await tx
      .deleteFrom("consent")
      .where("org_id", "=", orgId)
      .where("user_id", "=", userId)
      .where("revoked_at", is, null)
      .execute();
}

/** Mails that have not been sent yet: of one kind, or all. */
export async function deletePendingMails(
  tx: Db,
  { orgId, recipient, template }: { orgId: string; recipient: string; template?: MailTemplate },
): Promise<void> {
  let query = tx
    .deleteFrom("outgoing_mail")
    .where("org_id", "=", orgId)
    .where("recipient", "=", recipient)
    .where("sent_at", "is", null)
    .where("failed_at", "is", null);
  if (template !== undefined) query = query.where("template", "=", template);
  await query.execute();
}

/** Assignments and settings go with it. @returns false when there is no such guest */
export async function deleteGuestMembership(tx: Db, { orgId, userId }: MemberKey): Promise<boolean> {
  const result = await tx
    .deleteFrom("membership")
    .where("org_id", "=", orgId)
    .where("user_id", "=", userId)
    .whereRef("home_org_id", "<>", "org_id")
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}

/** Memberships, factors, assignments and settings go with it. @returns false when the organisation owns no such account */
export async function deleteAccount(tx: Db, { orgId, userId }: MemberKey): Promise<boolean> {
  const result = await tx
    .deleteFrom("user_account")
    .where("org_id", "=", orgId)
    .where("id", "=", userId)
    .executeTakeFirst();
  return result.numDeletedRows > 0n;
}
