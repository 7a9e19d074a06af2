/** The form that posts a response to the client (OAuth 2.0 Form Post Response Mode). */

import { applicationHome } from "../../../../html/components/avatar.ts";
import { type HiddenField, hiddenFields } from "../../../../html/components/form.ts";
import { type Html, html } from "../../../../html/html.ts";
import { type SignInFrame, signInLayout } from "../../../../html/layout.ts";

export type FormPostView = SignInFrame & {
  redirectUri: string;
  fields: readonly HiddenField[];
  script: string;
};

/** Schemes that run code or stay in this page. Registration rejects them too. */
const UNSAFE_SCHEMES = new Set(["javascript:", "data:", "vbscript:", "blob:", "file:"]);

/**
 * The response of `response_mode=form_post` (OAuth 2.0 Form Post Response Mode §2): a form that submits itself, with a
 * button for browsers without scripts. @throws TypeError for an unsafe redirect URI
 */
export function formPostPage(view: FormPostView): Html {
  if (UNSAFE_SCHEMES.has(new URL(view.redirectUri).protocol)) throw new TypeError("unsafe redirect URI");
  const text = view.messages.formPost;
  const { name } = view.application;
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: text.heading({ application: name }),
    body: html`<div class="title"><h1>${text.heading({ application: name })}</h1>
${applicationHome(view.application)}</div>
<form id="form-post" method="post" action="${view.redirectUri}">
${hiddenFields(view.fields)}
<noscript>
<p class="quiet">${text.explanation}</p>
<button class="button primary" id="form-post-submit" type="submit">${text.submit({ application: name })}</button>
</noscript>
</form>`,
  });
}
