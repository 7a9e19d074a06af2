/** GET users/{id}: who a member is, how they sign in, where they are signed in, and what they may. */
import type { FastifyInstance } from "fastify";
import { listUserActivity } from "../../../core/audit/search/search.ts";
import { listUserConsents } from "../../../core/consents/consents.store.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { findOrganisation } from "../../../core/organisations/organisations.store.ts";
import { ownerOf } from "../../../core/second-factors/factor-status.ts";
import { findFactorSummary } from "../../../core/second-factors/second-factors.store.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { listUserSessions } from "../../../core/sessions/user-sessions.ts";
import { invitationStanding } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import { findPasswordChangedAt } from "../../../core/users/users.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { lastChangeOf } from "../../../page-kit/actor-names.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { administratorHere, consolePath, consoleRoute, show, type Visit } from "../../../page-kit/visit.ts";
import { userPage } from "./user.page.ts";
import type { UserView } from "./user-view.ts";
import { idIn, isGuest, listCrumb, memberHere, type UsersDeps, userPath } from "./user-visit.ts";
import { findLastSignIn, listAssignedTo } from "./users.store.ts";

/** As many as a page can bear; nobody has more. */
const MOST_SHOWN = 100;
/** The audit log has the rest. */
const MOST_EVENTS = 8;

export function userRoute(app: FastifyInstance, deps: UsersDeps): void {
  consoleRoute(app, deps, "/users/:id", {
    get: async (visit) => {
      const signedIn = await administratorHere(deps, visit, userPath(visit.organisation, idIn(visit)));
      if (signedIn) await showUser(deps, visit, signedIn, await memberHere(deps, visit));
    },
  });
}

async function showUser(deps: UsersDeps, visit: Visit, signedIn: SignedIn, user: User): Promise<void> {
  const { organisation } = visit;
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
    ...(isGuest(user) ? {} : await ownAccount(deps, user)),
    canMail: deps.outbox.isOpen,
    sessions: await sessionsOf(deps, visit, user),
    consents: consents.slice(0, MOST_SHOWN).map(({ consent, applicationName }) => ({
      id: consent.id,
      application: {
        name: applicationName,
        uri: consolePath(organisation, `/applications/${consent.applicationId}`),
      },
      scopes: consent.scopes,
      grantedAt: consent.grantedAt,
    })),
    assigned: (await listAssignedTo(db, member, MOST_SHOWN)).map(({ id, name }) => ({
      name,
      uri: consolePath(organisation, `/applications/${id}`),
    })),
    uriOf: (rest) => userPath(organisation, user.id, rest),
    activity: (await listUserActivity(db, organisation.id, user.id, { limit: MOST_EVENTS })).events,
    audit: {
      byThem: consolePath(organisation, `/audit-log?search=${user.id}`),
      toThem: consolePath(organisation, `/audit-log?on=${user.id}`),
    },
    lastChange: await lastChangeOf(deps, organisation.id, user.id, frame.messages),
    done: doneOf(queryOf(visit.request).values.get("done"), frame.messages),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}

/** Only a thing of ours is said to be done, whatever the address says. */
const doneOf = (code: string | undefined, { console: { users } }: Messages): UserView["done"] =>
  code !== undefined && Object.hasOwn(users.done, code) ? (code as UserView["done"]) : undefined;

/** What only the organisation that owns an account sees of it. */
async function ownAccount(
  deps: UsersDeps,
  user: User,
): Promise<Pick<UserView, "passwordChangedAt" | "factors" | "invitation">> {
  const db = deps.database.query;
  const passwordChangedAt = await findPasswordChangedAt(db, user);
  const invitation = await invitationStanding(db, user, deps.clock());
  return { passwordChangedAt, factors: await findFactorSummary(db, ownerOf(user)), invitation };
}

async function sessionsOf(
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
