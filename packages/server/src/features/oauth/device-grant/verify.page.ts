/** The pages of device/verify: the code form, the question with its origin, the result. */

import { applicationHome, person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { doubleSubmitGuard, namedFields } from "../../../html/components/form.ts";
import { type ScopeText, scopeList } from "../../../html/components/scope-list.ts";
import { terminalPage } from "../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";

export type CodeFailure = "wrong-code" | "used-code" | "rate-limited" | "session-expired";

type SignedInView = { user: { email: string }; otherAccountUri: string };

type CodeFormView = PageFrame & { action: string; csrf: string; userCode: string };

type VerifyView = CodeFormView & SignedInView & { organisation: PageOrganisation };

type CodeFailureView = {
  error?: CodeFailure | undefined;
  /** With `rate-limited`: as in the `Retry-After` header. */
  retryAfterSeconds?: number | undefined;
};

/** Without organisation and user at the short address: the code tells which organisation's page comes next. */
export type CodeView = (VerifyView | (CodeFormView & { [Absent in keyof SignedInView]?: undefined })) &
  CodeFailureView;

const NOTICE_ID = "device-notice";

function failureNotice({ error, messages, retryAfterSeconds = 900 }: CodeView): Html | undefined {
  const text = messages.device;
  switch (error) {
    case undefined:
      return undefined;
    case "wrong-code":
      return banner("error", NOTICE_ID, text.failed, text.wrongCode);
    case "used-code":
      return banner("error", NOTICE_ID, text.failed, text.usedCode);
    case "rate-limited":
      return banner("error", NOTICE_ID, text.failed, text.rateLimited({ seconds: retryAfterSeconds }));
    case "session-expired":
      return banner("hint", NOTICE_ID, text.expired, text.expiredText);
  }
}

/** A code from the URL fills the field, for the user to compare. */
export function codePage(view: CodeView): Html {
  const text = view.messages.device;
  const invalid = (view.error === "wrong-code" || view.error === "used-code") && html` aria-invalid="true"`;
  const described = view.error !== undefined && html` aria-describedby="${NOTICE_ID}"`;
  const isFilled = view.userCode !== "" && view.error === undefined;
  return signInLayout({
    ...view,
    title: text.heading,
    body: html`<h1>${text.heading}</h1>
${view.user && signedInAs(view)}
${failureNotice(view)}
<p>${isFilled ? text.compare : text.explanation}</p>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf })}
<div class="field">
<label for="user_code">${text.code}</label>
<input class="user-code" id="user_code" name="user_code" value="${view.userCode}" autocomplete="off" autocapitalize="characters" spellcheck="false" maxlength="20" required autofocus${invalid}${described}>
</div>
<button class="button primary" id="verify-submit" type="submit">${text.submit}</button>
</form>`,
  });
}

function signedInAs(view: Pick<VerifyView, "messages" | keyof SignedInView>): Html {
  const text = view.messages.device;
  const other = html`<a href="${linkAddress(view.otherAccountUri)}">${text.otherAccount}</a>`;
  return person(text.signedInAs, view.user.email, other);
}

export type DeviceQuestionView = VerifyView & {
  application: PageApplication;
  scopes: readonly ScopeText[];
  /** What the scopes stand for now: see `consentRequestHash`. */
  asked: string;
  origin: { address: string; device: string | undefined; secondsAgo: number };
};

/** RFC 8628 §5.4: a user who was sent the code by an attacker must see here that it is not their device. */
export function deviceQuestionPage(view: DeviceQuestionView): Html {
  const text = view.messages.device;
  const { address, device, secondsAgo } = view.origin;
  const heading = text.question({ application: view.application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${signedInAs(view)}
<dl class="origin">
<dt>${text.codeOnDevice}</dt><dd class="user-code">${view.userCode}</dd>
<dt>${text.device}</dt><dd><bdi>${device ?? text.unknownDevice}</bdi></dd>
<dt>${text.address}</dt><dd><bdi>${address}</bdi></dd>
<dt>${text.asked}</dt><dd>${text.ago({ minutes: Math.floor(secondsAgo / 60) })}</dd>
</dl>
${banner("hint", "device-warning", text.warning, text.warningText)}
<div><h2 id="scopes-title">${view.messages.consent.listTitle}</h2>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${codeFields(view)}${namedFields({ asked: view.asked })}
<div class="choices">
<button class="button" id="device-deny" type="submit" name="decision" value="deny">${text.deny}</button>
<button class="button primary" id="device-allow" type="submit" name="decision" value="allow" aria-describedby="device-warning">${text.allow}</button>
</div>
${doubleSubmitGuard}</form>`,
  });
}

/** Only an administrator can consent to these scopes: says so, and lets the user deny the request. */
export function deviceAdministratorPage(view: Omit<DeviceQuestionView, "origin" | "asked">): Html {
  const { administratorConsent: text, device } = view.messages;
  const heading = text.heading({ application: view.application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${signedInAs(view)}
<div><p id="scopes-title">${text.explanation({ organisation: view.organisation.name, application: view.application.name })}</p>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${codeFields(view)}
<button class="button" id="device-deny" type="submit" name="decision" value="deny">${device.deny}</button>
${doubleSubmitGuard}</form>`,
  });
}

const codeFields = ({ csrf, userCode }: Pick<VerifyView, "csrf" | "userCode">): Html =>
  namedFields({ csrf, user_code: userCode });

export type DeviceDoneView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  decision: "allow" | "deny";
};

export function deviceDonePage(view: DeviceDoneView): Html {
  const text = view.messages.device;
  const isAllowed = view.decision === "allow";
  const heading = isAllowed ? text.allowedHeading : text.deniedHeading;
  return terminalPage({
    ...view,
    outcome: isAllowed ? "success" : "info",
    title: heading,
    text: html`<p id="device-done" role="status">${isAllowed ? text.allowed({ application: view.application.name }) : text.denied}</p>`,
  });
}
