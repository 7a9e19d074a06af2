import { applicationHome } from "../../../html/application-home.ts";
import { type FormSeal, sealFields } from "../../../html/form.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { person } from "../../../html/person.ts";

export type ConsentScope = {
  /** As in the request, e.g. `email`. */
  name: string;
  /** What it allows, in a plain sentence: a custom scope's description. Standard scopes have theirs in the messages. */
  description?: string | undefined;
  sensitive?: boolean | undefined;
};

export type ConsentView = PageFrame &
  FormSeal & {
    organisation: PageOrganisation;
    application: PageApplication;
    /** Where the form posts to: `/oauth/{org}/authorize`; the buttons send `decision=allow` or `decision=deny`. */
    action: string;
    user: { email: string };
    scopes: readonly ConsentScope[];
    /** Where the browser goes next, for reading: the host of the redirect address, e.g. `app.example.com`. */
    redirectHost: string;
    /** Starts the same request again with another account. */
    otherAccountUri: string;
  };

function sentence(scope: ConsentScope, text: Messages): string {
  const standard: Readonly<Record<string, string>> = text.scopes;
  if (scope.description !== undefined && scope.description !== "") return scope.description;
  const known = Object.hasOwn(standard, scope.name) ? standard[scope.name] : undefined;
  return known ?? text.consent.customScope(scope.name);
}

function scopeItem(scope: ConsentScope, text: Messages): Html {
  const badge = scope.sensitive && html` <strong class="badge">${text.consent.sensitive}</strong>`;
  return html`<li data-scope="${scope.name}"${scope.sensitive && html` class="sensitive"`}><bdi>${sentence(scope, text)}</bdi>${badge}</li>
`;
}

/** Asks the signed-in person whether the application may have what it asks for, and says where they go next. */
export function consentPage(view: ConsentView): Html {
  const text = view.messages.consent;
  const heading = text.heading(view.application.name);
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle(heading, view.organisation.name),
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(view.application)}</div>
${person(text.signedInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<div><h2 id="scopes-title">${text.listTitle}</h2>
<ul class="scopes" aria-labelledby="scopes-title">
${view.scopes.map((scope) => scopeItem(scope, view.messages))}</ul></div>
<form method="post" action="${linkAddress(view.action)}">
${sealFields(view)}
<p>${text.goesTo} <bdi class="host">${view.redirectHost}</bdi></p>
<div class="choices">
<button class="button primary" id="consent-allow" type="submit" name="decision" value="allow">${text.allow}</button>
<button class="button" id="consent-deny" type="submit" name="decision" value="deny">${text.deny}</button>
</div>
</form>
<p class="quiet after">${text.remembered}</p>`,
  });
}
