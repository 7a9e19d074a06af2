/** GET users/{id}: a member's profile, sign-in, sessions, consents and activity. */
import type { FastifyInstance } from "fastify";
import { listUserActivity } from "../../../core/audit/search/search.ts";
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { factorOwner } from "../../../core/second-factors/factor-status.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import { listUserSessions } from "../../../core/sessions/user-sessions.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { invitationStatus } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import { findLastChange } from "../../../page-kit/actor-names.ts";
import { consoleFrame, doneKey } from "../../../page-kit/console-frame.ts";
import {
  consolePath,
  consoleRoute,
  requireAdministrator,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { userPage } from "./user.page.ts";
import { isGuest, listCrumb, requireMember, type UsersDeps, userPath } from "./user-path.ts";
import type { UserView } from "./user-view.ts";
import { findLastSignIn, listAssignedTo } from "./users.store.ts";

const MAX_SHOWN = 100;
/** The audit log has the rest. */
const MAX_EVENTS = 8;

export function userRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/users/:id", { get: showUser });
}

async function showUser(deps: UsersDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  requireId(visit);
  const signedIn = await requireAdministrator(deps, visit);
  const user = await requireMember(deps, visit);
  const frame = await consoleFrame(deps, visit, signedIn, "users");
  const db = deps.database.query;
  const member = { orgId: organisation.id, userId: user.id };
  const consents = await listUserConsents(db, member);
  const page = userPage({
    ...frame,
    breadcrumbs: [listCrumb(organisation, frame.messages)],
    member: user,
    isYou: signedIn.user.id === user.id,
    home: isGuest(user) ? await findOrganisation(db, user.homeOrgId) : undefined,
    lastSignIn: await findLastSignIn(db, member),
    ...(isGuest(user) ? {} : await findAccountState(deps, user)),
    canMail: deps.outbox.isOpen,
    sessions: await findSessions(deps, visit, user),
    consents: consents.slice(0, MAX_SHOWN).map(({ consent, applicationName }) => ({
      id: consent.id,
      application: {
        name: applicationName,
        uri: consolePath(organisation, `/applications/${consent.applicationId}`),
      },
      scopes: consent.scopes,
      grantedAt: consent.grantedAt,
    })),
    assigned: (await listAssignedTo(db, member, MAX_SHOWN)).map(({ id, name }) => ({
      name,
      uri: consolePath(organisation, `/applications/${id}`),
    })),
    uriOf: (rest) => userPath(organisation, user.id, rest),
    activity: (await listUserActivity(db, organisation.id, user.id, { limit: MAX_EVENTS })).events,
    audit: {
      byThem: consolePath(organisation, `/audit-log?search=${user.id}`),
      toThem: consolePath(organisation, `/audit-log?on=${user.id}`),
    },
    lastChange: await findLastChange(deps, organisation.id, user.id, frame.messages),
    done: doneKey(visit, frame.messages.console.users.done),
  });
  await show(visit, frame, page);
}

/** Visible to the account's own organisation only. */
async function findAccountState(
  deps: UsersDeps,
  user: User,
): Promise<Pick<UserView, "passwordChangedAt" | "factors" | "invitation">> {
  const db = deps.database.query;
  const passwordChangedAt = await findPasswordChangedAt(db, user);
  const invitation = await invitationStatus(db, user, deps.clock());
  return { passwordChangedAt, factors: await findFactorSummary(db, factorOwner(user)), invitation };
}

async function findSessions(
  deps: UsersDeps,
  { organisation }: Visit,
  user: User,
): Promise<UserView["sessions"]> {
  const sessions = await listUserSessions(deps, organisation, user.id);
  return sessions.map(({ id, userAgent, address, createdAt, lastSeenAt }) => ({
    id,
    browser: browserName(userAgent),
    address,
    since: createdAt,
    seen: lastSeenAt,
  }));
}
