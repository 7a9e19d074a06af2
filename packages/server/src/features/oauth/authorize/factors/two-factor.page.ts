/** The second factor page. */

import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { doubleSubmitGuard, type FormSeal, namedFields } from "../../../../html/components/form.ts";
import { passkeyForm } from "../../../../html/components/passkey-form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";
import type { VerificationMethod } from "./factor-method.ts";

export type TwoFactorFailure = "wrong" | "rate-limited";

export type TwoFactorView = SignInFrame &
  FormSeal & {
    user: { email: string };
    otherAccountUri: string;
    action: string;
    pending: string;
    method: VerificationMethod;
    others: readonly VerificationMethod[];
    /** With the method `passkey`: JSON for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
    options?: string | undefined;
    remember?: { checked: boolean } | undefined;
    script: string;
    error?: TwoFactorFailure | undefined;
    retryAfterSeconds?: number | undefined;
  };

const NOTICE_ID = "twofactor-notice";

function failureNotice(view: TwoFactorView): Html | undefined {
  const text = view.messages.twoFactor;
  if (view.error === undefined) return undefined;
  if (view.error === "wrong") return banner("error", NOTICE_ID, text.failed, text.failures[view.method]);
  const wait = view.retryAfterSeconds;
  return banner(
    "error",
    NOTICE_ID,
    text.failed,
    wait === undefined ? text.rateLimitedSoon : text.rateLimited({ seconds: wait }),
  );
}

const stateFields = ({ csrf, flow, pending, method }: TwoFactorView): Html =>
  namedFields({ csrf, flow, pending, method });

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

/** Buttons that submit the form to show another method. */
export function methodChoice<Method extends string>(
  text: { readonly others: string; readonly choose: Readonly<Record<Method, string>> },
  methods: readonly Method[],
): Html | undefined {
  if (methods.length === 0) return undefined;
  const choice = (method: Method) =>
    html`<button class="link" id="choose-${method}" type="submit" name="show" value="${method}" formnovalidate>${text.choose[method]}</button>
`;
  return html`<div class="others"><p class="quiet">${text.others}</p>
${methods.map(choice)}</div>
`;
}

const lostAccess = ({ others, messages: { twoFactor } }: TwoFactorView): Html =>
  html`<p class="after"><button class="link" id="factors-lost" type="submit" name="lost" value="ask" formnovalidate>${others.length === 0 ? twoFactor.lost.linkOfOne : twoFactor.lost.link}</button></p>
`;

function codeForm(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  const isRecovery = view.method === "recovery";
  const wrong = view.error === "wrong" && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  const kind = isRecovery
    ? html` autocomplete="off" autocapitalize="none" spellcheck="false" maxlength="40"`
    : html` inputmode="numeric" autocomplete="one-time-code" maxlength="12"`;
  return html`<form method="post" action="${linkAddress(view.action)}">
${stateFields(view)}
<div class="field">
<label for="code">${isRecovery ? text.recoveryCode : text.code}</label>
<input id="code" name="code"${kind} required autofocus${wrong}${described}>
</div>
${rememberBox(view)}
<button class="button primary" id="twofactor-submit" type="submit">${text.submit({ application: view.application.name })}</button>
${methodChoice(text, view.others)}
${lostAccess(view)}${doubleSubmitGuard}</form>`;
}

function passkeyVerification(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  return passkeyForm({
    id: "twofactor-passkey",
    action: view.action,
    use: "get",
    options: view.options ?? "{}",
    button: { id: "twofactor-submit", text: text.usePasskey, primary: true },
    failed: text.passkeyFailed,
    fields: [stateFields(view), rememberBox(view), html`<noscript><p>${text.needsScript}</p></noscript>`],
    after: [methodChoice(text, view.others), lostAccess(view)],
  });
}

export function twoFactorPage(view: TwoFactorView): Html {
  const text = view.messages.twoFactor;
  return signInLayout({
    ...view,
    ...(view.method === "passkey" ? { scripts: [view.script] } : {}),
    title: text.title({ application: view.application.name }),
    body: html`<div class="title"><h1>${text.headings[view.method]} <span>${view.messages.signIn.headingTo({ application: view.application.name })}</span></h1>
${applicationHome(view.application)}</div>
${person(text.signingInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.otherAccount}</a>`)}
<p class="quiet">${text.explanations[view.method]}</p>
${failureNotice(view)}
${view.method === "passkey" ? passkeyVerification(view) : codeForm(view)}`,
  });
}
