/** The sign-in page. */

import {
  isMailMethod,
  requiresPasskeys,
  type SignInMethod,
  takesPasswords,
} from "../../../../core/organisations/sign-in-methods.ts";
import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { type FormSeal, namedFields, sealFields } from "../../../../html/components/form.ts";
import {
  type PasskeySignals,
  passkeyForm,
  passkeySignals,
} from "../../../../html/components/passkey-form.ts";
import { revealButton } from "../../../../html/components/password-reveal.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type LoginFailure =
  | "invalid-credentials"
  | "invalid-passkey"
  | "rate-limited"
  | "busy"
  | "disabled"
  | "invalid-email"
  | "session-expired";

export type LoginStage = "email" | "methods";

export type LoginView = SignInFrame &
  FormSeal & {
    action: string;
    recoveryUri?: string | undefined;
    /** Where users may make an account of their own. */
    signUpUri?: string | undefined;
    /** The previous input, or the request's `login_hint`. The password is never shown again. */
    email?: string | undefined;
    /** The signed-in user confirms their identity before a change. */
    isReauthentication?: boolean;
    /** What the organisation offers, in its order. */
    methods: readonly SignInMethod[];
    /** Email-first: the address alone, then what signs it in. Default: both on one page. */
    stage?: LoginStage | undefined;
    /** Of the second page: where emails are asked for, and the first page with another address. */
    mailAction?: string | undefined;
    otherAddressUri?: string | undefined;
    /** The user who confirms has a passkey: its button stands before the password. */
    isPasskeyFirst?: boolean;
    /** What the browser's passkeys are told. */
    signals?: PasskeySignals | undefined;
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
    case "invalid-email":
      return view.messages.recovery.invalidEmail;
    case "session-expired":
      return view.stage === "email" ? view.messages.recovery.sendAgain : text.sessionExpired;
  }
}

/** Where the page has the field. */
function isToldAtField({ error, stage, methods }: LoginView): boolean {
  if (error === "invalid-email") return stage === "email";
  return error === "invalid-credentials" && stage !== "email" && takesPasswords({ signInMethods: methods });
}

/** Wrong credentials are told at the fields instead. */
function loginNotice(view: LoginView): Html | undefined {
  const text = failureText(view);
  const { again, againText, expired } = view.messages.signIn;
  if (isToldAtField(view)) return undefined;
  if (text === undefined)
    return view.isReauthentication ? banner("hint", NOTICE_ID, again, againText) : undefined;
  return view.error === "session-expired"
    ? banner("hint", NOTICE_ID, expired, text)
    : banner("error", NOTICE_ID, text);
}

const isKnown = ({ email }: LoginView): boolean => email !== undefined && email !== "";

const faults = ({ error }: LoginView, ...own: readonly LoginFailure[]) =>
  html`${error !== undefined && own.includes(error) && html` aria-invalid="true"`}${error !== undefined && html` aria-describedby="${NOTICE_ID}"`}`;

const failedHere = (view: LoginView, ...own: readonly LoginFailure[]) =>
  view.error !== undefined &&
  own.includes(view.error) &&
  html`<p class="failed" id="${NOTICE_ID}" role="alert">${failureText(view)}</p>`;

function emailField(view: LoginView): Html {
  const isPreview = view.script === undefined;
  const isAlone = view.stage === "email";
  const autofocus = (!isKnown(view) || isAlone) && !isPreview && html` autofocus`;
  return html`<div class="field">
<label for="email">${view.messages.signIn.email}</label>
<input id="email" name="email" type="email" value="${view.email}" autocomplete="username${offers(view, "passkey") && html` webauthn`}" autocapitalize="none" spellcheck="false" required${faults(view, "invalid-credentials", "invalid-email")}${autofocus}>
${isAlone && failedHere(view, "invalid-email")}</div>
`;
}

/** On the second page the address is known; password managers look for it beside the password. */
const knownAddress = ({ email, messages }: LoginView): Html =>
  html`<label for="email" hidden>${messages.signIn.email}</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" readonly hidden>
`;

