/** What an administrator changes about a member's sign-in: sessions, factors, password, invitation, consents. */
import type { FastifyInstance } from "fastify";
import { findConsentRecord, listUserConsents } from "../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../core/consents/consents.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { resetFactors } from "../../../core/second-factors/changes.ts";
import { isEndedSession } from "../../../core/sessions/sessions.store.ts";
import { endUserSession, listUserSessions, signOutEverywhere } from "../../../core/sessions/user-sessions.ts";
import { findPasswordChangedAt } from "../../../core/users/account.store.ts";
import { sendPasswordReset } from "../../../core/users/account-mails.ts";
import { resendInvitation, withdrawInvitation } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import {
  alreadyApplied,
  applied,
  type Confirmation,
  confirmationRoute,
} from "../../../page-kit/confirmation.ts";
import { findMember, isGuest, ownAccountRefusal, type UsersDeps, userCrumbs, userPath } from "./user-path.ts";

export function signInRoutes(app: FastifyInstance, deps: UsersDeps): void {
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/sign-out", signOut);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/reset-factors", factorReset);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/password-reset", passwordReset);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/invitation/again", reinvitation);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/invitation/withdraw", withdrawal);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/sessions/:session/end", sessionEnd);
  confirmationRoute(app, deps, "/oauth/manage/:org/users/:id/consents/:consent/revoke", consentRevocation);
}

type Texts = Messages["console"]["users"];

/** What the confirmations about a whole member share. */
function onMember(
  confirmation: Pick<Confirmation<UsersDeps, User>, "apply" | "isRepeatable"> & {
    confirmId: string;
    isHarmless?: true;
    /** There is no such page for other members. */
    isFor?(deps: UsersDeps, user: User): boolean | Promise<boolean>;
    texts(texts: Texts, user: User): { heading: string; text: string; confirm: string };
  },
): Confirmation<UsersDeps, User> {
  const { confirmId, isHarmless = false, isFor = () => true, texts, ...others } = confirmation;
  return {
    ...others,
    current: "users",
    load: async (deps, organisation, params) => {
      const user = await findMember(deps, organisation, params);
      return user && (await isFor(deps, user)) ? user : undefined;
    },
    backUri: (organisation, user) => userPath(organisation, user.id),
    question: (messages, user, organisation) => {
      const { heading, text, confirm } = texts(messages.console.users, user);
      const breadcrumbs = userCrumbs(organisation, user, messages);
      return { heading, text: html`<p>${text}</p>`, confirm, confirmId, isHarmless, breadcrumbs };
    },
  };
}

const signOut = onMember({
  confirmId: "sign-out-confirm",
  texts: ({ sessions }, { email }) => ({
    heading: sessions.everywhereHeading({ email }),
    text: sessions.everywhereText,
    confirm: sessions.everywhere,
  }),
  isRepeatable: true,
  apply: async (deps, acting, { id }, { organisation }) => {
    await signOutEverywhere(deps, { ...acting, userId: id });
    return applied(userPath(organisation, id, "?done=signedOut"));
  },
});

const factorReset = onMember({
  confirmId: "reset-confirm",
  isFor: (_, user) => !isGuest(user),
  texts: ({ factors }, { email }) => ({
    heading: factors.resetHeading({ email }),
    text: factors.resetText,
    confirm: factors.reset,
  }),
  isRepeatable: true,
  apply: async (deps, { actor, address }, user, { organisation, signedIn, messages }) => {
    const refusal = ownAccountRefusal(signedIn, user, messages);
    if (refusal) return refusal;
    await resetFactors(deps, { organisation, user, actor, address });
    return applied(userPath(organisation, user.id, "?done=reset"));
  },
});

const passwordReset = onMember({
  confirmId: "password-reset-confirm",
  isHarmless: true,
  // A disabled account's link opens nothing, and an account without a password is invited.
  isFor: async ({ outbox, database }, user) =>
    outbox.isOpen &&
    !isGuest(user) &&
    user.disabledAt === null &&
    (await findPasswordChangedAt(database.query, user)) !== null,
  texts: ({ factors }, { email }) => ({
    heading: factors.sendResetHeading({ email }),
    text: factors.sendResetText,
    confirm: factors.sendReset,
  }),
  isRepeatable: true,
  apply: async (deps, { actor, address }, user, { organisation }) => {
    await sendPasswordReset(deps, user, { actor, address });
    return applied(userPath(organisation, user.id, "?done=resetSent"));
  },
});

