/** Pages behind an emailed link: the new password, the confirmation, and the broken link. */

import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { type TerminalAction, terminalPage, toAccount } from "../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type FactorChoiceView, factorChoice } from "./factor-choice.page.ts";
import { type RecoveryFrame, recoveryTitle } from "./recovery.page.ts";

export type NewPasswordFailure = keyof Messages["recovery"]["refused"] | "busy" | "session-expired";

export type NewPasswordView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email: string;
  /** Undefined where there is nothing to choose. */
  factors?: FactorChoiceView | undefined;
  leastLength: number;
  mostLength: number;
  error?: NewPasswordFailure | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "new-password-notice";

function failureNotice(view: NewPasswordView): Html | undefined {
  const text = view.messages.recovery;
  const { error, retryAfterSeconds = 2 } = view;
  if (error === undefined) return undefined;
  if (error === "session-expired") return banner("hint", NOTICE_ID, text.expired, text.typeAgain);
  const reason = passwordRefusal(text, error, view) ?? text.busy({ seconds: retryAfterSeconds });
  return banner("error", NOTICE_ID, text.notChanged, reason);
}

export function passwordRefusal(
  { refused }: Messages["recovery"],
  error: NewPasswordFailure,
  { leastLength, mostLength }: Pick<NewPasswordView, "leastLength" | "mostLength">,
): string | undefined {
  if (error === "busy" || error === "session-expired") return undefined;
  if (error === "too-short") return refused[error]({ min: leastLength });
  return error === "too-long" ? refused[error]({ max: mostLength }) : refused[error];
}

export function newPasswordField(
  text: Messages["recovery"],
  { leastLength, error }: Pick<NewPasswordView, "leastLength" | "error">,
  ids: { hint: string; notice: string },
): Html {
  const isWrong = error !== undefined && error !== "busy" && error !== "session-expired";
  const described = error === undefined ? ids.hint : `${ids.notice} ${ids.hint}`;
  return html`<div class="field">
<label for="password">${text.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="${described}">
<p class="after quiet" id="${ids.hint}">${text.hint({ min: leastLength })}</p>
</div>`;
}

export function newPasswordPage(view: NewPasswordView): Html {
  const text = view.messages.recovery;
  return signInLayout({
    ...view,
    title: text.newHeading,
    body: html`${recoveryTitle(view, text.newHeading)}
${failureNotice(view)}
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<div class="field">
<label for="email">${text.account}</label>
<input id="email" type="email" value="${view.email}" autocomplete="username" readonly>
</div>
${newPasswordField(text, view, { hint: "new-password-hint", notice: NOTICE_ID })}
${view.factors && factorChoice(view.factors, text)}
<button class="button primary" id="new-password-submit" type="submit">${text.set}</button>
${doubleSubmitGuard}</form>
<p class="after quiet">${text.signsOut}</p>`,
  });
}

export type DoneView = RecoveryFrame & {
  heading: string;
  text: string;
  onwardUri?: string | undefined;
  /** There is no password any more. */
  recoveryUri?: string | undefined;
  isSignedIn?: boolean;
  /** The user checks the other ways to sign in: an attacker may have added one. */
  securityUri?: string | undefined;
};

function onwardAction(view: DoneView): TerminalAction {
  const text = view.messages.recovery;
  return view.onwardUri !== undefined && view.application !== undefined
    ? {
        id: "recovery-continue",
        label: text.goOn({ application: view.application.name }),
        uri: view.onwardUri,
      }
    : toAccount(view.organisation, view.messages.frame[view.isSignedIn ? "toAccount" : "signIn"]);
}

export function donePage(view: DoneView): Html {
  const text = view.messages.recovery;
  const action = view.recoveryUri
    ? { id: "set-password", label: view.messages.verifyEmail.setPassword, uri: view.recoveryUri }
    : onwardAction(view);
  return terminalPage({
    ...view,
    outcome: "success",
    title: view.heading,
    text: html`<p role="status">${view.text}</p>`,
    action,
    more:
      view.securityUri !== undefined &&
      html`<p class="after"><a class="alone" id="check-factors" href="${linkAddress(view.securityUri)}">${text.checkFactors}</a></p>`,
  });
}

export type BrokenLinkView = PageFrame & {
  /** Undefined for an address that names none. */
  organisation?: PageOrganisation | undefined;
  anotherUri?: string | undefined;
  isSignIn?: boolean;
};

export function brokenLinkPage(view: BrokenLinkView): Html {
  const text = view.messages.brokenLink;
  return terminalPage({
    ...view,
    outcome: "failure",
    title: text.heading,
    text: html`<p>${view.isSignIn ? text.signIn : text.explanation}</p>`,
    action:
      view.anotherUri === undefined
        ? undefined
        : { id: "recovery-again", label: text.another, uri: view.anotherUri },
  });
}
