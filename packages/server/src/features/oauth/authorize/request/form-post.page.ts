import { applicationHome } from "../../../../html/components/application-home.ts";
import { type HiddenField, hiddenFields } from "../../../../html/components/form.ts";
import { type Html, html } from "../../../../html/html.ts";
import {
  type PageApplication,
  type PageFrame,
  type PageOrganisation,
  signInLayout,
} from "../../../../html/layout.ts";

export type FormPostView = PageFrame & {
  organisation: PageOrganisation;
  application: PageApplication;
  /** The registered redirect address that the answer is posted to. */
  redirectUri: string;
  /** The parameters of the answer: `code`, `state`, `iss`, or `error` and its description. */
  fields: readonly HiddenField[];
  /** Address of the script that sends the form: `formPostScript.path`. */
  script: string;
};

/** Addresses that would run in this page instead of leaving it. Registration refuses them; this is the second lock. */
const STAYS_HERE = new Set(["javascript:", "data:", "vbscript:", "blob:", "file:"]);

/**
 * The answer of `response_mode=form_post` (OAuth 2.0 Form Post Response Mode §2): a form that sends itself, with a
 * button for browsers without scripts.
 * @throws TypeError when the redirect address is not one that a browser leaves this page for.
 */
export function formPostPage(view: FormPostView): Html {
  if (STAYS_HERE.has(new URL(view.redirectUri).protocol)) throw new TypeError("not a redirect address");
  const text = view.messages.formPost;
  const { name } = view.application;
  return signInLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle({
      title: text.heading({ application: name }),
      organisation: view.organisation.name,
    }),
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
