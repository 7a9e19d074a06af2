/** Deletes what is stored about a member who leaves. */
import { affectsAny, hasRow } from "../../../db/affected.ts";
import { allOf } from "../../../db/conditions.ts";
import type { Db } from "../../../db/open.ts";
import type { MailTemplate } from "../../mail/mail.ts";
import { organisationsOfUser } from "../members/members.store.ts";

export interface MemberKey {
  readonly orgId: string;
  readonly userId: string;
}

export const isAdministrator = (tx: Db, { orgId, userId }: MemberKey): Promise<boolean> =>
  hasRow(
    tx
      .selectFrom("membership")
      .select("user_id")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId, role: "Administrator" })),
  );

/** Tables with personal data that are not deleted with the membership by the schema. */
const personalTables = [
  "authorization_code",
  "device_authorization",
  "ciba_request",
  "token_family",
  "session_key",
  "remembered_device",
  "known_browser",
  "browser_session",
] as const;

export async function deleteLinks(tx: Db, { orgId, userId }: MemberKey): Promise<void> {
  await tx.deleteFrom("user_action").where("org_id", "=", orgId).where("user_id", "=", userId).execute();
}

/** Deletes what an organisation stores about a member, except the audit log. End the sessions first. */
export async function deletePersonalRows(tx: Db, { orgId, userId }: MemberKey): Promise<void> {
  for (const table of personalTables)
    await tx.deleteFrom(table).where("org_id", "=", orgId).where("user_id", "=", userId).execute();
  // Active and revoked consents have an index each.
  for (const is of ["is", "is not"] as const)
    await tx
      .deleteFrom("consent")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
      .where("revoked_at", is, null)
      .execute();
}

/** Codes that somebody could still redeem. */
export async function deleteCodes(tx: Db, { orgId, userId }: MemberKey): Promise<void> {
  for (const table of ["authorization_code", "device_authorization", "ciba_request"] as const)
    await tx.deleteFrom(table).where("org_id", "=", orgId).where("user_id", "=", userId).execute();
}

/** Unsent emails of one template, or all. */
export async function deletePendingMails(
  tx: Db,
  { orgId, recipient, template }: { orgId: string; recipient: string; template?: MailTemplate },
): Promise<void> {
  let query = tx
    .deleteFrom("outgoing_mail")
    .where((eb) => allOf(eb, { org_id: orgId, recipient }))
    .where("sent_at", "is", null)
    .where("failed_at", "is", null);
  if (template !== undefined) query = query.where("template", "=", template);
  await query.execute();
}

/** Deletes assignments and settings too. @returns false when there is no such guest */
export const deleteGuestMembership = (tx: Db, { orgId, userId }: MemberKey): Promise<boolean> =>
  affectsAny(
    tx
      .deleteFrom("membership")
      .where((eb) => allOf(eb, { org_id: orgId, user_id: userId }))
      .whereRef("home_org_id", "<>", "org_id"),
  );

/** Deletes memberships, factors, assignments and settings too. @returns false when there is no such account */
export async function deleteAccount(tx: Db, { orgId, userId }: MemberKey): Promise<boolean> {
  const account = tx.deleteFrom("user_account").where((eb) => allOf(eb, { org_id: orgId, id: userId }));
  if (!(await affectsAny(account))) return false;
  // After the account, for which a simultaneous invitation's end has waited: insertMembership. A distributed database keeps
  // no reference to another organisation's account.
  for (const visited of await organisationsOfUser(tx, orgId, userId))
    await tx
      .deleteFrom("membership")
      .where((eb) => allOf(eb, { org_id: visited, user_id: userId, home_org_id: orgId }))
      .execute();
  return true;
}
