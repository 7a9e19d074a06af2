import { type HiddenField, hiddenFields } from "../../../html/components/form.ts";
import { person } from "../../../html/components/person.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../html/layout.ts";

export type EndSessionView = PageFrame & {
  organisation: PageOrganisation;
  /** The application that asked for the sign-out, when it is known. */
  application?: PageApplication | undefined;
  /** Who is signed in. */
  user: { email: string };
  /** Where the form posts to: `/oauth/{org}/end_session`. */
  action: string;
  csrf: string;
  /** The request's own parameters that the POST needs again (`id_token_hint`, `state` …). */
  fields?: readonly HiddenField[] | undefined;
  /** Where "stay signed in" leads; without it there is no such link. */
  stayUri?: string | undefined;
};

/** OIDC RP-Initiated Logout §6: without a valid hint nobody is signed out before they say so. */
export function endSessionPage(view: EndSessionView): Html {
  const text = view.messages.signOut;
  const heading = text.heading({ organisation: view.organisation.name });
  const stay = linkAddress(view.stayUri);
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({ title: heading, organisation: view.organisation.name }),
    body: html`<h1>${heading}</h1>
${person(text.signedInAs, view.user.email)}
<p class="quiet">${view.application && text.askedBy({ application: view.application.name })} ${text.explanation}</p>
<form method="post" action="${linkAddress(view.action)}">
${hiddenFields([{ name: "csrf", value: view.csrf }, ...(view.fields ?? [])])}
<div class="choices">
<button class="button primary" id="logout-confirm" type="submit">${text.confirm}</button>
${stay !== undefined && html`<a class="button" href="${stay}">${text.stay}</a>`}
</div>
</form>`,
  });
}

export type SignedOutView = PageFrame & {
  organisation: PageOrganisation;
  /** The application to go back to, when it is known; its home page is the way. */
  application?: PageApplication | undefined;
};

/** The end of a sign-out that goes nowhere else; also what someone sees who was not signed in. */
export function signedOutPage(view: SignedOutView): Html {
  const text = view.messages.signOut;
  const home = linkAddress(view.application?.homepageUri);
  return signInLayout({
    ...view,
    title: view.messages.frame.documentTitle({
      title: text.doneHeading,
      organisation: view.organisation.name,
    }),
    body: html`<h1>${text.doneHeading}</h1>
<p class="quiet">${text.done({ organisation: view.organisation.name })}</p>
${
  view.application !== undefined &&
  home !== undefined &&
  html`<a class="button" href="${home}">${text.back({ application: view.application.name })}</a>`
}`,
  });
}
