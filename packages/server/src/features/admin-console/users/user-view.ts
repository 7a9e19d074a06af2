/** What a member's page is rendered from. */
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { listFactorResetRequests } from "../../../core/second-factors/lost-factors/lost-factors.store.ts";
import { REQUEST_SHOWN_MS } from "../../../core/second-factors/lost-factors/lost-factors.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { listUserSessions } from "../../../core/sessions/end-sessions.ts";
import { findLastSignIn } from "../../../core/sessions/last-sign-in.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { invitationStatus } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import type { Db } from "../../../db/open.ts";
import { activityCard } from "../../../page-kit/audit-events/activity-card.ts";
import type { Visit } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { isGuest, type UsersDeps } from "./user-pages.ts";
import { listAssignedTo } from "./users.store.ts";

const MAX_SHOWN = 100;

export type UserView = Awaited<ReturnType<typeof loadUserView>>;

export async function loadUserView(
  deps: UsersDeps,
  visit: Visit,
  view: RecordView<User>,
  signedIn: SignedIn,
) {
  const { organisation } = visit;
  const { record: user } = view;
  const db = deps.database.query;
  const member = { orgId: organisation.id, userId: user.id };
  const consents = await listUserConsents(db, member);
  return {
    ...view,
    isYou: signedIn.user.id === user.id,
    home: isGuest(user) ? await findOrganisation(db, user.homeOrgId) : undefined,
    lastSignIn: await findLastSignIn(db, member),
    account: isGuest(user) ? undefined : await findAccountState(deps, user),
    canMail: deps.outbox.isOpen,
    sessions: await listUserSessions(deps, organisation, user.id),
    consents: consents.slice(0, MAX_SHOWN),
    assigned: await listAssignedTo(db, member, MAX_SHOWN),
    activity: await activityCard(deps, organisation, { kind: "user", id: user.id }, view.messages),
  };
}

/** Visible to the account's own organisation only. */
const findAccountState = async ({ database: { query: db }, clock }: UsersDeps, user: User) => ({
  passwordChangedAt: await findPasswordChangedAt(db, user),
  invitation: await invitationStatus(db, user, clock()),
  factors: await findFactorSummary(db, factorOwner(user)),
  resetRequestedAt: await findResetRequest(db, user, clock()),
});

async function findResetRequest(db: Db, { homeOrgId, id }: User, now: number): Promise<number | undefined> {
  const asked = { since: now - REQUEST_SHOWN_MS, limit: 1, userId: id };
  const [request] = await listFactorResetRequests(db, homeOrgId, asked);
  return request?.requestedAt;
}
