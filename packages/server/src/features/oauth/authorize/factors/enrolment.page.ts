import { applicationHome } from "../../../../html/components/application-home.ts";
import {
  type AuthenticatorSetup,
  authenticatorCode,
  authenticatorSetup,
} from "../../../../html/components/authenticator-setup.ts";
import { type FormSeal, hiddenFields, sendsOnce } from "../../../../html/components/form.ts";
import { notice } from "../../../../html/components/notice.ts";
import { passkeyForm } from "../../../../html/components/passkey-form.ts";
import { person } from "../../../../html/components/person.ts";
import { recoveryCodeList } from "../../../../html/components/recovery-code-list.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../../html/layout.ts";
import type { AddedMethod } from "./factor-method.ts";

export type EnrolmentView = PageFrame &
  FormSeal & {
    organisation: PageOrganisation;
    application: PageApplication;
    user: { email: string };
    otherAccountUri: string;
    /** Who wants it: the organisation of everybody, or this application. */
    askedBy: "organisation" | "application";
    /** Where the form posts to: `/oauth/{org}/twofactor`. */
    action: string;
    /** The sealed sign-in that waits for this. */
    pending: string;
    /** The sealed secret of the authenticator app; kept while another way is looked at. */
    enrolment: string;
    /** The way that is shown, and what it needs. */
    shown: { method: "totp"; setup: AuthenticatorSetup } | { method: "passkey"; options: string };
    others: readonly AddedMethod[];
    /** Address of the script that this way uses: copy.js or passkey.js. */
    script: string;
    /** The code or the passkey was not accepted. */
    wrong?: boolean | undefined;
  };

const NOTICE_ID = "enrolment-notice";

function failureNotice(view: EnrolmentView): Html | undefined {
  const { totp, passkey } = view.messages.enrolment;
  if (!view.wrong) return undefined;
  return view.shown.method === "totp"
    ? notice("error", NOTICE_ID, totp.wrong, totp.wrongCode)
    : notice("error", NOTICE_ID, passkey.wrong, passkey.notAdded);
}

function sealed(view: EnrolmentView): Html {
  return hiddenFields([
    { name: "csrf", value: view.csrf },
    { name: "flow", value: view.flow },
    { name: "pending", value: view.pending },
    { name: "enrolment", value: view.enrolment },
    { name: "method", value: view.shown.method },
  ]);
}

function otherWays(view: EnrolmentView): Html | undefined {
  const text = view.messages.enrolment;
  if (view.others.length === 0) return undefined;
  const way = (method: AddedMethod) =>
    html`<button class="link" id="choose-${method}" type="submit" name="show" value="${method}" formnovalidate>${text.choose[method]}</button>
`;
  return html`<div class="others"><p class="quiet">${text.others}</p>
${view.others.map(way)}</div>
`;
}

function authenticatorForm(view: EnrolmentView, setup: AuthenticatorSetup): Html {
  const text = view.messages.enrolment.totp;
  return html`<form method="post" action="${linkAddress(view.action)}">
${sealed(view)}
${authenticatorSetup(setup, view.messages)}
${authenticatorCode(view.messages, view.wrong ? NOTICE_ID : undefined)}
<button class="button primary" id="twofactor-submit" type="submit">${text.submit}</button>
${otherWays(view)}
${sendsOnce}</form>`;
}

function newPasskeyForm(view: EnrolmentView, options: string): Html {
  const text = view.messages.enrolment.passkey;
  return passkeyForm({
    id: "enrolment-passkey",
    action: view.action,
    use: "create",
    options,
    button: { id: "twofactor-submit", text: text.submit, primary: true },
    failed: text.notAdded,
    fields: [
      sealed(view),
      html`<input type="hidden" name="name" value="${text.suggestedName}">
<noscript><p>${view.messages.twoFactor.needsScript}</p></noscript>`,
    ],
    after: otherWays(view),
  });
}

/** A second factor is due and there is none: the first one is added here, before anything is issued. */
export function enrolmentPage(view: EnrolmentView): Html {
  const text = view.messages.enrolment;
  const { shown } = view;
  const why =
    view.askedBy === "organisation"
      ? text.askedByOrganisation({ organisation: view.organisation.name })
      : text.askedByApplication({ application: view.application.name });
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle({
      title: text.title({ application: view.application.name }),
      organisation: view.organisation.name,
    }),
    body: html`<div class="title"><h1>${text[shown.method].heading} <span>${view.messages.signIn.headingTo({ application: view.application.name })}</span></h1>
${applicationHome(view.application)}</div>
${person(view.messages.twoFactor.signingInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${view.messages.twoFactor.otherAccount}</a>`)}
<p class="quiet">${why}${shown.method === "passkey" && html` ${text.passkey.explanation}`}</p>
${failureNotice(view)}
${shown.method === "totp" ? authenticatorForm(view, shown.setup) : newPasskeyForm(view, shown.options)}`,
  });
}

export type RecoveryCodesView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  codes: readonly string[];
  /** Where the sign-in goes on. */
  continueUri: string;
  /** Address of copy.js. */
  script: string;
};

/** Shown once, between the first factor and the application. */
export function recoveryCodesPage(view: RecoveryCodesView): Html {
  const text = view.messages.recoveryCodes;
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle({ title: text.title, organisation: view.organisation.name }),
    body: html`<h1>${text.heading}</h1>
${recoveryCodeList(view.codes, view.messages)}
<a class="button primary" id="codes-kept" href="${linkAddress(view.continueUri)}">${text.kept({ destination: view.application.name })}</a>`,
  });
}
