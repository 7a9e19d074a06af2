/** What an administrator changes about a member's sign-in: sessions, factors, password, invitation, consents. */
import type { FastifyInstance } from "fastify";
import { findConsentRecord, listUserConsents } from "../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../core/consents/consents.ts";
import { isEnforced } from "../../../core/domains/enforced-sign-in.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { RateLimited } from "../../../core/rate-limits/rate-limits.ts";
import { resetFactors } from "../../../core/second-factors/changes.ts";
import { endUserSession, listUserSessions, signOutEverywhere } from "../../../core/sessions/end-sessions.ts";
import { isEndedSession } from "../../../core/sessions/sessions.store.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { sendPasswordReset } from "../../../core/users/account-mails.ts";
import { countResend } from "../../../core/users/invitations/count-resend.ts";
import { resendInvitation, withdrawInvitation } from "../../../core/users/invitations/invitations.ts";
import { LastBreakGlassAdministrator } from "../../../core/users/leaving/last-administrator.ts";
import type { User } from "../../../core/users/user.ts";
import {
  alreadyApplied,
  type Confirmation,
  confirmationRoute,
  done,
} from "../../../page-kit/confirmation.ts";
import { aboutRecord } from "../../../page-kit/record-pages.ts";
import {
  isGuest,
  type MemberConfirmation,
  memberPages,
  onMember,
  ownAccountRefusal,
  type UsersDeps,
} from "./user-pages.ts";
import { ACCESS, SECURITY } from "./user-record.ts";

export function signInRoutes(app: FastifyInstance, deps: UsersDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/sign-out", signOut);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/reset-factors", factorReset);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/password-reset", passwordReset);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/invitation/again", reinvitation);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/invitation/withdraw", withdrawal);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/sessions/:session/end", sessionEnd);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/consents/:consent/revoke", consentRevocation);
}

export const signOut: MemberConfirmation = {
  ...onMember(undefined, SECURITY),
  isRepeatable: true,
  question: ({ console: { users } }, { email }) => ({
    heading: users.sessions.everywhereHeading({ email }),
    text: users.sessions.everywhereText,
    confirm: users.sessions.everywhere,
    confirmId: "sign-out-confirm",
  }),
  apply: async (deps, acting, { id }) => {
    await signOutEverywhere(deps, { ...acting, userId: id });
    return done("signedOut");
  },
};

const factorReset: MemberConfirmation = {
  ...onMember((user) => !isGuest(user), SECURITY),
  isRepeatable: true,
  question: ({ console: { users } }, { email }) => ({
    heading: users.factors.resetHeading({ email }),
    text: users.factors.resetText,
    confirm: users.factors.reset,
    confirmId: "reset-confirm",
  }),
  apply: async (deps, { actor, address }, user, { organisation, signedIn, messages }) => {
    const refusal = ownAccountRefusal(signedIn, user, messages);
    if (refusal) return refusal;
    try {
      await resetFactors(deps, { organisation, user, actor, address });
    } catch (error) {
      if (!(error instanceof LastBreakGlassAdministrator)) throw error;
      const { lastBreakGlass: title, lastBreakGlassText: text } = messages.security;
      return { kind: "refused", title, text: text({ organisation: organisation.name }) };
    }
    return done("reset");
  },
};

const passwordReset: MemberConfirmation = {
  // A disabled account's link opens nothing, and an account without a password is invited; a domain that is enforced closes resets.
  ...onMember(
    async (user, { outbox, database }) =>
      outbox.isOpen &&
      !isGuest(user) &&
      user.disabledAt === null &&
      !(await isEnforced(database.query, user.homeOrgId, user.email)) &&
      (await findPasswordChangedAt(database.query, user)) !== null,
    SECURITY,
  ),
  isRepeatable: true,
  question: ({ console: { users } }, { email }) => ({
    heading: users.factors.sendResetHeading({ email }),
    text: users.factors.sendResetText,
    confirm: users.factors.sendReset,
    confirmId: "password-reset-confirm",
    isHarmless: true,
  }),
  apply: async (deps, { actor, address }, user) => {
    await sendPasswordReset(deps, user, { actor, address });
    return done("resetSent");
  },
};

