/** What the tabs of a member's page are rendered from. */
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { isEnforced } from "../../../core/domains/enforced-sign-in.ts";
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
import type { Visit } from "../../../page-kit/page.ts";
import type { RecordView } from "../../../page-kit/record-pages.ts";
import { isGuest, type UsersDeps } from "./user-pages.ts";
import { loadUserRoles } from "./user-roles.ts";
import { listAssignedTo } from "./users.store.ts";

const MAX_SHOWN = 100;

/** What stands above every tab, and what several of them show. */
export type UserView = Awaited<ReturnType<typeof loadUserView>>;

export const loadUserView = async (
  deps: UsersDeps,
  view: RecordView<User>,
  { organisation }: Visit,
  signedIn: SignedIn,
) => {
  const { record: user } = view;
  return {
    ...view,
    member: { orgId: organisation.id, userId: user.id },
    isYou: signedIn.user.id === user.id,
    home: isGuest(user) ? await findOrganisation(deps.database.query, user.homeOrgId) : undefined,
    account: isGuest(user) ? undefined : await findAccountState(deps, user),
    canMail: deps.outbox.isOpen,
  };
};

export type Profile = Awaited<ReturnType<typeof loadProfile>>;
export type Sessions = Awaited<ReturnType<typeof listUserSessions>>;
export type Access = Awaited<ReturnType<typeof loadAccess>>;

export const loadProfile = async ({ database }: UsersDeps, { member }: UserView) => ({
  lastSignIn: await findLastSignIn(database.query, member),
});

export const loadSessions = (deps: UsersDeps, { member }: UserView, { organisation }: Visit) =>
  listUserSessions(deps, organisation, member.userId);

export async function loadAccess({ database: { query: db } }: UsersDeps, { member }: UserView) {
  const consents = await listUserConsents(db, member);
  return {
    ...(await loadUserRoles(db, member)),
    consents: consents.slice(0, MAX_SHOWN),
    assigned: await listAssignedTo(db, member, MAX_SHOWN),
  };
}

/** Visible to the account's own organisation only. */
const findAccountState = async ({ database: { query: db }, clock }: UsersDeps, user: User) => ({
  passwordChangedAt: await findPasswordChangedAt(db, user),
  isEnforced: await isEnforced(db, user.homeOrgId, user.email),
  invitation: await invitationStatus(db, user, clock()),
  factors: await findFactorSummary(db, factorOwner(user)),
  resetRequestedAt: await findResetRequest(db, user, clock()),
});

async function findResetRequest(db: Db, { homeOrgId, id }: User, now: number): Promise<number | undefined> {
  const asked = { since: now - REQUEST_SHOWN_MS, limit: 1, userId: id };
  const [request] = await listFactorResetRequests(db, homeOrgId, asked);
  return request?.requestedAt;
}
