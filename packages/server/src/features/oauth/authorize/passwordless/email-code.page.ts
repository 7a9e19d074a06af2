/**
 * A code that was sent by email: it signs in, or it proves an address where an identity provider's word is missing or not
 * believed.
 */
import { applicationHome } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type EmailCodeFailure = "wrong" | "ended" | "invalid-email" | "rate-limited" | "session-expired";

export type EmailCodeView = SignInFrame & {
  readonly action: string;
  readonly hidden: Readonly<Record<string, string>>;
  readonly heading: string;
  /** Where an address is asked for first: what for. */
  readonly ask?: string;
  /** With the code: what was sent, and the code's label. */
  readonly sent?: string | undefined;
  readonly codeLabel: string;
  /** Where the code went; undefined before one is sent. */
  readonly sentTo: string | undefined;
  /** What the address is asked for with. */
  readonly email?: string | undefined;
  readonly error?: EmailCodeFailure | undefined;
  readonly retryAfterSeconds?: number | undefined;
};

const NOTICE_ID = "email-code-notice";

function failureNotice({ error, messages, retryAfterSeconds = 60 }: EmailCodeView): Html | undefined {
  const [text, words] = [messages.connections.emailCode, messages.recovery];
  switch (error) {
    case undefined:
      return undefined;
    case "wrong":
    case "ended":
      return banner("error", NOTICE_ID, text.failed, text[error]);
    case "invalid-email":
      return banner("error", NOTICE_ID, words.notSent, words.invalidEmail);
    case "rate-limited":
      return banner("error", NOTICE_ID, words.notSent, words.rateLimited({ seconds: retryAfterSeconds }));
    case "session-expired":
      return banner("hint", NOTICE_ID, words.expired, words.sendAgain);
  }
}

export function emailCodePage(view: EmailCodeView): Html {
  const { application, heading } = view;
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading} <span>${view.messages.signIn.headingTo({ application: application.name })}</span></h1>
${applicationHome(application)}</div>
${failureNotice(view)}
<form method="post" action="${linkAddress(view.action)}">
${namedFields(view.hidden)}
${view.sentTo === undefined ? addressField(view) : codeField(view, view.sentTo)}${doubleSubmitGuard}</form>`,
  });
}

const faults = ({ error }: EmailCodeView, ...own: readonly EmailCodeFailure[]) =>
  html`${error !== undefined && own.includes(error) && html` aria-invalid="true"`}${error !== undefined && html` aria-describedby="${NOTICE_ID}"`}`;

function addressField(view: EmailCodeView): Html {
  const { connections, recovery } = view.messages;
  return html`<p>${view.ask}</p>
<div class="field">
<label for="email">${recovery.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="email" autocapitalize="none" spellcheck="false" required autofocus${faults(view, "invalid-email")}>
</div>
<button class="button primary" id="email-code-send" type="submit" name="act" value="send">${connections.emailCode.send}</button>
`;
}

function codeField(view: EmailCodeView, sentTo: string): Html {
  const { connections, recovery } = view.messages;
  const text = connections.emailCode;
  const button = (id: string, act: string, label: string) =>
    html`<button class="link" id="${id}" type="submit" name="act" value="${act}" formnovalidate>${label}</button>
`;
  return html`<p role="status">${view.sent ?? text.sent({ email: sentTo })}</p>
<div class="field">
<label for="email-code">${view.codeLabel}</label>
<input id="email-code" name="email-code" inputmode="numeric" autocomplete="one-time-code" maxlength="12" required autofocus${faults(view, "wrong", "ended")}>
</div>
<button class="button primary" id="email-code-submit" type="submit">${text.submit({ application: view.application.name })}</button>
<div class="others"><p class="quiet">${recovery.nothingArrived}</p>
${button("email-code-resend", "resend", text.resend)}${button("email-code-other", "other", text.other)}</div>
`;
}
