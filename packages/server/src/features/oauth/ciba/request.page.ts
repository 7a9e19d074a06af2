/** The pages of a CIBA request: the question, and what came of it. */
import { applicationHome, person } from "../../../html/components/avatar.ts";
import { banner } from "../../../html/components/banner.ts";
import { type DetailText, detailList } from "../../../html/components/detail-list.ts";
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

type AskedView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  action: string;
  csrf: string;
  user: { email: string };
  scopes: readonly ScopeText[];
};

export type RequestQuestionView = AskedView & {
  details: readonly DetailText[];
  /** Of the application; to be compared with what it shows. */
  bindingMessage: string | undefined;
  secondsAgo: number;
  /** What the page stands for: see `consentRequestHash`. */
  asked: string;
  /** The form that was sent was too old. */
  hasExpired: boolean;
};

/** Somebody may have begun this at the application in the user's name: the page says so before it asks. */
export function requestQuestionPage(view: RequestQuestionView): Html {
  const text = view.messages.approvalRequest;
  const { consent } = view.messages;
  const heading = text.question({ application: view.application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${person(text.signedInAs, view.user.email)}
${view.hasExpired && banner("hint", "request-notice", text.expired, text.expiredText)}
<dl class="origin">
${view.bindingMessage !== undefined && html`<dt>${text.message}</dt><dd class="binding-message" id="binding-message"><bdi>${view.bindingMessage}</bdi></dd>`}
<dt>${text.asked}</dt><dd>${text.ago({ minutes: Math.floor(view.secondsAgo / 60) })}</dd>
</dl>
${banner("hint", "request-warning", text.warning, view.bindingMessage === undefined ? text.warningText : text.compareText)}
${
  view.details.length > 0 &&
  html`<div class="panel"><h2 id="details-title">${consent.detailsTitle}</h2>
${detailList(view.details, "details-title")}</div>`
}
<div><h2 id="scopes-title">${consent.listTitle}</h2>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf, asked: view.asked })}
<div class="choices">
<button class="button" id="request-deny" type="submit" name="decision" value="deny">${text.deny}</button>
<button class="button primary" id="request-allow" type="submit" name="decision" value="allow" aria-describedby="request-warning">${text.approve}</button>
</div>
${doubleSubmitGuard}</form>`,
  });
}

/** Only an administrator can consent to these scopes: says so, and lets the user deny the request. */
export function requestAdministratorPage(view: AskedView): Html {
  const { administratorConsent: text, approvalRequest } = view.messages;
  const { organisation, application } = view;
  const heading = text.heading({ application: application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(application)}</div>
${person(approvalRequest.signedInAs, view.user.email)}
<div><p id="scopes-title">${text.explanation({ organisation: organisation.name, application: application.name })}</p>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf: view.csrf })}
<button class="button" id="request-deny" type="submit" name="decision" value="deny">${approvalRequest.deny}</button>
${doubleSubmitGuard}</form>`,
  });
}

/** `gone`: decided before, expired, or never there. */
export type RequestEnd = "approved" | "denied" | "gone";

export function requestEndPage(
  view: PageFrame & {
    organisation: PageOrganisation;
    application: Pick<PageApplication, "name">;
    end: RequestEnd;
  },
): Html {
  const { end, application, messages } = view;
  const text = messages.approvalRequest;
  const sentences = {
    approved: text.approved({ application: application.name }),
    denied: text.denied,
    gone: text.goneText,
  };
  const headings = { approved: text.approvedHeading, denied: text.deniedHeading, gone: text.gone };
  return terminalPage({
    ...view,
    outcome: end === "approved" ? "success" : "info",
    title: headings[end],
    text: html`<p id="request-done" role="status">${sentences[end]}</p>`,
  });
}
