/** For users who are not assigned to the application. */

import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { type FormSeal, sealFields } from "../../../../html/components/form.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type NotAssignedView = SignInFrame & {
  readonly user: { readonly email: string };
  /** The application's contacts; the page names an administrator if there are none. */
  readonly contacts: readonly string[];
  readonly otherAccountUri: string;
  /** The form that sends the error to the client, if there is one. */
  readonly back?: FormSeal & { readonly action: string };
};

export function notAssignedPage(view: NotAssignedView): Html {
  const text = view.messages.notAssigned;
  const { organisation, application, contacts } = view;
  const heading = text.heading({ application: application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(application)}</div>
${person(text.signedInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<p>${text.explanation({ organisation: organisation.name, application: application.name })}</p>
<div><p id="not-assigned-contacts">${contacts.length === 0 ? text.ask({ organisation: organisation.name }) : text.askContacts}</p>
${contacts.length > 0 && html`<ul>${contacts.map((contact) => html`<li>${contact}</li>\n`)}</ul>`}</div>
${backToApplication(view)}`,
  });
}

function backToApplication({ messages, application, back }: NotAssignedView): Html | undefined {
  const label = messages.notAssigned.back({ application: application.name });
  if (back)
    return html`<form method="post" action="${linkAddress(back.action)}">
${sealFields(back)}
<button class="button" id="not-assigned-back" type="submit" name="decision" value="deny">${label}</button>
</form>`;
  const home = linkAddress(application.homepageUri);
  return home === undefined ? undefined : html`<a class="button" href="${home}">${label}</a>`;
}
