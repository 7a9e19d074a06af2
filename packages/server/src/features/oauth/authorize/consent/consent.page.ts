/** The consent page. */
import { type FormSeal, hiddenFields, sealFields } from "../../../../html/components/form.ts";
import { applicationHome, person } from "../../../../html/components/mark.ts";
import { type ScopeText, scopeList } from "../../../../html/components/scope-list.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type ConsentView = SignInFrame &
  FormSeal & {
    action: string;
    user: { email: string };
    scopes: readonly ScopeText[];
    asked: string;
    /** The host of the redirect URI, e.g. `app.example.com`. */
    redirectHost: string;
    otherAccountUri: string;
  };

export function consentPage(view: ConsentView): Html {
  const text = view.messages.consent;
  const heading = text.heading({ application: view.application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${person(text.signedInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<div><h2 id="scopes-title">${text.listTitle}</h2>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}${hiddenFields([{ name: "asked", value: view.asked }])}
<p>${text.goesTo} <bdi class="host">${view.redirectHost}</bdi></p>
<div class="choices">
<button class="button primary" id="consent-allow" type="submit" name="decision" value="allow">${text.allow}</button>
<button class="button" id="consent-deny" type="submit" name="decision" value="deny">${text.deny}</button>
</div>
</form>
<p class="quiet after">${text.remembered}</p>`,
  });
}

/** Admin consent is required: tells the user whom to ask, and leads back to the application. */
export function administratorConsentPage(view: Omit<ConsentView, "redirectHost" | "asked">): Html {
  const { administratorConsent: text, consent } = view.messages;
  const heading = text.heading({ application: view.application.name });
  const explanation = text.explanation({
    organisation: view.organisation.name,
    application: view.application.name,
  });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${person(consent.signedInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${consent.switchAccount}</a>`)}
<div><p id="scopes-title">${explanation}</p>
${scopeList(view.scopes, view.messages, "scopes-title")}</div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
<button class="button" id="consent-deny" type="submit" name="decision" value="deny">${text.back({ application: view.application.name })}</button>
</form>`,
  });
}