export const reinvitation: MemberConfirmation = {
  ...onMember((user, { outbox }) => outbox.isOpen && !isGuest(user) && user.disabledAt === null),
  isRepeatable: true,
  question: ({ console: { users } }, { email }) => ({
    heading: users.invitation.againHeading({ email }),
    text: users.invitation.againText,
    confirm: users.invitation.again,
    confirmId: "invite-again-confirm",
    isHarmless: true,
  }),
  // False when the invitation has been accepted meanwhile.
  apply: async (deps, { actor, address }, user, { messages: { error: text } }) => {
    try {
      await countResend(deps, user);
    } catch (error) {
      if (!(error instanceof RateLimited)) throw error;
      return { kind: "refused", title: text.titles.tooMany, text: text.advice.tooMany };
    }
    return (await resendInvitation(deps, user, { actor, address })) ? done("invited") : alreadyApplied;
  },
};

const withdrawal: MemberConfirmation = {
  ...onMember((user) => !isGuest(user)),
  question: ({ console: { users } }, { email }) => ({
    heading: users.invitation.withdrawHeading({ email }),
    text: users.invitation.withdrawText,
    confirm: users.invitation.withdraw,
    confirmId: "invite-withdraw-confirm",
  }),
  apply: async (deps, { actor, address }, user) =>
    (await withdrawInvitation(deps, user, { actor, address })) ? done("withdrawn") : alreadyApplied,
};

interface Part {
  readonly user: User;
  readonly id: string;
  /** Of the browser, or of the application. */
  readonly name: string | undefined;
  readonly isOver?: true;
}

const onPartIn = (
  rest: string,
): Pick<Confirmation<UsersDeps, Part>, "current" | "backUri" | "breadcrumbs" | "isDone"> => ({
  ...aboutRecord(memberPages, ({ user }: Part) => user, rest),
  isDone: (_, { isOver }) => isOver ?? false,
});

const sessionEnd: Confirmation<UsersDeps, Part> = {
  ...onPartIn(SECURITY),
  load: async (deps, organisation, { session = "", ...params }) => {
    const user = await memberPages.find(deps, organisation, params);
    if (!user) return undefined;
    const sessions = await listUserSessions(deps, organisation, user.id);
    const found = sessions.find((one) => one.id === session);
    if (found) return { user, id: session, name: browserName(found.userAgent) };
    const key = { orgId: organisation.id, userId: user.id, id: session };
    const isOver = await isEndedSession(deps.database.query, key);
    return isOver ? { user, id: session, name: undefined, isOver } : undefined;
  },
  question: ({ console: { users } }, { name }) => {
    const { sessions: text } = users;
    return {
      heading: text.endHeading({ browser: name ?? text.unknown }),
      text: text.endText,
      confirm: text.end,
      confirmId: "session-end-confirm",
    };
  },
  apply: async (deps, acting, { user, id }) =>
    (await endUserSession(deps, { ...acting, userId: user.id, sessionId: id }))
      ? done("signedOut")
      : alreadyApplied,
};

const consentRevocation: Confirmation<UsersDeps, Part> = {
  ...onPartIn(ACCESS),
  load: async (deps, organisation, { consent = "", ...params }) => {
    const user = await memberPages.find(deps, organisation, params);
    if (!user) return undefined;
    const key = { orgId: organisation.id, userId: user.id };
    const consents = await listUserConsents(deps.database.query, key);
    const found = consents.find((one) => one.consent.id === consent);
    if (found) return { user, id: consent, name: found.applicationName };
    const record = await findConsentRecord(deps.database.query, { orgId: organisation.id, id: consent });
    const isOver = record?.userId === user.id && record.revokedAt !== null;
    return isOver ? { user, id: consent, name: undefined, isOver } : undefined;
  },
  question: ({ console: { users } }, { name = "" }) => {
    const { access: text } = users;
    return {
      heading: text.revokeHeading({ application: name }),
      text: text.revokeText,
      confirm: text.revoke,
      confirmId: "consent-revoke-confirm",
    };
  },
  apply: async (deps, acting, { user, id }) =>
    (await revokeConsent(deps, { ...acting, userId: user.id, id })) ? done("revoked") : alreadyApplied,
};
