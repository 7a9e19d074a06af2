/** Behind a link of the other kinds: what it does, and a button; with an invitation a password is chosen as well. */
import { type HiddenField, hiddenFields, sendsOnce } from "../../../html/components/form.ts";
import { notice } from "../../../html/components/notice.ts";
import { person } from "../../../html/components/person.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { signInLayout } from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import type { RecoveryFrame } from "./recovery.page.ts";

type PasswordFault = keyof Messages["recovery"]["refused"];
export type ActionFailure = "session-expired" | "busy" | PasswordFault;

export type PageActionType = "VerifyEmail" | "AcceptInvitation" | "AcceptRoaming" | "ChangeEmail";

export type ActionView = RecoveryFrame & {
  action: string;
  hidden: readonly HiddenField[];
  type: PageActionType;
  /** Whose account it is about. */
  email: string;
  /** With ChangeEmail. */
  newEmail?: string | undefined;
  /** With AcceptInvitation: what a password must have. */
  password?: { leastLength: number; mostLength: number } | undefined;
  error?: ActionFailure | undefined;
  /** With `busy`: as in the `Retry-After` header. */
  retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "action-notice";
const HINT_ID = "action-password-hint";

function failureNotice(view: ActionView): Html | undefined {
  const { error, messages, retryAfterSeconds = 2 } = view;
  const text = messages.action;
  if (error === undefined) return undefined;
  if (error === "session-expired") return notice("hint", NOTICE_ID, text.expired, text.again);
  const reason = error === "busy" ? text.busy({ seconds: retryAfterSeconds }) : refusal(view, error);
  return notice("error", NOTICE_ID, text.notSet, reason);
}

function refusal({ messages, password }: ActionView, error: PasswordFault): string {
  const { refused } = messages.recovery;
  if (error === "too-short") return refused[error]({ min: password?.leastLength ?? 0 });
  return error === "too-long" ? refused[error]({ max: password?.mostLength ?? 0 }) : refused[error];
}

function passwordField({ messages, password, error }: ActionView): Html | undefined {
  if (!password) return undefined;
  const isWrong = error !== undefined && error !== "busy" && error !== "session-expired";
  const described = error === undefined ? HINT_ID : `${NOTICE_ID} ${HINT_ID}`;
  return html`<div class="field">
<label for="password">${messages.recovery.newPassword}</label>
<input id="password" name="password" type="password" autocomplete="new-password" required autofocus${isWrong && html` aria-invalid="true"`} aria-describedby="${described}">
<p class="after quiet" id="${HINT_ID}">${messages.recovery.hint({ min: password.leastLength })}</p>
</div>`;
}

/** What was typed before is never given back. */
export function actionPage(view: ActionView): Html {
  const text = view.messages.action;
  const { name } = view.organisation;
  const words = text[view.type];
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: words.heading, organisation: name }),
    body: html`<h1>${words.heading}</h1>
${failureNotice(view)}
${person(text.account, view.email)}
${view.newEmail !== undefined && person(text.newAddress, view.newEmail)}
<p>${words.text({ organisation: name })}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(view.hidden)}
${passwordField(view)}
<button class="button primary" id="action-confirm" type="submit">${words.confirm}</button>
${sendsOnce}</form>`,
  });
}
