import { applicationHome } from "../../../../html/components/application-home.ts";
import { type FormSeal, hiddenFields, sendsOnce } from "../../../../html/components/form.ts";
import { notice } from "../../../../html/components/notice.ts";
import { passkeyForm } from "../../../../html/components/passkey-form.ts";
import { person } from "../../../../html/components/person.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../../html/layout.ts";
import type { ShownMethod } from "./factor-method.ts";

/** Why the person sees the page again. */
export type TwoFactorFailure = "wrong" | "rate-limited";

export type TwoFactorView = PageFrame &
  FormSeal & {
    organisation: PageOrganisation;
    application: PageApplication;
    user: { email: string };
    /** Starts the same request again with another account. */
    otherAccountUri: string;
    /** Where the form posts to: `/oauth/{org}/twofactor`. */
    action: string;
    /** The sealed sign-in that waits for this. */
    pending: string;
    method: ShownMethod;
    /** The other ways that this user has. */
    others: readonly ShownMethod[];
    /** With the method `passkey`: JSON for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
    options?: string | undefined;
    /** Whether the browser can be remembered, and the box was ticked. */
    remember?: { checked: boolean } | undefined;
    /** Address of passkey.js. */
    script: string;
    error?: TwoFactorFailure | undefined;
    /** With `rate-limited`: as in the `Retry-After` header. */
    retryAfterSeconds?: number | undefined;
  };

const NOTICE_ID = "twofactor-notice";

function failureNotice(view: TwoFactorView): Html | undefined {
  const text = view.messages.twoFactor;
  if (view.error === undefined) return undefined;
  if (view.error === "wrong") return notice("error", NOTICE_ID, text.failed, text.failures[view.method]);
  const wait = view.retryAfterSeconds;
  return notice(
    "error",
    NOTICE_ID,
    text.failed,
    wait === undefined ? text.rateLimitedSoon : text.rateLimited({ seconds: wait }),
  );
}

function sealed(view: TwoFactorView): Html {
  return hiddenFields([
    { name: "csrf", value: view.csrf },
    { name: "flow", value: view.flow },
    { name: "pending", value: view.pending },
    { name: "method", value: view.method },
  ]);
}

function rememberBox(view: TwoFactorView): Html | undefined {
  const text = view.messages.twoFactor;
  if (!view.remember) return undefined;
  return html`<div class="check">
<input id="remember" name="remember" type="checkbox" value="yes"${view.remember.checked && html` checked`} aria-describedby="remember-hint">
<label for="remember">${text.remember}</label>
<p class="quiet check-hint" id="remember-hint">${text.rememberHint}</p>
</div>
`;
}

function otherWays(view: TwoFactorView): Html | undefined {
  const text = view.messages.twoFactor;
  if (view.others.length === 0) return undefined;
  const way = (method: ShownMethod) =>
    html`<button class="link" id="choose-${method}" type="submit" name="show" value="${method}" formnovalidate>${text.choose[method]}</button>
`;
  return html`<div class="others"><p class="quiet">${text.others}</p>
${view.others.map(way)}</div>
`;
}

function codeForm(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  const isRecovery = view.method === "recovery";
  const wrong = view.error === "wrong" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  const kind = isRecovery
    ? html` autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="40"`
    : html` inputmode="numeric" autocomplete="one-time-code" maxlength="12"`;
  return html`<form method="post" action="${linkAddress(view.action)}">
${sealed(view)}
<div class="field">
<label for="code">${isRecovery ? text.recoveryCode : text.code}</label>
<input id="code" name="code"${kind} required autofocus${wrong}${described}>
</div>
${rememberBox(view)}
<button class="button primary" id="twofactor-submit" type="submit">${text.submit({ application: view.application.name })}</button>
${otherWays(view)}
${sendsOnce}</form>`;
}

function passkeyAsked(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  return passkeyForm({
    id: "twofactor-passkey",
    action: view.action,
    use: "get",
    options: view.options ?? "{}",
    button: { id: "twofactor-submit", text: text.usePasskey, primary: true },
    failed: text.passkeyFailed,
    fields: [sealed(view), rememberBox(view), html`<noscript><p>${text.needsScript}</p></noscript>`],
    after: otherWays(view),
  });
}

/** After the right password: the second factor, in the way that the person chooses. */
export function twoFactorPage(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  return signInLayout({
    ...view,
    ...(view.method === "passkey" ? { scripts: [view.script] } : {}),
    title: view.messages.frame.documentTitle({
      title: text.title({ application: view.application.name }),
      organisation: view.organisation.name,
    }),
    body: html`<div class="title"><h1>${text.headings[view.method]} <span>${view.messages.signIn.headingTo({ application: view.application.name })}</span></h1>
${applicationHome(view.application)}</div>
${person(text.signingInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.otherAccount}</a>`)}
<p class="quiet">${text.explanations[view.method]}</p>
${failureNotice(view)}
${view.method === "passkey" ? passkeyAsked(view) : codeForm(view)}`,
  });
}
