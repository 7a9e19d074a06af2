import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame, type PageOrganisation } from "../../html/layout.ts";
import { notice } from "../../html/notice.ts";
import { type ManageNav, manageNav } from "./manage-nav.ts";

export type EnrollmentCodeView = PageFrame & {
  organisation: PageOrganisation;
  nav: ManageNav;
  /** Of the device. */
  name: string | undefined;
  code: string;
  /** What the device runs: the code is in it. */
  command: string;
  /** Milliseconds. */
  expiresAt: number;
  /** Address of copy.js. */
  script: string;
};

/** A new code, shown this once. */
export function enrollmentCodePage(view: EnrollmentCodeView): Html {
  const text = view.messages.devices.code;
  const heading = view.name === undefined ? text.heading : text.headingFor(view.name);
  return contentLayout({
    ...view,
    scripts: [view.script],
    title: view.messages.frame.documentTitle(heading, view.organisation.name),
    body: html`<div class="intro">${manageNav(view.nav, view.messages)}<h1>${heading}</h1></div>
<section class="card" aria-labelledby="code-title">
<h2 id="code-title">${text.label}</h2>
${notice("hint", "code-notice", text.once, text.onceText)}
<pre class="codes long" id="enrollment-code" aria-labelledby="code-title">${view.code}</pre>
${copyButton("enrollment-code", text.copy, text.copied)}
<p class="quiet">${text.until(view.expiresAt)}</p>
</section>
<section class="card" aria-labelledby="command-title">
<h2 id="command-title">${text.command}</h2>
<p class="quiet">${text.commandText}</p>
<pre id="enroll-command" aria-labelledby="command-title">${view.command}</pre>
${copyButton("enroll-command", text.copyCommand, text.copied)}
</section>
<p class="visually-hidden" id="copy-status" role="status"></p>
<div class="actions"><a class="button primary" id="code-kept" href="${linkAddress(view.nav.listUri)}">${text.done}</a></div>`,
  });
}

const copyButton = (id: string, name: string, copied: string): Html =>
  html`<button class="button" type="button" data-copy="${id}" data-copied="${copied}" hidden>${name}</button>`;
