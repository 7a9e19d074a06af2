/** Forgotten password, second half: the link of the mail, and the new password. */
import { type HiddenField, hiddenFields, sendsOnce } from "../../../html/components/form.ts";
import { notice } from "../../../html/components/notice.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { type RecoveryFrame, recoveryTitle } from "./recovery.page.ts";

type Refusals = Messages["recovery"]["refused"];

export type NewPasswordFailure = keyof Refusals | "busy" | "session-expired";

export type NewPasswordView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  /** Whose password it is. */
  email: string;
  leastLength: number;
  mostLength: number;
  error?: NewPasswordFailure | undefined;
  /** With `busy`: as in the `Retry-After` header. */
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "new-password-notice";
const HINT_ID = "new-password-hint";

function failureNotice(view: NewPasswordView): Html | undefined {
  const text = view.messages.recovery;
  const { error, retryAfterSeconds = 2 } = view;
  if (error === undefined) return undefined;
  if (error === "session-expired") return notice("hint", NOTICE_ID, text.expired, text.typeAgain);
  const reason = error === "busy" ? text.busy({ seconds: retryAfterSeconds }) : refusal(view, error);
  return notice("error", NOTICE_ID, text.notChanged, reason);
}

function refusal({ messages, leastLength, mostLength }: NewPasswordView, error: keyof Refusals): string {
  const { refused } = messages.recovery;
  if (error === "too-short") return refused[error]({ min: leastLength });
  return error === "too-long" ? refused[error]({ max: mostLength }) : refused[error];
}

/** The new password. What was typed before is never given back. */
export function newPasswordPage(view: NewPasswordView): Html {
  const text = view.messages.recovery;
  const { error } = view;
  const isWrong = error !== undefined && error !== "busy" && error !== "session-expired";
  const invalid = isWrong && html` aria-invalid="true"`;
  const described = error === undefined ? HINT_ID : `${NOTICE_ID} ${HINT_ID}`;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.newHeading,
      organisation: view.organisation.name,
    }),
    body: html`${recoveryTitle(view, text.newHeading)}
${failureNotice(view)}
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
<div class="field">
<label for="email">${text.account}</label>
<input id="email" type="email" value="${view.email}" autocomplete="username" readonly>
</div>
<div class="field">
<label for="password">${text.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required autofocus${invalid} aria-describedby="${described}">
<p class="after quiet" id="${HINT_ID}">${text.hint({ min: view.leastLength })}</p>
</div>
<button class="button primary" id="new-password-submit" type="submit">${text.set}</button>
${sendsOnce}</form>
<p class="after quiet">${text.signsOut}</p>`,
  });
}

export type DoneView = RecoveryFrame & {
  heading: string;
  text: string;
  /** On to where the person was going; undefined when that is not known. */
  onwardUri?: string | undefined;
  /** Where the user sees what else signs them in: a stranger may have added something. */
  securityUri?: string | undefined;
};

/** What a link of a mail has done. */
export function donePage(view: DoneView): Html {
  const text = view.messages.recovery;
  const onward =
    view.onwardUri !== undefined && view.application !== undefined
      ? html`<a class="button primary" id="recovery-continue" href="${linkAddress(view.onwardUri)}">${text.goOn({ application: view.application.name })}</a>`
      : html`<p class="quiet">${text.doneElsewhere}</p>`;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: view.heading, organisation: view.organisation.name }),
    body: html`<h1>${view.heading}</h1>
<p role="status">${view.text}</p>
${onward}
${
  view.securityUri !== undefined &&
  html`<p class="after"><a class="alone" id="check-factors" href="${linkAddress(view.securityUri)}">${text.checkFactors}</a></p>`
}`,
  });
}

export type BrokenLinkView = RecoveryFrame & {
  /** Where another mail can be asked for, when that is possible without signing in. */
  anotherUri?: string | undefined;
};

/** One answer for every link that cannot be used, whatever the reason. */
export function brokenLinkPage(view: BrokenLinkView): Html {
  const text = view.messages.brokenLink;
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: text.heading, organisation: view.organisation.name }),
    body: html`<h1>${text.heading}</h1>
<p>${text.explanation}</p>
${
  view.anotherUri !== undefined &&
  html`<a class="button primary" id="recovery-again" href="${linkAddress(view.anotherUri)}">${text.another}</a>`
}`,
  });
}
