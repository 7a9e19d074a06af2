/** Pages of email verification: the offer to send the email, and the page behind its link. */

import { person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { type RecoveryFrame, recoveryTitle } from "./recovery.page.ts";

export type VerifyOfferView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email: string;
  otherAccountUri: string;
  error?: "rate-limited" | "session-expired" | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "verify-email-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: VerifyOfferView): Html | undefined {
  const text = messages.recovery;
  if (error === undefined) return undefined;
  return error === "rate-limited"
    ? banner("error", NOTICE_ID, text.notSent, text.rateLimited({ seconds: retryAfterSeconds }))
    : banner("hint", NOTICE_ID, text.expired, text.sendAgain);
}

/** The organisation requires a verified address, and the signed-in user's is not. */
export function verifyOfferPage(view: VerifyOfferView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: text.heading,
    body: html`${recoveryTitle(view, text.heading)}
${failureNotice(view)}
${person(text.signedInAs, view.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<p>${text.explanation({ organisation: view.organisation.name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<button class="button primary" id="verify-email-send" type="submit">${text.send}</button>
${doubleSubmitGuard}</form>`,
  });
}

export type VerifySentView = RecoveryFrame & { email: string };

export function verifySentPage(view: VerifySentView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: text.sentHeading,
    body: html`<h1>${text.sentHeading}</h1>
<p role="status">${text.sent({ email: view.email })}</p>
<p class="quiet">${text.nothingArrived}</p>`,
  });
}

export type VerifyEmailView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email: string;
  isExpired?: boolean | undefined;
  /** Nobody is signed in here: the address alone is proven. */
  endsPassword?: boolean;
};

export function verifyEmailPage(view: VerifyEmailView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: text.confirmHeading,
    body: html`${recoveryTitle(view, text.confirmHeading)}
${view.isExpired && banner("hint", NOTICE_ID, text.notConfirmed, text.confirmAgain)}
${person(text.account, view.email)}
<p>${text.confirmText({ organisation: view.organisation.name })}</p>
${
  view.endsPassword &&
  html`<p id="verify-email-ends">${text.notSignedIn}</p>
`
}<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<button class="button primary" id="verify-email-confirm" type="submit">${text.confirm}</button>
${doubleSubmitGuard}</form>`,
  });
}
