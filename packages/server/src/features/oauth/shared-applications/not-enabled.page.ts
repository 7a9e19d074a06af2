/** For users of an organisation that has not enabled the application yet. */
import { applicationHome } from "../../../html/components/avatar.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../html/layout.ts";

export function notEnabledPage(view: SignInFrame & { readonly allowUri: string }): Html {
  const text = view.messages.notEnabled;
  const { organisation, application } = view;
  const heading = text.heading({ application: application.name });
  return signInLayout({
    ...view,
    title: heading,
    body: html`<div class="title"><h1>${heading}</h1>
${applicationHome(application)}</div>
<p>${text.text({ organisation: organisation.name, application: application.name })}</p>
<a class="button" id="shared-application-administrator" href="${linkAddress(view.allowUri)}">${text.administrator}</a>`,
  });
}
