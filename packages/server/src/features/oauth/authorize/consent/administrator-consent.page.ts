import { applicationHome } from "../../../../html/components/application-home.ts";
import { sealFields } from "../../../../html/components/form.ts";
import { person } from "../../../../html/components/person.ts";
import { scopeList } from "../../../../html/components/scope-list.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { signInLayout } from "../../../../html/layout.ts";
import type { ConsentView } from "./consent.page.ts";

/** The application needs what only an administrator allows: says whom to ask, and leads back. */
export function administratorConsentPage(view: Omit<ConsentView, "redirectHost" | "asked">): Html {
  const { administratorConsent: text, consent } = view.messages;
  const heading = text.heading({ application: view.application.name });
  const explanation = text.explanation({
    organisation: view.organisation.name,
    application: view.application.name,
  });
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: heading, organisation: view.organisation.name }),
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
