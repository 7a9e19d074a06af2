/** The terms of an organisation, before a sign-in goes on; and that nothing goes on without them. */
import type { Terms } from "../../../../core/organisations/sign-up-settings.ts";
import { applicationHome, person } from "../../../../html/components/avatar.ts";
import { type FormSeal, namedFields } from "../../../../html/components/form.ts";
import { terminalPage } from "../../../../html/components/terminal-page.ts";
import { type Html, html, linkAddress } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

/** In a tab of its own: what was typed stays. */
export const termsLink = ({ url }: Terms, label: string): Html =>
  html`<a href="${linkAddress(url)}" target="_blank" rel="noopener noreferrer">${label}</a>`;

export type TermsView = SignInFrame &
  FormSeal & {
    readonly action: string;
    readonly user: { readonly email: string };
    readonly terms: Terms;
  };

export function termsPage(view: TermsView): Html {
  const { messages, organisation, application, terms, csrf, flow } = view;
  const text = messages.terms;
  const names = { organisation: organisation.name, application: application.name };
  return signInLayout({
    ...view,
    title: text.heading,
    body: html`<div class="title"><h1>${text.heading}</h1>
${applicationHome(application)}</div>
${person(messages.notAssigned.signedInAs, view.user.email)}
<p>${text.text(names)}</p>
<p>${termsLink(terms, text.read({ version: terms.version }))}</p>
<form method="post" action="${linkAddress(view.action)}">
${namedFields({ csrf, flow, "terms-version": terms.version })}
<button class="button primary" id="terms-submit" type="submit" name="decision" value="accept">${text.submit}</button>
<button class="button" id="terms-decline" type="submit" name="decision" value="decline">${text.decline}</button>
</form>`,
  });
}

export function termsDeclinedPage(view: SignInFrame & { readonly againUri: string }): Html {
  const { messages, organisation, againUri } = view;
  const text = messages.terms;
  return terminalPage({
    ...{ ...view, outcome: "info", title: text.heading },
    text: text.declined({ organisation: organisation.name }),
    action: { id: "terms-again", label: text.heading, uri: againUri },
  });
}
