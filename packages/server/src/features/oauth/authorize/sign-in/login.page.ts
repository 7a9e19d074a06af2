/** The sign-in page. */

import type { SignInMethod } from "../../../../core/organisations/sign-in-methods.ts";
import { applicationHome } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { type FormSeal, sealFields } from "../../../../html/components/form.ts";
import { passkeyForm } from "../../../../html/components/passkey-form.ts";
import { revealButton } from "../../../../html/components/password-reveal.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type LoginFailure =
  | "invalid-credentials"
  | "invalid-passkey"
  | "rate-limited"
  | "busy"
  | "disabled"
  | "session-expired";

export type LoginView = SignInFrame &
  FormSeal & {
    action: string;
    recoveryUri?: string | undefined;
    /** The previous input, or the request's `login_hint`. The password is never shown again. */
    email?: string | undefined;
    /** The signed-in user confirms their identity before a change. */
    isReauthentication?: boolean;
    /** What the organisation offers, in its order. */
    methods: readonly SignInMethod[];
    /** The user who confirms has a passkey: its button stands before the password. */
    isPasskeyFirst?: boolean;
    /** JSON for `PublicKeyCredential.parseRequestOptionsFromJSON`. */
    passkey: string;
    /** Identity providers that can be chosen instead. */
    connections?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly uri: string }>;
    /** None in a preview. */
    script?: string | undefined;
    error?: LoginFailure | undefined;
    retryAfterSeconds?: number | undefined;
  };

const NOTICE_ID = "login-notice";

function failureText(view: LoginView): string | undefined {
  const text = view.messages.signIn;
  const wait = view.retryAfterSeconds;
  switch (view.error) {
    case undefined:
      return undefined;
    case "invalid-credentials":
      return text.invalidCredentials;
    case "invalid-passkey":
      return text.invalidPasskey;
    case "rate-limited":
      return wait === undefined ? text.rateLimitedSoon : text.rateLimited({ seconds: wait });
    case "busy":
      return wait === undefined ? text.busySoon : text.busy({ seconds: wait });
    case "disabled":
      return text.disabled({ organisation: view.organisation.name, application: view.application.name });
    case "session-expired":
      return text.sessionExpired;
  }
}

/** Wrong credentials are told at the fields instead. */
function loginNotice(view: LoginView): Html | undefined {
  const text = failureText(view);
  const { again, againText, expired } = view.messages.signIn;
  if (view.error === "invalid-credentials") return undefined;
  if (text === undefined)
    return view.isReauthentication ? banner("hint", NOTICE_ID, again, againText) : undefined;
  return view.error === "session-expired"
    ? banner("hint", NOTICE_ID, expired, text)
    : banner("error", NOTICE_ID, text);
}

function fields(view: LoginView): Html {
  const text = view.messages.signIn;
  const wrong = view.error === "invalid-credentials";
  const invalid = wrong && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  const known = view.email !== undefined && view.email !== "";
  const isPreview = view.script === undefined;
  return html`<div class="field">
<label for="email">${text.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="username${offers(view, "passkey") && html` webauthn`}" autocapitalize="none" spellcheck="false" required${invalid}${described}${!known && !isPreview && html` autofocus`}>
</div>
<div class="field with-link">
<label for="password">${text.password}</label>
<div class="with-reveal"><input id="password" name="password" type="password" autocomplete="current-password" required${invalid}${described}${known && html` autofocus`}>
${revealButton("password", text.showPassword)}</div>
${forgotPassword(view)}${wrong && html`<p class="failed" id="${NOTICE_ID}" role="alert">${failureText(view)}</p>`}
</div>`;
}

const offers = ({ methods }: LoginView, method: SignInMethod): boolean => methods.includes(method);

export function loginPage(page: LoginView): Html {
  const isPasskeyFirst = offers(page, "passkey") && (page.isPasskeyFirst || page.methods[0] === "passkey");
  const view = { ...page, isPasskeyFirst };
  const text = view.messages.signIn;
  const title = text.title({ application: view.application.name });
  return signInLayout({
    ...view,
    scripts: view.script === undefined ? [] : [view.script],
    title,
    body: html`${heading(view, title)}
${loginNotice(view)}
${isPasskeyFirst && passkeySignIn(view)}${offers(view, "password") ? passwordSignIn(view) : firstPasskey(view)}
${!isPasskeyFirst && offers(view, "passkey") && passkeySignIn(view)}${connectionLinks(view)}`,
  });
}

const passwordSignIn = (
  view: LoginView,
): Html => html`<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
${fields(view)}
<button class="button${!view.isPasskeyFirst && html` primary`}" id="login-submit" type="submit">${view.messages.signIn.submit({ application: view.application.name })}</button>
</form>`;

/** Where passwords don't sign in, one still leads to a first passkey: after an invitation, or when the passkeys are lost. */
function firstPasskey(view: LoginView): Html {
  const { withoutPasskey, withoutPasskeyText } = view.messages.signIn;
  const isUsed = view.error === "invalid-credentials";
  return html`<details class="more-fields" id="without-passkey"${isUsed && html` open`}><summary>${withoutPasskey}</summary>
<p class="quiet">${withoutPasskeyText}</p>
${passwordSignIn(view)}</details>`;
}

/** The organisation's own words, above those that say where the sign-in leads. */
function heading({ organisation, application, messages }: LoginView, title: string): Html {
  const own = organisation.signInText?.(messages.locale) ?? {};
  const text = own.text !== undefined && html`<p class="own-text">${own.text}</p>`;
  return own.heading === undefined
    ? html`<div class="title"><h1>${title}</h1>
${applicationHome(application)}${text}</div>`
    : html`<div class="title"><h1>${own.heading}</h1>
${text}<p class="own-title">${title}</p>
${applicationHome(application)}</div>`;
}

/** Beside the label to the eye; after the password for the keyboard. */
function forgotPassword({ recoveryUri, messages }: LoginView): Html | undefined {
  if (recoveryUri === undefined) return undefined;
  return html`<a id="forgot-password" href="${linkAddress(recoveryUri)}">${messages.recovery.forgot}</a>
`;
}

/** A link and no form: what it leads to is the provider's own page. */
function connectionLinks({ connections = [], messages }: LoginView): Html | undefined {
  if (connections.length === 0) return undefined;
  const text = messages.connections;
  return html`<p class="or">${messages.signIn.or}</p>
${connections.map(
  ({ id, name, uri }) =>
    html`<a class="button" id="connection-${id}" href="${linkAddress(uri)}">${text.continueWith({ connection: name })}</a>
`,
)}`;
}

/** The script shows it if the browser supports passkeys. */
function passkeySignIn(view: LoginView): Html {
  const text = view.messages.signIn;
  return passkeyForm({
    id: "passkey-form",
    action: view.action,
    use: "get",
    options: view.passkey,
    conditional: true,
    button: { id: "passkey-submit", text: text.usePasskey, primary: view.isPasskeyFirst === true },
    // In a preview no script shows it.
    isShown: view.script === undefined,
    divider: view.isPasskeyFirst ? undefined : text.or,
    failed: text.passkeyFailed,
    fields: sealFields(view),
  });
}
