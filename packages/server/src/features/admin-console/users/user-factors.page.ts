/** Password, second factors and invitation of the organisation's own users. */
import { hasSecondFactor } from "../../../core/second-factors/second-factor.ts";
import type { InvitationStatus } from "../../../core/users/invitations/invitations.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { timeWithin } from "../../../html/components/relative-time.ts";
import { type Content, type Html, html } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { UserView } from "./user-view.ts";

export function invitationCard(view: UserView): Html | undefined {
  const { account, messages, uriOf, canMail, record: member } = view;
  if (account?.passwordChangedAt !== null) return undefined;
  const { invitation: text } = messages.console.users;
  const canInvite = canMail && member.disabledAt === null;
  const again =
    canInvite && buttonLink({ id: "invite-again", uri: uriOf("/invitation/again"), label: text.again });
  const withdraw =
    account.invitation?.kind === "open" &&
    buttonLink({ id: "invite-withdraw", uri: uriOf("/invitation/withdraw"), label: text.withdraw });
  return card({
    id: "user-invitation",
    title: text.title,
    body: html`<p id="invitation-state">${invitationText(account.invitation, messages)}</p>
${(again || withdraw) && html`<div class="actions">${again}${withdraw}</div>`}`,
  });
}

function invitationText(
  invitation: InvitationStatus | undefined,
  { console: { users }, format }: Messages,
): Content {
  const { invitation: text } = users;
  const within = (words: string, at: number) => timeWithin(words, at, format.minute);
  switch (invitation?.kind) {
    case "open":
      return invitation.mail === "failed"
        ? text.failed
        : within(text[invitation.mail]({ at: invitation.until }), invitation.until);
    case "run-out":
      return within(text.runOut({ at: invitation.at }), invitation.at);
    case "withdrawn":
      return within(text.withdrawn({ at: invitation.at }), invitation.at);
    default:
      return text.never;
  }
}

export function factorsCard(view: UserView): Html | undefined {
  const { account, messages } = view;
  if (!account) return undefined;
  const { factors, passwordChangedAt, invitation, resetRequestedAt } = account;
  const { users } = messages.console;
  const { factors: text } = users;
  const since = passwordChangedAt ?? undefined;
  return card({
    id: "user-factors",
    title: text.title,
    body: html`${facts([
      {
        label: text.password,
        content: since === undefined ? text.passwordNone : text.passwordSince({ at: since }),
      },
      {
        label: users.invitation.accepted,
        content: invitation?.kind === "accepted" && messages.format.minute(invitation.at),
      },
      { label: text.app, content: factors.hasTotp ? text.appThere : text.none },
      {
        label: text.passkeys,
        content: factors.passkeys > 0 ? text.passkeysCount({ count: factors.passkeys }) : text.none,
      },
      {
        label: text.codes,
        content: factors.recoveryCodes > 0 ? text.codesLeft({ count: factors.recoveryCodes }) : text.none,
      },
      {
        label: text.resetRequested,
        id: "reset-requested",
        content: resetRequestedAt !== undefined && messages.format.minute(resetRequestedAt),
      },
    ])}${factorActs(view)}`,
  });
}

/** Administrators change their own factors on their account page. */
function factorActs({ account, isYou, canMail, record: member, messages, uriOf }: UserView): Content {
  const { factors: text } = messages.console.users;
  if (isYou || !account) return undefined;
  const { factors, passwordChangedAt } = account;
  const canReset = canMail && passwordChangedAt !== null && member.disabledAt === null && !account.isEnforced;
  const acts = [
    canReset && buttonLink({ id: "password-reset", uri: uriOf("/password-reset"), label: text.sendReset }),
    buttonLink({ id: "password-new", uri: uriOf("/new-password"), label: text.newPassword }),
    (hasSecondFactor(factors) || factors.recoveryCodes > 0) &&
      buttonLink({
        id: "factors-reset",
        uri: uriOf("/reset-factors"),
        label: text.reset,
        kind: "danger",
        isQuestion: true,
      }),
  ];
  return html`<div class="actions">${acts}</div>
`;
}
