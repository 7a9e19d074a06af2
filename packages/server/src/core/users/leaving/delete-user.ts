/**
 * Deletes accounts and guest memberships: sessions, tokens and keys end with back-channel logout, and all personal
 * data is deleted except the audit log, which keeps the PermId only.
 */
import type { Db } from "../../../db/open.ts";
import { auditFields, recordAuditEvent } from "../../audit/audit.store.ts";
import { deleteTypedEmails } from "../../audit/event-context.store.ts";
import { type NoticeDeps, type NoticeOrigin, sendNotice } from "../../mail/notices.ts";
import { type RecordDeps, recordChange } from "../../record-changes.ts";
import { deleteFiltersNaming } from "../../saved-filters/saved-filters.ts";
import { endSessions } from "../../sessions/end-sessions.ts";
import { deleteSignUpsOf } from "../../sign-ups/sign-ups.store.ts";
import { lockUserAccount } from "../account.store.ts";
import { organisationsOfUser } from "../members/members.store.ts";
import { emailKey } from "../user.ts";
import { findUser } from "../users.store.ts";
import { requireAnotherAdministrator } from "./last-administrator.ts";
import {
  deleteAccount,
  deleteGuestMembership,
  deleteLinks,
  deletePendingMails,
  deletePersonalRows,
  type MemberKey,
} from "./leaving.store.ts";
import { endUnfinished } from "./unfinished.ts";

export interface Leaving extends NoticeOrigin {
  readonly orgId: string;
  /** PermId. */
  readonly id: string;
  /** As in `AuditEvent.actor`. */
  readonly actor: string;
}

/**
 * Only the home organisation can be left without an administrator and refuse: a visited one has no say in who may delete an
 * account. What it keeps (audit events, records) names the PermId only, which then belongs to nobody.
 * @param leaving.orgId the home organisation
 * @returns false when there is no such account.
 * @throws LastAdministrator
 */
export async function deleteUser(deps: RecordDeps & NoticeDeps, leaving: Leaving): Promise<boolean> {
  const { orgId, id } = leaving;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const organisations = await organisationsOfUser(tx, orgId, id);
    // Links are locked before the account, as when a link is redeemed, to prevent deadlocks.
    for (const visited of organisations) await deleteLinks(tx, { orgId: visited, userId: id });
    await lockUserAccount(tx, { homeOrgId: orgId, id }, now);
    const user = await findUser(tx, orgId, id);
    if (!user || user.homeOrgId !== orgId) return false;
    await requireAnotherAdministrator(tx, { orgId, userId: id });
    for (const visited of organisations) {
      await deletePersonalData(tx, { orgId: visited, userId: id }, now);
      await deleteAddress(tx, visited, user.email);
      const action = visited === orgId ? "user.deleted" : "roaming.ended";
      const event = { ...auditFields(leaving, now), orgId: visited, action, target: id } as const;
      // What the user had there by groups and roles ends on every node.
      await recordChange(tx, deps, "entitlement", event);
    }
    if (!(await deleteAccount(tx, { orgId, userId: id }))) return false;
    await sendNotice(tx, deps, user, { template: "AccountDeleted" }, leaving);
    return true;
  });
}

/**
 * Removes a guest from an organisation; the account stays in its home organisation. Guests can always leave; somebody else
 * can't remove the last administrator.
 * @param leaving.orgId the visited organisation
 * @returns false when there is no such guest.
 * @throws LastAdministrator
 */
export async function leaveOrganisation(deps: RecordDeps, leaving: Leaving): Promise<boolean> {
  const { orgId, id: userId } = leaving;
  return deps.database.transaction(async (tx) => {
    const now = deps.clock();
    const user = await findUser(tx, orgId, userId);
    if (!user || user.homeOrgId === orgId) return false;
    await deleteLinks(tx, { orgId, userId });
    await lockUserAccount(tx, user, now);
    if (leaving.actor !== `user:${userId}`) await requireAnotherAdministrator(tx, { orgId, userId });
    await deletePersonalData(tx, { orgId, userId }, now);
    if (!(await deleteGuestMembership(tx, { orgId, userId }))) return false;
    const event = { ...auditFields(leaving, now), action: "roaming.ended", target: userId } as const;
    await recordChange(tx, deps, "entitlement", event);
    return true;
  });
}

/** Ends a guest's membership, as the home organisation is deleted: who administers the visited one doesn't matter then. */
export async function endVisit(
  tx: Db,
  { orgId, userId, homeOrgId }: MemberKey & { readonly homeOrgId: string },
  now: number,
): Promise<void> {
  await deleteLinks(tx, { orgId, userId });
  await lockUserAccount(tx, { homeOrgId, id: userId }, now);
  const user = await findUser(tx, orgId, userId);
  await deletePersonalData(tx, { orgId, userId }, now);
  if (user) await deleteAddress(tx, orgId, user.email);
  // Another one may have ended it.
  if (!(await deleteGuestMembership(tx, { orgId, userId }))) return;
  const event = { action: "roaming.ended" as const, target: userId };
  await recordAuditEvent(tx, { orgId, at: now, actor: "system", ...event });
}

/** Wherever else the organisation has the email address of an account that goes. */
async function deleteAddress(tx: Db, orgId: string, email: string): Promise<void> {
  await deletePendingMails(tx, { orgId, recipient: email });
  await deleteTypedEmails(tx, { orgId, email: emailKey(email) });
  await deleteFiltersNaming(tx, { orgId, email: emailKey(email) });
  await deleteSignUpsOf(tx, { orgId, emailKey: emailKey(email) });
}

async function deletePersonalData(tx: Db, member: MemberKey, now: number): Promise<void> {
  await endSessions(tx, { ...member, reason: "user_deleted", now });
  await endUnfinished(tx, { ...member, now });
  await deletePersonalRows(tx, member);
}
