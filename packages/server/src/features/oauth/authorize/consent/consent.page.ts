import { applicationHome } from "../../../../html/components/application-home.ts";
import { type FormSeal, hiddenFields, sealFields } from "../../../../html/components/form.ts";
import { person } from "../../../../html/components/person.ts";
import { type ScopeText, scopeList } from "../../../../html/components/scope-list.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../../html/layout.ts";

export type ConsentView = PageFrame &
  FormSeal & {
    organisation: PageOrganisation;
    application: PageApplication;
    /** Where the form posts to: `/oauth/{org}/authorize`; the buttons send `decision=allow` or `decision=deny`. */
    action: string;
    user: { email: string };
    scopes: readonly ScopeText[];
    /** What the scopes stand for now: see `askedMark`. */
    asked: string;
    /** Where the browser goes next, for reading: the host of the redirect address, e.g. `app.example.com`. */
    redirectHost: string;
    /** Starts the same request again with another account. */
    otherAccountUri: string;
  };

/** Asks the signed-in person whether the application may have what it asks for, and says where they go next. */
export function consentPage(view: ConsentView): Html {
  const text = view.messages.consent;
  const heading = text.heading({ application: view.application.name });
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: heading, organisation: view.organisation.name }),
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
