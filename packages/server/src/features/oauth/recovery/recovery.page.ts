/** Forgotten password, first half: the address, and what comes next. */
import { applicationHome } from "../../../html/components/application-home.ts";
import { type HiddenField, hiddenFields, sendsOnce } from "../../../html/components/form.ts";
import { notice } from "../../../html/components/notice.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";

export type RecoveryFailure = "invalid-email" | "rate-limited" | "session-expired";

/** What every page of the recovery has around it. */
export type RecoveryFrame = PageFrame & {
  organisation: PageOrganisation;
  /** Where the person was going; undefined when they came from nowhere. */
  application?: PageApplication | undefined;
};

/** What the page is for, and where the person was going. */
export function recoveryTitle({ application, messages }: RecoveryFrame, heading: string): Html {
  if (application === undefined) return html`<h1>${heading}</h1>`;
  return html`<div class="title"><h1>${heading} <span>${messages.signIn.headingTo({ application: application.name })}</span></h1>
${applicationHome(application)}</div>`;
}

export type RecoveryView = RecoveryFrame & {
  action: string;
  /** The form's token, and the sealed request it goes on with, if there is one. */
  hidden: readonly HiddenField[];
  email?: string | undefined;
  /** Back to the page that this one was opened from. */
  signInUri?: string | undefined;
  error?: RecoveryFailure | undefined;
  /** With `rate-limited`: as in the `Retry-After` header. */
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "recovery-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: RecoveryView): Html | undefined {
  const text = messages.recovery;
  switch (error) {
    case undefined:
      return undefined;
    case "invalid-email":
      return notice("error", NOTICE_ID, text.notSent, text.invalidEmail);
    case "rate-limited":
      return notice("error", NOTICE_ID, text.notSent, text.rateLimited({ seconds: retryAfterSeconds }));
    case "session-expired":
      return notice("hint", NOTICE_ID, text.expired, text.sendAgain);
  }
}

export const backToSignIn = (uri: string | undefined, text: string): Html | undefined =>
  uri === undefined
    ? undefined
    : html`<p class="after"><a class="alone" id="back-to-sign-in" href="${linkAddress(uri)}">${text}</a></p>`;

/** Asks for the address. */
export function recoveryPage(view: RecoveryView): Html {
  const text = view.messages.recovery;
  const invalid = view.error === "invalid-email" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: text.heading, organisation: view.organisation.name }),
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
${sendsOnce}</form>
${backToSignIn(view.signInUri, text.back)}`,
  });
}

export type RecoverySentView = RecoveryFrame & {
  /** What was typed: whether it is anybody's is not said. */
  email: string;
  /** The form again. */
  againUri: string;
};

/** The same for every address. */
export function recoverySentPage(view: RecoverySentView): Html {
  const text = view.messages.recovery;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.sentHeading,
      organisation: view.organisation.name,
    }),
    body: html`<h1>${text.sentHeading}</h1>
<p id="recovery-sent" role="status">${text.sent({ email: view.email, organisation: view.organisation.name })}</p>
<p class="quiet">${text.nothingArrived}</p>
<p class="after"><a class="alone" href="${linkAddress(view.againUri)}">${text.tryAgain}</a></p>`,
  });
}

export type NoMailView = RecoveryFrame & {
  /** What the reader can do instead. */
  advice: string;
  signInUri?: string | undefined;
};

/** What needs mail says that there is none. */
export function noMailPage(view: NoMailView): Html {
  const text = view.messages.recovery;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.notSetUpHeading,
      organisation: view.organisation.name,
    }),
    body: html`<h1>${text.notSetUpHeading}</h1>
<p>${view.advice}</p>
${backToSignIn(view.signInUri, text.back)}`,
  });
}
