/** What an administrator does to how and where somebody is signed in, each asked for once more. */
import type { FastifyInstance } from "fastify";
import { findConsentRecord, listUserConsents } from "../../../core/consents/consents.store.ts";
import { revokeConsent } from "../../../core/consents/consents.ts";
import { browserName } from "../../../core/known-browsers/browser-name.ts";
import { resetFactors } from "../../../core/second-factors/changes.ts";
import { isEndedSession } from "../../../core/sessions/sessions.store.ts";
import { endUserSession, listUserSessions, signOutEverywhere } from "../../../core/sessions/user-sessions.ts";
import { sendPasswordReset } from "../../../core/users/account-mails.ts";
import { inviteAgain, withdrawInvitation } from "../../../core/users/invitations/invitations.ts";
import type { User } from "../../../core/users/user.ts";
import { findPasswordChangedAt } from "../../../core/users/users.store.ts";
import { html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type ConfirmedAct, confirmedActRoute, WasSoAlready } from "../../../page-kit/confirmed-act.ts";
import {
  findMember,
  isGuest,
  ownAccountRefusal,
  type UsersDeps,
  userCrumbs,
  userRest,
} from "./user-visit.ts";

export function signInActRoutes(app: FastifyInstance, deps: UsersDeps): void {
  for (const act of [signOutAct, resetAct, passwordResetAct, againAct, withdrawAct])
    confirmedActRoute(app, deps, act(deps));
  confirmedActRoute(app, deps, sessionAct(deps));
  confirmedActRoute(app, deps, consentAct(deps));
}

type Texts = Messages["console"]["users"];

/** What every act on one member has in common. */
function onMember(
  deps: UsersDeps,
  act: Pick<ConfirmedAct<User>, "act" | "overFor" | "isRepeatable"> & {
    rest: string;
    confirmId: string;
    isHarmless?: true;
    /** Whom the page is for; for everybody else there is none. */
    isFor?(user: User): boolean | Promise<boolean>;
    words(texts: Texts, user: User): { heading: string; text: string; confirm: string };
  },
): ConfirmedAct<User> {
  const { rest, confirmId, isHarmless = false, isFor = () => true, words, ...others } = act;
  return {
    ...others,
    path: `/users/:id${rest}`,
    current: "users",
    find: async (organisation, { id }) => {
      const user = await findMember(deps, organisation, id);
      return user && (await isFor(user)) ? user : undefined;
    },
    question: (messages, user, organisation) => {
      const { heading, text, confirm } = words(messages.console.users, user);
      const breadcrumbs = userCrumbs(organisation, user, messages);
      return {
        heading,
        text: html`<p>${text}</p>`,
        confirm,
        confirmId,
        isHarmless,
        breadcrumbs,
        back: userRest(user.id),
      };
    },
  };
}

const signOutAct = (deps: UsersDeps) =>
  onMember(deps, {
    rest: "/sign-out",
    confirmId: "sign-out-confirm",
    words: ({ sessions }: Texts, { email }) => ({
      heading: sessions.everywhereHeading({ email }),
      text: sessions.everywhereText,
      confirm: sessions.everywhere,
    }),
    isRepeatable: true,
    act: async (acting, { id }, _form, { database }) => {
      await signOutEverywhere({ ...deps, database }, { ...acting, userId: id });
      return userRest(id, "?done=signedOut");
    },
  });

const resetAct = (deps: UsersDeps) =>
  onMember(deps, {
    rest: "/reset-factors",
    confirmId: "reset-confirm",
    isFor: (user) => !isGuest(user),
    words: ({ factors }: Texts, { email }) => ({
      heading: factors.resetHeading({ email }),
      text: factors.resetText,
      confirm: factors.reset,
    }),
    isRepeatable: true,
    act: async ({ actor, address }, user, _form, { organisation, signedIn, messages, database }) => {
      const refusal = ownAccountRefusal(signedIn, user, messages);
      if (refusal) return refusal;
      await resetFactors({ ...deps, database }, { organisation, user, actor, address });
      return userRest(user.id, "?done=reset");
    },
  });

const passwordResetAct = (deps: UsersDeps) =>
  onMember(deps, {
    rest: "/password-reset",
    confirmId: "password-reset-confirm",
    isHarmless: true,
    // A disabled account's link opens nothing, and one without a password is invited.
    isFor: async (user) =>
      deps.outbox.isOpen &&
      !isGuest(user) &&
      user.disabledAt === null &&
      (await findPasswordChangedAt(deps.database.query, user)) !== null,
    words: ({ factors }: Texts, { email }) => ({
      heading: factors.sendResetHeading({ email }),
      text: factors.sendResetText,
      confirm: factors.sendReset,
    }),
    isRepeatable: true,
    act: async ({ actor, address }, user, _form, { database }) => {
      await sendPasswordReset({ ...deps, database }, user, { actor, address });
      return userRest(user.id, "?done=resetSent");
    },
  });

