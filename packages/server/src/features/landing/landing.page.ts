/** The landing page; in demo mode with the try-it link and the organisations. */
import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";

export type LandingOrganisation = {
  name: string;
  issuer: string;
  discoveryUri: string;
  consoleUri: string;
};

export type LandingView = PageFrame & {
  /** Demo mode only: otherwise the page names no organisation. */
  demo?:
    | {
        organisations: readonly LandingOrganisation[];
        /** Starts the authorization code flow: `/demo/try`. */
        tryUri: string;
        /** File with the demo credentials, e.g. `data/demo.json`; the page never shows its content. */
        credentialsFile: string;
        /** `/demo/mailbox`; undefined if emails are sent over SMTP. */
        mailboxUri?: string | undefined;
      }
    | undefined;
  documentation?: readonly { title: string; uri: string }[] | undefined;
};

function organisationList(organisations: readonly LandingOrganisation[], text: Messages["landing"]): Html {
  return html`<h2>${text.organisations}</h2>
<p class="quiet">${text.organisationsText}</p>
<ul class="records">
${organisations.map(
  (organisation) => html`<li>
<h3><bdi>${organisation.name}</bdi></h3>
<dl><dt>${text.issuer}</dt><dd><code>${organisation.issuer}</code></dd></dl>
<a href="${linkAddress(organisation.discoveryUri)}" aria-label="${text.discoveryOf({ organisation: organisation.name })}">${text.discovery}</a>
<a href="${linkAddress(organisation.consoleUri)}" aria-label="${text.consoleOf({ organisation: organisation.name })}">${text.console}</a>
</li>
`,
)}</ul>`;
}

function demoSections(demo: NonNullable<LandingView["demo"]>, text: Messages["landing"]): Html {
  return html`<section class="card">
<h2>${text.demoHeading}</h2>
<p>${text.demoText}</p>
<p class="quiet">${text.credentials} <code>${demo.credentialsFile}</code>.</p>
<a class="button primary" id="demo-try" href="${linkAddress(demo.tryUri)}">${text.tryIt}</a>
${
  demo.mailboxUri !== undefined &&
  html`<p class="quiet">${text.mails} <a id="demo-mailbox" href="${linkAddress(demo.mailboxUri)}">${text.mailbox}</a></p>
`
}</section>
<section>
${organisationList(demo.organisations, text)}
</section>`;
}

function documentationList(
  links: NonNullable<LandingView["documentation"]>,
  text: Messages["landing"],
): Html {
  return html`<section>
<h2>${text.documentation}</h2>
<ul class="links">
${links.map((link) => html`<li><a href="${linkAddress(link.uri)}">${link.title}</a></li>\n`)}</ul>
</section>`;
}

export function landingPage(view: LandingView): Html {
  const text = view.messages.landing;
  const links = view.documentation ?? [];
  return contentLayout({
    ...view,
    title: text.heading,
    body: html`<div class="intro"><h1>${text.heading}</h1>
<p class="lead">${text.summary}</p>
${view.demo === undefined && html`<p class="quiet">${text.running}</p>`}</div>
${view.demo && demoSections(view.demo, text)}
${links.length > 0 && documentationList(links, text)}`,
  });
}
