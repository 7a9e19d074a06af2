import {
  type AuthenticatorSetup,
  authenticatorCode,
  authenticatorSetup,
} from "../../html/authenticator-setup.ts";
import { type ConfirmView as QuestionView, confirmPage as questionPage } from "../../html/confirm.page.ts";
import { hiddenFields } from "../../html/form.ts";
import { type Content, type Html, html, linkAddress } from "../../html/html.ts";
import { type PageFrame, type PageOrganisation, signInLayout } from "../../html/layout.ts";
import { notice } from "../../html/notice.ts";
import { passkeyForm } from "../../html/passkey-form.ts";
import { recoveryCodeList } from "../../html/recovery-code-list.ts";

/** What every page of one change has. */
export type ChangeFrame = PageFrame & {
  organisation: PageOrganisation;
  user: { email: string };
  csrf: string;
  /** Where the form posts to: the page's own address. */
  action: string;
  /** The account's security page. */
  backUri: string;
  /** Why the page is shown again. */
  failure?: { title: string; text: string } | undefined;
};

const NOTICE_ID = "change-notice";

function changePage(
  view: ChangeFrame,
  heading: string,
  body: Content,
  scripts: readonly string[] = [],
): Html {
  const { failure } = view;
  return signInLayout({
    ...view,
    scripts,
    title: view.messages.frame.documentTitle(heading, view.organisation.name),
    body: html`<div class="title"><h1>${heading}</h1>
<p class="quiet"><bdi>${view.user.email}</bdi></p></div>
${failure && notice("error", NOTICE_ID, failure.title, failure.text)}
${body}`,
  });
}

const cancel = (view: ChangeFrame): Html =>
  html`<a class="button" id="change-cancel" href="${linkAddress(view.backUri)}">${view.messages.security.cancel}</a>`;

export type ConfirmView = ChangeFrame &
  Pick<QuestionView, "heading" | "text" | "confirm" | "confirmId" | "fields">;

/** One question before something is gone. */
export const confirmPage = (view: ConfirmView): Html =>
  questionPage({ ...view, cancel: view.messages.security.cancel });

export type AuthenticatorView = ChangeFrame & {
  setup: AuthenticatorSetup;
  /** The sealed secret. */
  enrolment: string;
  /** An app is there already, and is going to be replaced. */
  replaces: boolean;
  /** Address of copy.js. */
  script: string;
};

export function authenticatorPage(view: AuthenticatorView): Html {
  const text = view.messages.enrolment.totp;
  const fields = [
    { name: "csrf", value: view.csrf },
    { name: "enrolment", value: view.enrolment },
  ];
  return changePage(
    view,
    text.heading,
    html`${view.replaces && html`<p class="quiet">${view.messages.security.totp.replaceText}</p>`}
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields(fields)}
${authenticatorSetup(view.setup, view.messages)}
${authenticatorCode(view.messages, view.failure && NOTICE_ID)}
<button class="button primary" id="totp-confirm" type="submit">${text.submit}</button>
${cancel(view)}
</form>`,
    [view.script],
  );
}

export type NewPasskeyView = ChangeFrame & {
  /** JSON for `PublicKeyCredential.parseCreationOptionsFromJSON`. */
  options: string;
  name: string;
  /** Address of passkey.js. */
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
  fields: html`${hiddenFields([{ name: "csrf", value: view.csrf }])}
<div class="field">
<label for="name">${text.name}</label>
<input id="name" name="name" value="${view.name}" maxlength="60" autocomplete="off">
</div>
<noscript><p>${view.messages.twoFactor.needsScript}</p></noscript>
`,
  after: cancel(view),
})}`,
    [view.script],
  );
}

export type PasskeyView = ChangeFrame & { id: string; name: string };

/** Its name, and its end. */
export function passkeyPage(view: PasskeyView): Html {
  const text = view.messages.security.passkeys;
  const sealed = hiddenFields([
    { name: "csrf", value: view.csrf },
    { name: "id", value: view.id },
  ]);
  return changePage(
    view,
    text.changeHeading(view.name),
    html`<form method="post" action="${linkAddress(view.action)}">
${sealed}
<div class="field">
<label for="name">${text.name}</label>
<input id="name" name="name" value="${view.name}" maxlength="60" autocomplete="off" required>
</div>
<button class="button primary" id="passkey-rename" type="submit" name="change" value="name">${text.rename}</button>
</form>
<form method="post" action="${linkAddress(view.action)}" class="apart">
${sealed}
<p class="quiet">${text.removeText}</p>
<button class="button" id="passkey-remove" type="submit" name="change" value="removal">${text.remove}</button>
</form>
${cancel(view)}`,
  );
}

export type ShownCodesView = Omit<ChangeFrame, "csrf" | "action"> & {
  codes: readonly string[];
  /** Address of copy.js. */
  script: string;
};

/** New recovery codes, shown this once. */
export function shownCodesPage(view: ShownCodesView): Html {
  const text = view.messages.recoveryCodes;
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle(text.title, view.organisation.name),
    body: html`<h1>${text.heading}</h1>
${recoveryCodeList(view.codes, view.messages)}
<a class="button primary" id="codes-kept" href="${linkAddress(view.backUri)}">${text.keptHere}</a>`,
  });
}