const againAct = (deps: UsersDeps) =>
  onMember(deps, {
    rest: "/invitation/again",
    confirmId: "invite-again-confirm",
    isHarmless: true,
    isFor: (user) => deps.outbox.isOpen && !isGuest(user) && user.disabledAt === null,
    words: ({ invitation }, { email }) => ({
      heading: invitation.againHeading({ email }),
      text: invitation.againText,
      confirm: invitation.again,
    }),
    isRepeatable: true,
    act: async ({ actor, address }, user, _form, { database }) => {
      // Who has accepted it meanwhile needs none.
      if (!(await inviteAgain({ ...deps, database }, user, { actor, address })))
        throw new WasSoAlready(userRest(user.id));
      return userRest(user.id, "?done=invited");
    },
  });

const withdrawAct = (deps: UsersDeps) =>
  onMember(deps, {
    rest: "/invitation/withdraw",
    confirmId: "invite-withdraw-confirm",
    isFor: (user) => !isGuest(user),
    words: ({ invitation }, { email }) => ({
      heading: invitation.withdrawHeading({ email }),
      text: invitation.withdrawText,
      confirm: invitation.withdraw,
    }),
    act: async ({ actor, address }, user) => {
      if (!(await withdrawInvitation(deps, user, { actor, address })))
        throw new WasSoAlready(userRest(user.id));
      return userRest(user.id, "?done=withdrawn");
    },
  });

interface Part {
  readonly user: User;
  readonly id: string;
  /** The browser, or the application. */
  readonly name: string | undefined;
  /** It has been ended, or taken back, before. */
  readonly isOver?: true;
}

const overForPart = ({ user, isOver }: Part): string | undefined => (isOver ? userRest(user.id) : undefined);

function sessionAct(deps: UsersDeps): ConfirmedAct<Part> {
  return {
    path: "/users/:id/sessions/:session/end",
    current: "users",
    find: async (organisation, { id, session = "" }) => {
      const user = await findMember(deps, organisation, id);
      if (!user) return undefined;
      const sessions = await listUserSessions(deps, organisation, user.id);
      const found = sessions.find((one) => one.id === session);
      if (found) return { user, id: session, name: browserName(found.userAgent) };
      const of = { orgId: organisation.id, userId: user.id, id: session };
      const isOver = await isEndedSession(deps.database.query, of);
      return isOver ? { user, id: session, name: undefined, isOver } : undefined;
    },
    overFor: overForPart,
    question: (messages, { user, name }, organisation) => {
      const { sessions: text } = messages.console.users;
      return {
        heading: text.endHeading({ browser: name ?? text.unknown }),
        text: html`<p>${text.endText}</p>`,
        confirm: text.end,
        confirmId: "session-end-confirm",
        breadcrumbs: userCrumbs(organisation, user, messages),
        back: userRest(user.id),
      };
    },
    act: async (acting, { user, id }) => {
      if (!(await endUserSession(deps, { ...acting, userId: user.id, sessionId: id })))
        throw new WasSoAlready(userRest(user.id));
      return userRest(user.id, "?done=signedOut");
    },
  };
}

function consentAct(deps: UsersDeps): ConfirmedAct<Part> {
  return {
    path: "/users/:id/consents/:consent/revoke",
    current: "users",
    find: async (organisation, { id, consent = "" }) => {
      const user = await findMember(deps, organisation, id);
      if (!user) return undefined;
      const of = { orgId: organisation.id, userId: user.id };
      const consents = await listUserConsents(deps.database.query, of);
      const found = consents.find((one) => one.consent.id === consent);
      if (found) return { user, id: consent, name: found.applicationName };
      const record = await findConsentRecord(deps.database.query, { orgId: organisation.id, id: consent });
      const isOver = record?.userId === user.id && record.revokedAt !== null;
      return isOver ? { user, id: consent, name: undefined, isOver } : undefined;
    },
    overFor: overForPart,
    question: (messages, { user, name = "" }, organisation) => {
      const { access: text } = messages.console.users;
      return {
        heading: text.revokeHeading({ application: name }),
        text: html`<p>${text.revokeText}</p>`,
        confirm: text.revoke,
        confirmId: "consent-revoke-confirm",
        breadcrumbs: userCrumbs(organisation, user, messages),
        back: userRest(user.id),
      };
    },
    act: async (acting, { user, id }) => {
      if (!(await revokeConsent(deps, { ...acting, userId: user.id, id })))
        throw new WasSoAlready(userRest(user.id));
      return userRest(user.id, "?done=revoked");
    },
  };
}
