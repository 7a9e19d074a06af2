/** Adds the first second factor during a sign-in. */
import {
  type AuthenticatorSetup,
  authenticatorCode,
  authenticatorSetup,
  recoveryCodeList,
} from "../../../../html/components/authenticator-setup.ts";
import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { banner } from "../../../../html/components/banner.ts";
import { doubleSubmitGuard, type FormSeal, namedFields } from "../../../../html/components/form.ts";
import { passkeyForm } from "../../../../html/components/passkey-form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";
import type { EnrolmentMethod } from "./factor-method.ts";
import { methodChoice } from "./two-factor.page.ts";

export type EnrolmentView = SignInFrame &
  FormSeal & {
    user: { email: string };
    otherAccountUri: string;
    /** `nobody`: it is offered, and can be put off. */
    askedBy: "organisation" | "organisation-passkey" | "application" | "nobody";
    laterAction: string;
    action: string;
    pending: string;
    /** The sealed TOTP secret, kept while the user looks at another method. */
    enrolment: string;
    shown: { method: "totp"; setup: AuthenticatorSetup } | { method: "passkey"; options: string };
    others: readonly EnrolmentMethod[];
    script: string;
    wrong?: boolean | undefined;
  };

const NOTICE_ID = "enrolment-notice";

function failureNotice(view: EnrolmentView): Html | undefined {
  const { totp, passkey } = view.messages.enrolment;
  if (!view.wrong) return undefined;
  return view.shown.method === "totp"
    ? banner("error", NOTICE_ID, totp.wrong, totp.wrongCode)
    : banner("error", NOTICE_ID, passkey.wrong, passkey.notAdded);
}

const stateFields = ({ csrf, flow, pending, enrolment, shown }: EnrolmentView): Html =>
  namedFields({ csrf, flow, pending, enrolment, method: shown.method });

function authenticatorForm(view: EnrolmentView, setup: AuthenticatorSetup): Html {
  const text = view.messages.enrolment.totp;
  return html`<form method="post" action="${linkAddress(view.action)}">
${stateFields(view)}
${authenticatorSetup(setup, view.messages)}
${authenticatorCode(view.messages, view.wrong ? NOTICE_ID : undefined)}
<button class="button primary" id="twofactor-submit" type="submit">${text.submit}</button>
${methodChoice(view.messages.enrolment, view.others)}
${doubleSubmitGuard}</form>`;
}

function newPasskeyForm(view: EnrolmentView, options: string): Html {
  const text = view.messages.enrolment.passkey;
  return passkeyForm({
    id: "enrolment-passkey",
    action: view.action,
    use: "create",
    options,
    button: {
      id: view.askedBy === "nobody" ? "passkey-offer-add" : "twofactor-submit",
      text: text.submit,
      primary: true,
    },
    failed: text.notAdded,
    fields: [
      stateFields(view),
      html`<input type="hidden" name="name" value="${text.suggestedName}">
<noscript><p>${view.messages.twoFactor.needsScript}</p></noscript>`,
    ],
    after: methodChoice(view.messages.enrolment, view.others),
  });
}

const laterForm = ({ csrf, flow, laterAction, messages }: EnrolmentView): Html =>
  html`<form method="post" action="${linkAddress(laterAction)}">
${namedFields({ csrf, flow })}
<button class="button" id="passkey-offer-later" type="submit">${messages.enrolment.later}</button>
</form>`;

/** The user must have a second factor and enrols the first one, before anything is issued. */
export function enrolmentPage(view: EnrolmentView): Html {
  const text = view.messages.enrolment;
  const { shown } = view;
  const explanation = {
    organisation: text.askedByOrganisation({ organisation: view.organisation.name }),
    "organisation-passkey": text.askedForPasskey({ organisation: view.organisation.name }),
    application: text.askedByApplication({ application: view.application.name }),
    nobody: text.offered({ organisation: view.organisation.name }),
  }[view.askedBy];
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: text.title({ application: view.application.name }),
    body: html`<div class="title"><h1>${text[shown.method].heading} <span>${view.messages.signIn.headingTo({ application: view.application.name })}</span></h1>
${applicationHome(view.application)}</div>
${person(view.messages.twoFactor.signingInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${view.messages.twoFactor.otherAccount}</a>`)}
<p class="quiet">${explanation}${shown.method === "passkey" && html` ${text.passkey.explanation}`}</p>
${failureNotice(view)}
${shown.method === "totp" ? authenticatorForm(view, shown.setup) : newPasskeyForm(view, shown.options)}${view.askedBy === "nobody" && laterForm(view)}`,
  });
}

export type RecoveryCodesView = SignInFrame & {
  codes: readonly string[];
  continueUri: string;
  script: string;
};

/** Shown once, after the first factor is enrolled. */
export function recoveryCodesPage(view: RecoveryCodesView): Html {
  const text = view.messages.recoveryCodes;
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: text.title,
    body: html`<h1>${text.heading}</h1>
${recoveryCodeList(view.codes, view.messages)}
<a class="button primary" id="codes-kept" href="${linkAddress(view.continueUri)}">${text.kept({ destination: view.application.name })}</a>`,
  });
}
