import { applicationHome } from "../../../../html/components/application-home.ts";
import { type FormSeal, sealFields } from "../../../../html/components/form.ts";
import { person } from "../../../../html/components/person.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../../html/layout.ts";

export type NotAssignedView = PageFrame & {
  readonly organisation: PageOrganisation;
  readonly application: PageApplication;
  readonly user: { readonly email: string };
  /** Whom the application names to be asked; an administrator when there is nobody. */
  readonly contacts: readonly string[];
  readonly otherAccountUri: string;
  /** The form that tells the application; absent where it hears of nothing. */
  readonly back?: FormSeal & { readonly action: string };
};

/** The application is for assigned users: says whom to ask, and leads back. */
export function notAssignedPage(view: NotAssignedView): Html {
  const { notAssigned: text, frame } = view.messages;
  const { organisation, application, contacts } = view;
  const heading = text.heading({ application: application.name });
  return signInLayout({
    ...view,
    title: frame.documentTitle({ title: heading, organisation: organisation.name }),
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(application)}</div>
${person(text.signedInAs, view.user.email, html`<a href="${linkAddress(view.otherAccountUri)}">${text.switchAccount}</a>`)}
<p>${text.explanation({ organisation: organisation.name, application: application.name })}</p>
<div><p id="not-assigned-contacts">${contacts.length === 0 ? text.ask({ organisation: organisation.name }) : text.askContacts}</p>
${contacts.length > 0 && html`<ul>${contacts.map((contact) => html`<li>${contact}</li>\n`)}</ul>`}</div>
${wayBack(view)}`,
  });
}

function wayBack({ messages, application, back }: NotAssignedView): Html | undefined {
  const label = messages.notAssigned.back({ application: application.name });
  if (back)
    return html`<form method="post" action="${linkAddress(back.action)}">
${sealFields(back)}
<button class="button" id="not-assigned-back" type="submit" name="decision" value="deny">${label}</button>
</form>`;
  const home = linkAddress(application.homepageUri);
  return home === undefined ? undefined : html`<a class="button" href="${home}">${label}</a>`;
}
