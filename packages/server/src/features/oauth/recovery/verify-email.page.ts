/** Address verification: the offer to send the mail, and the page behind its link. */
import { type HiddenField, hiddenFields, sendsOnce } from "../../../html/components/form.ts";
import { notice } from "../../../html/components/notice.ts";
import { person } from "../../../html/components/person.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import { type RecoveryFrame, recoveryTitle } from "./recovery.page.ts";

export type VerifyOfferView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  email: string;
  /** Starts the same request again with another account. */
  otherAccountUri: string;
  /** Why no mail was sent the last time. */
  error?: "rate-limited" | "session-expired" | undefined;
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "verify-email-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: VerifyOfferView): Html | undefined {
  const text = messages.recovery;
  if (error === undefined) return undefined;
  return error === "rate-limited"
    ? notice("error", NOTICE_ID, text.notSent, text.rateLimited({ seconds: retryAfterSeconds }))
    : notice("hint", NOTICE_ID, text.expired, text.sendAgain);
}

/** Somebody has signed in whose address is not confirmed yet, and the organisation wants that. */
export function verifyOfferPage(view: VerifyOfferView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: text.heading, organisation: view.organisation.name }),
    body: html`${recoveryTitle(view, text.heading)}
${failureNotice(view)}
${person(text.signedInAs, view.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<p>${text.explanation({ organisation: view.organisation.name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<button class="button primary" id="verify-email-send" type="submit">${text.send}</button>
${sendsOnce}</form>`,
  });
}

export type VerifySentView = RecoveryFrame & { email: string };

export function verifySentPage(view: VerifySentView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.sentHeading,
      organisation: view.organisation.name,
    }),
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
};

/** Behind the link: a button, because a link that is opened may have been opened by a scanner. */
export function verifyEmailPage(view: VerifyEmailView): Html {
  const text = view.messages.verifyEmail;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.confirmHeading,
      organisation: view.organisation.name,
    }),
    body: html`${recoveryTitle(view, text.confirmHeading)}
${view.isExpired && notice("hint", NOTICE_ID, text.notConfirmed, text.confirmAgain)}
${person(text.account, view.email)}
<p>${text.confirmText({ organisation: view.organisation.name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<button class="button primary" id="verify-email-confirm" type="submit">${text.confirm}</button>
${sendsOnce}</form>`,
  });
}
