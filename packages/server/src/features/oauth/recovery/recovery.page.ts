/** Pages of a forgotten password: the form, the confirmation that an email was sent, and the notice without a mail server. */

import { applicationHome } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";

export type RecoveryFailure = "invalid-email" | "rate-limited" | "session-expired";

export type RecoveryFrame = PageFrame & {
  organisation: PageOrganisation;
  application?: PageApplication | undefined;
};

export function recoveryTitle({ application, messages }: RecoveryFrame, heading: string): Html {
  if (application === undefined) return html`<h1>${heading}</h1>`;
  return html`<div class="title"><h1>${heading} <span>${messages.signIn.headingTo({ application: application.name })}</span></h1>
${applicationHome(application)}</div>`;
}

export type RecoveryView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email?: string | undefined;
  signInUri?: string | undefined;
  error?: RecoveryFailure | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "recovery-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: RecoveryView): Html | undefined {
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

export const backToSignIn = (uri: string | undefined, text: string): Html | undefined =>
  uri === undefined
    ? undefined
    : html`<p class="after"><a class="alone" id="back-to-sign-in" href="${linkAddress(uri)}">${text}</a></p>`;

export function recoveryPage(view: RecoveryView): Html {
  const text = view.messages.recovery;
  const invalid = view.error === "invalid-email" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  return signInLayout({
    ...view,
    title: text.heading,
    body: html`${recoveryTitle(view, text.heading)}
${failureNotice(view)}
<p>${text.explanation({ organisation: view.organisation.name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<div class="field">
<label for="email">${text.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus${invalid}${described}>
</div>
<button class="button primary" id="recovery-submit" type="submit">${text.send}</button>
${doubleSubmitGuard}</form>
${backToSignIn(view.signInUri, text.back)}`,
  });
}

export type RecoverySentView = RecoveryFrame & {
  /** As typed: whether it has an account is not disclosed. */
  email: string;
  againUri: string;
};

export function recoverySentPage(view: RecoverySentView): Html {
  const text = view.messages.recovery;
  return signInLayout({
    ...view,
    title: text.sentHeading,
    body: html`<h1>${text.sentHeading}</h1>
<p id="recovery-sent" role="status">${text.sent({ email: view.email, organisation: view.organisation.name })}</p>
<p class="quiet">${text.nothingArrived}</p>
<p class="after"><a class="alone" href="${linkAddress(view.againUri)}">${text.tryAgain}</a></p>`,
  });
}

export type NoMailView = RecoveryFrame & {
  /** Default: that email is not set up. */
  heading?: string;
  advice: string;
  signInUri?: string | undefined;
};

/** Shown when no mail server is configured, or where nobody has a password. */
export function noMailPage(view: NoMailView): Html {
  const text = view.messages.recovery;
  const { heading = text.notSetUpHeading } = view;
  return signInLayout({
    ...view,
    title: heading,
    body: html`<h1>${heading}</h1>
<p>${view.advice}</p>
${backToSignIn(view.signInUri, text.back)}`,
  });
}
