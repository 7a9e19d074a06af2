/** The page behind an action link: what it does, and a button; an invitation also sets a password. */

import { person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { quoted } from "../../../html/displayed-name.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { type NewPasswordFailure, newPasswordField, passwordRefusal } from "./new-password.page.ts";
import type { RecoveryFrame } from "./recovery.page.ts";

export type PageActionType = "VerifyEmail" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";
/**
 * What the page says; a registration is verified by a link of the type `VerifyEmail`. Where passwords are closed, an invitation
 * asks for none.
 */
export type ActionPurpose = PageActionType | "Registration" | "InvitationByEmail" | "InvitationByConnection";

export type ActionView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  purpose: ActionPurpose;
  email: string;
  newEmail?: string | undefined;
  /** The provider where an invitation is accepted. */
  connection?: string | undefined;
  password?: { leastLength: number; mostLength: number } | undefined;
  error?: NewPasswordFailure | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "action-notice";

function failureNotice(view: ActionView): Html | undefined {
  const { error, messages, retryAfterSeconds = 2 } = view;
  const text = messages.action;
  if (error === undefined) return undefined;
  if (error === "session-expired") return banner("hint", NOTICE_ID, text.expired, text.again);
  const limits = view.password ?? { leastLength: 0, mostLength: 0 };
  const reason =
    passwordRefusal(messages.recovery, error, limits) ?? text.busy({ seconds: retryAfterSeconds });
  return banner("error", NOTICE_ID, text.notSet, reason);
}

function passwordField({ messages, password, error }: ActionView): Html | undefined {
  const ids = { hint: "action-password-hint", notice: NOTICE_ID };
  return password && newPasswordField(messages.recovery, { ...password, error }, ids);
}

export function actionPage(view: ActionView): Html {
  const text = view.messages.action;
  const name = quoted(view.messages, view.organisation.name);
  const typeText = text[view.purpose];
  const isInvitation = view.purpose === "AcceptInvitation" || view.purpose.startsWith("InvitationBy");
  return signInLayout({
    ...view,
    title: typeText.heading,
    body: html`<h1>${typeText.heading}</h1>
${failureNotice(view)}
${person(text.account, view.email)}
${view.newEmail !== undefined && person(text.newAddress, view.newEmail)}
<p>${typeText.text({ organisation: name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
${passwordField(view)}
<button class="button primary" id="${isInvitation ? "invitation-accept" : "action-confirm"}" type="submit">${view.connection === undefined ? typeText.confirm : view.messages.connections.continueWith({ connection: view.connection })}</button>
${doubleSubmitGuard}</form>`,
  });
}
