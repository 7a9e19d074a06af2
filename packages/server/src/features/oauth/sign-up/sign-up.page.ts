/** Pages of a sign-up before its email: the address, and that an email was sent. */
import type { SignUpMode } from "../../../core/organisations/sign-up-settings.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { type RecoveryFrame, recoveryTitle } from "../recovery/recovery.page.ts";

export type SignUpFailure = "invalid-email" | "rate-limited" | "session-expired";

export type SignUpView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  mode: SignUpMode;
  email?: string | undefined;
  signInUri: string;
  error?: SignUpFailure | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "sign-up-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: SignUpView): Html | undefined {
  const text = messages.recovery;
  switch (error) {
    case undefined:
      return undefined;
    case "invalid-email":
      return banner("error", NOTICE_ID, text.notSent, text.invalidEmail);
    case "rate-limited":
      return banner("error", NOTICE_ID, text.notSent, text.rateLimited({ seconds: retryAfterSeconds }));
    case "session-expired":
      return banner("hint", NOTICE_ID, text.expired, text.sendAgain);
  }
}

function modeText({ mode, messages, organisation }: SignUpView): Html | undefined {
  if (mode === "domains")
    return html`<p class="quiet">${messages.signUp.domains({ organisation: organisation.name })}</p>\n`;
  return mode === "approval" ? html`<p class="quiet">${messages.signUp.approval}</p>\n` : undefined;
}

export function signUpPage(view: SignUpView): Html {
  const { signUp, recovery, frame } = view.messages;
  const invalid = view.error === "invalid-email" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  return signInLayout({
    ...view,
    title: signUp.heading,
    body: html`${recoveryTitle(view, signUp.heading)}
${failureNotice(view)}
<p>${signUp.explanation}</p>
${modeText(view)}<form id="sign-up" method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<div class="field">
<label for="email">${recovery.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${invalid}${described}>
</div>
<button class="button primary" id="sign-up-submit" type="submit">${signUp.send}</button>
${doubleSubmitGuard}</form>
<p class="after">${signUp.haveAccount} <a id="back-to-sign-in" href="${linkAddress(view.signInUri)}">${frame.signIn}</a></p>`,
  });
}

export type SignUpSentView = RecoveryFrame & {
  /** As typed: whether it may sign up, or has an account, is not disclosed. */
  email: string;
  againUri: string;
};

export function signUpSentPage(view: SignUpSentView): Html {
  const { signUp, recovery } = view.messages;
  return signInLayout({
    ...view,
    title: recovery.sentHeading,
    body: html`<h1>${recovery.sentHeading}</h1>
<p id="sign-up-sent" role="status">${signUp.sent({ email: view.email, organisation: view.organisation.name })}</p>
<p class="quiet">${recovery.nothingArrived}</p>
<p class="after"><a class="alone" href="${linkAddress(view.againUri)}">${recovery.tryAgain}</a></p>`,
  });
}