const reinvitation = onMember({
  confirmId: "invite-again-confirm",
  isHarmless: true,
  isFor: ({ outbox }, user) => outbox.isOpen && !isGuest(user) && user.disabledAt === null,
  texts: ({ invitation }, { email }) => ({
    heading: invitation.againHeading({ email }),
    text: invitation.againText,
    confirm: invitation.again,
  }),
  isRepeatable: true,
  // False when the invitation has been accepted meanwhile.
  apply: async (deps, { actor, address }, user, { organisation }) =>
    (await resendInvitation(deps, user, { actor, address }))
      ? applied(userPath(organisation, user.id, "?done=invited"))
      : alreadyApplied,
});

const withdrawal = onMember({
  confirmId: "invite-withdraw-confirm",
  isFor: (_, user) => !isGuest(user),
  texts: ({ invitation }, { email }) => ({
    heading: invitation.withdrawHeading({ email }),
    text: invitation.withdrawText,
    confirm: invitation.withdraw,
  }),
  apply: async (deps, { actor, address }, user, { organisation }) =>
    (await withdrawInvitation(deps, user, { actor, address }))
      ? applied(userPath(organisation, user.id, "?done=withdrawn"))
      : alreadyApplied,
});

/** A session or a consent of a member. */
interface Part {
  readonly user: User;
  readonly id: string;
  /** Of the browser, or of the application. */
  readonly name: string | undefined;
  /** Ended, or revoked. */
  readonly isOver?: true;
}

const onPart: Pick<Confirmation<UsersDeps, Part>, "current" | "backUri" | "isDone"> = {
  current: "users",
  backUri: (organisation, { user }) => userPath(organisation, user.id),
  isDone: (_, { isOver }) => isOver ?? false,
};

const sessionEnd: Confirmation<UsersDeps, Part> = {
  ...onPart,
  load: async (deps, organisation, { id = "", session = "" }) => {
    const user = await findMember(deps, organisation, { id });
    if (!user) return undefined;
    const sessions = await listUserSessions(deps, organisation, user.id);
    const found = sessions.find((one) => one.id === session);
    if (found) return { user, id: session, name: browserName(found.userAgent) };
    const key = { orgId: organisation.id, userId: user.id, id: session };
    const isOver = await isEndedSession(deps.database.query, key);
    return isOver ? { user, id: session, name: undefined, isOver } : undefined;
  },
  question: (messages, { user, name }, organisation) => {
    const { sessions: text } = messages.console.users;
    return {
      heading: text.endHeading({ browser: name ?? text.unknown }),
      text: html`<p>${text.endText}</p>`,
      confirm: text.end,
      confirmId: "session-end-confirm",
      breadcrumbs: userCrumbs(organisation, user, messages),
    };
  },
  apply: async (deps, acting, { user, id }, { organisation }) =>
    (await endUserSession(deps, { ...acting, userId: user.id, sessionId: id }))
      ? applied(userPath(organisation, user.id, "?done=signedOut"))
      : alreadyApplied,
};

const consentRevocation: Confirmation<UsersDeps, Part> = {
  ...onPart,
  load: async (deps, organisation, { id = "", consent = "" }) => {
    const user = await findMember(deps, organisation, { id });
    if (!user) return undefined;
    const key = { orgId: organisation.id, userId: user.id };
    const consents = await listUserConsents(deps.database.query, key);
    const found = consents.find((one) => one.consent.id === consent);
    if (found) return { user, id: consent, name: found.applicationName };
    const record = await findConsentRecord(deps.database.query, { orgId: organisation.id, id: consent });
    const isOver = record?.userId === user.id && record.revokedAt !== null;
    return isOver ? { user, id: consent, name: undefined, isOver } : undefined;
  },
  question: (messages, { user, name = "" }, organisation) => {
    const { access: text } = messages.console.users;
    return {
      heading: text.revokeHeading({ application: name }),
      text: html`<p>${text.revokeText}</p>`,
      confirm: text.revoke,
      confirmId: "consent-revoke-confirm",
      breadcrumbs: userCrumbs(organisation, user, messages),
    };
  },
  apply: async (deps, acting, { user, id }, { organisation }) =>
    (await revokeConsent(deps, { ...acting, userId: user.id, id }))
      ? applied(userPath(organisation, user.id, "?done=revoked"))
      : alreadyApplied,
};