function fields(view: LoginView): Html {
  const text = view.messages.signIn;
  const autofocus = isKnown(view) && !view.isPasskeyFirst && html` autofocus`;
  return html`${view.stage === "methods" ? knownAddress(view) : emailField(view)}<div class="field with-link">
<label for="password">${text.password}</label>
<div class="with-reveal"><input id="password" name="password" type="password" autocomplete="current-password" required${faults(view, "invalid-credentials")}${autofocus}>
${revealButton("password", text.showPassword)}</div>
${forgotPassword(view)}${failedHere(view, "invalid-credentials")}
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
${loginNotice(view)}${view.signals && passkeySignals(view.signals)}
${
  view.stage === "methods"
    ? signInWays(view)
    : html`${isPasskeyFirst && passkeySignIn(view)}${firstForm(view)}
${!isPasskeyFirst && offers(view, "passkey") && passkeySignIn(view)}${connectionLinks(view)}`
}${signUpLink(view)}`,
  });
}

function firstForm(view: LoginView): Html {
  if (view.stage === "email") return emailForm(view);
  return offers(view, "password") ? passwordSignIn(view) : firstPasskey(view);
}

const emailForm = (view: LoginView): Html => html`<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
${emailField(view)}
<button class="button${!view.isPasskeyFirst && html` primary`}" id="login-submit" type="submit">${view.messages.signIn.submit({ application: view.application.name })}</button>
</form>`;

/** The second page: the same for every address that is not sent elsewhere, in the organisation's order. */
function signInWays(view: LoginView): Html {
  const { messages, email = "", otherAddressUri, methods } = view;
  const other =
    otherAddressUri !== undefined &&
    html`<a id="other-address" href="${linkAddress(otherAddressUri)}">${messages.connections.emailCode.other}</a>`;
  const ways = view.isPasskeyFirst
    ? ["passkey" as const, ...methods.filter((method) => method !== "passkey")]
    : methods;
  return html`${person(messages.twoFactor.signingInAs, email, other)}
${ways.map((method, at) => html`${needsDivider(method, ways[at - 1]) && html`<p class="or">${messages.signIn.or}</p>\n`}${way(view, method, at === 0)}`)}
${requiresPasskeys({ signInMethods: methods }) && firstPasskey(view)}${view.isReauthentication && connectionLinks(view)}`;
}

/** A passkey's form has its own, which its script shows; emails stand together. */
const needsDivider = (method: SignInMethod, before: SignInMethod | undefined): boolean =>
  before !== undefined && method !== "passkey" && !(isMailMethod(method) && isMailMethod(before));

function way(view: LoginView, method: SignInMethod, isFirst: boolean): Html {
  const { signIn } = view.messages;
  switch (method) {
    case "password":
      return passwordSignIn({ ...view, isPasskeyFirst: !isFirst });
    case "passkey":
      return passkeySignIn({ ...view, isPasskeyFirst: isFirst });
    case "emailCode":
      return mailForm(view, { id: "email-code-send", act: "send", label: signIn.sendCode, isFirst });
    case "magicLink":
      return mailForm(view, { id: "magic-link-send", act: "send-link", label: signIn.sendLink, isFirst });
  }
}

function mailForm(
  view: LoginView,
  button: { readonly id: string; readonly act: string; readonly label: string; readonly isFirst: boolean },
): Html {
  const { csrf, flow, email = "", mailAction = "" } = view;
  return html`<form method="post" action="${linkAddress(mailAction)}">
${namedFields({ csrf, flow, email })}
<button class="button${button.isFirst && html` primary`}" id="${button.id}" type="submit" name="act" value="${button.act}">${button.label}</button>
</form>
`;
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

function signUpLink({ signUpUri, messages: { signUp } }: LoginView): Html | undefined {
  if (signUpUri === undefined) return undefined;
  return html`
<p class="after">${signUp.noAccount} <a id="sign-up" href="${linkAddress(signUpUri)}">${signUp.create}</a></p>`;
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
    conditional: view.stage !== "methods",
    button: { id: "passkey-submit", text: text.usePasskey, primary: view.isPasskeyFirst === true },
    // In a preview no script shows it.
    isShown: view.script === undefined,
    divider: view.isPasskeyFirst ? undefined : text.or,
    failed: text.passkeyFailed,
    fields: sealFields(view),
  });
}
