/** Pages of one change each: confirmation, authenticator app, passkeys, new recovery codes. */
import {
  type AuthenticatorSetup,
  authenticatorCode,
  authenticatorSetup,
  recoveryCodeList,
} from "../../html/components/authenticator-setup.ts";
import { banner } from "../../html/components/banner.ts";
import { type ConsoleFrame, consoleLayout } from "../../html/components/console-layout.ts";
import {
  doubleSubmitGuard,
  type HiddenField,
  hiddenFields,
  namedFields,
} from "../../html/components/form.ts";
import { passkeyForm } from "../../html/components/passkey-form.ts";
import { type FormFailure, submissionTokenField } from "../../html/components/record-form.ts";
import { type Content, type Html, html, linkAddress } from "../../html/html.ts";

export type ChangeFrame = ConsoleFrame & {
  csrf: string;
  action: string;
  /** The navigation page that the change belongs to. */
  backUri: string;
  failure?: FormFailure | undefined;
};

const NOTICE_ID = "change-notice";

/** Breadcrumb to the current navigation page. */
export const breadcrumb = ({ navigation, backUri }: Pick<ChangeFrame, "navigation" | "backUri">) =>
  navigation.sections
    .flatMap(({ links }) => links)
    .filter(({ isCurrent }) => isCurrent)
    .map(({ label }) => ({ label, uri: backUri }));

function changePage(
  view: ChangeFrame,
  heading: string,
  body: Content,
  options: { scripts?: readonly string[]; isDangerous?: boolean } = {},
): Html {
  return consoleLayout({
    ...view,
    scripts: options.scripts,
    title: heading,
    breadcrumbs: breadcrumb(view),
    notice: failureNotice(view),
    body: html`<section class="card confirm${options.isDangerous && " danger"}">
${body}</section>
`,
  });
}

function failureNotice({ failure, messages }: ChangeFrame): Html | undefined {
  const { security, console } = messages;
  const { form } = console.frame;
  switch (failure?.kind) {
    case "expired":
      return banner("error", NOTICE_ID, security.expired, security.expiredText);
    case "unreadable":
      return banner("error", NOTICE_ID, form.unreadable, form.unreadableText);
    case "refused":
      return banner("error", NOTICE_ID, failure.title, failure.text);
  }
}

const cancel = (view: ChangeFrame): Html =>
  html`<a class="button" id="change-cancel" href="${linkAddress(view.backUri)}">${view.messages.security.cancel}</a>`;

export type ConfirmView = ChangeFrame & {
  heading: string;
  text: string;
  confirm: string;
  /** Id of the button; default `change-confirm`. */
  confirmId?: string | undefined;
  /** Nothing is lost: the button isn't red. */
  isHarmless?: boolean;
  /** Submission token of a one-time form (page-kit/accept-form.ts). */
  once?: string | undefined;
  fields?: readonly HiddenField[] | undefined;
};

export const confirmPage = (view: ConfirmView): Html =>
  changePage(
    view,
    view.heading,
    html`<p>${view.text}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields([{ name: "csrf", value: view.csrf }, ...(view.fields ?? [])])}${submissionTokenField(view.once)}
<div class="actions">
<button class="button ${view.isHarmless ? "primary" : "dangerous"}" id="${view.confirmId ?? "change-confirm"}" type="submit">${view.confirm}</button>
${cancel(view)}
</div>
</form>
`,
    { isDangerous: !view.isHarmless },
  );

export type AuthenticatorView = ChangeFrame & {
  setup: AuthenticatorSetup;
  enrolment: string;
  replaces: boolean;
};

export function authenticatorPage(view: AuthenticatorView): Html {
  const text = view.messages.enrolment.totp;
  return changePage(
    view,
    text.heading,
    html`${view.replaces && html`<p class="quiet">${view.messages.security.totp.replaceText}</p>`}
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf, enrolment: view.enrolment })}
${authenticatorSetup(view.setup, view.messages)}
${authenticatorCode(view.messages, view.failure && NOTICE_ID)}
<div class="actions"><button class="button primary" id="totp-confirm" type="submit">${text.submit}</button>
${cancel(view)}</div>
${doubleSubmitGuard}</form>`,
  );
}

export type NewPasskeyView = ChangeFrame & {
  /** JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`. */
  options: string;
  name: string;
  script: string;
};

export function newPasskeyPage(view: NewPasskeyView): Html {
  const text = view.messages.enrolment.passkey;
  return changePage(
    view,
    text.heading,
    html`<p class="quiet">${text.explanation}</p>
${passkeyForm({
  id: "new-passkey",
  action: view.action,
  use: "create",
  options: view.options,
  button: { id: "passkey-create", text: text.submit, primary: true },
  failed: text.notAdded,
  fields: html`${namedFields({ csrf: view.csrf })}
<div class="field">
<label for="name">${text.name}</label>
<input id="name" name="name" value="${view.name}" maxlength="60" autocomplete="off">
</div>
<noscript><p>${view.messages.twoFactor.needsScript}</p></noscript>
`,
  after: cancel(view),
})}`,
    { scripts: [view.script] },
  );
}

export type PasskeyView = ChangeFrame & {
  id: string;
  name: string;
  input: string;
};

export function passkeyPage(view: PasskeyView): Html {
  const text = view.messages.security.passkeys;
  const sealed = namedFields({ csrf: view.csrf, id: view.id });
  return changePage(
    view,
    text.changeHeading({ name: view.name }),
    html`<form method="post" action="${linkAddress(view.action)}">
${sealed}
<div class="field">
<label for="name">${text.name}</label>
<input id="name" name="name" value="${view.input}" maxlength="60" autocomplete="off" required>
</div>
<div class="actions"><button class="button primary" id="passkey-rename" type="submit" name="change" value="name">${text.rename}</button>
${cancel(view)}</div>
${doubleSubmitGuard}</form>
<form method="post" action="${linkAddress(view.action)}" class="apart">
${sealed}
<p class="quiet">${text.removeText}</p>
<div class="actions"><button class="button dangerous" id="passkey-remove" type="submit" name="change" value="removal">${text.remove}</button></div>
${doubleSubmitGuard}</form>`,
  );
}

export type ShownCodesView = Omit<ChangeFrame, "csrf" | "action"> & {
  codes: readonly string[];
};

export function shownCodesPage(view: ShownCodesView): Html {
  const text = view.messages.recoveryCodes;
  return consoleLayout({
    ...view,
    title: text.heading,
    breadcrumbs: breadcrumb(view),
    body: html`<section class="card confirm">
${recoveryCodeList(view.codes, view.messages)}
<div class="actions"><a class="button primary" id="codes-kept" href="${linkAddress(view.backUri)}">${text.keptHere}</a></div></section>
`,
  });
}
