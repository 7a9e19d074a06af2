import { type Html, html, linkAddress } from "../../html/html.ts";
import { contentLayout, type PageFrame } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";

export type LandingOrganisation = {
  name: string;
  /** `{baseUrl}/oauth/{org}`. */
  issuer: string;
  discoveryUri: string;
  /** For its administrators: `/oauth/manage/{org}`. */
  consoleUri: string;
};

export type LandingView = PageFrame & {
  /** Only in demo mode: elsewhere the page names no organisation and no way in. */
  demo?:
    | {
        organisations: readonly LandingOrganisation[];
        /** Starts the code flow in this browser: `/demo/try`. */
        tryUri: string;
        /** Where the credentials are kept, e.g. `data/demo.json`. The page never shows what is in it. */
        credentialsFile: string;
        /** Where the mails are that nobody sends: `/demo/mailbox`. */
        mailboxUri?: string | undefined;
      }
    | undefined;
  /** Links for people who build with it, in the order shown. */
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
<a class="record-console" href="${linkAddress(organisation.consoleUri)}" aria-label="${text.consoleOf({ organisation: organisation.name })}">${text.console}</a>
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
${mailbox(demo, text)}</section>
<section>
${organisationList(demo.organisations, text)}
</section>`;
}

function mailbox(
  { mailboxUri }: NonNullable<LandingView["demo"]>,
  text: Messages["landing"],
): Html | undefined {
  if (mailboxUri === undefined) return undefined;
  return html`<p class="quiet">${text.mails} <a id="demo-mailbox" href="${linkAddress(mailboxUri)}">${text.mailbox}</a></p>
`;
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

/** The page at `/`: what this is; in demo mode also the way in and the addresses that libraries want. */
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
