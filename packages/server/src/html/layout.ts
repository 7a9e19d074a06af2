/** The layout of every page; sign-in pages in one column. */
import { accentRules, isAccentColour, previewRules } from "./accent.ts";
import { mark } from "./components/mark.ts";
import { type Content, contactAddress, type Html, html, linkAddress, raw } from "./html.ts";
import type { Messages } from "./messages/messages.ts";

export type PageOrganisation = {
  name: string;
  /** `#rrggbb`; anything else is ignored. Shades readable on light and dark are derived from it. */
  accentColor?: string | undefined;
  /** A `data:image/…` address or a path of this server; others are ignored, pages ask no third party for anything. */
  logoUri?: string | undefined;
  /** https or `mailto:`. */
  helpUri?: string | undefined;
  privacyUri?: string | undefined;
  termsUri?: string | undefined;
  /** Where a user manages the account there. */
  accountUri?: string | undefined;
};

export type PageApplication = {
  name: string;
  /** Shown as its host, linked when it is an http(s) address. */
  homepageUri?: string | undefined;
  logoUri?: string | undefined;
};

export type PageFrame = {
  /** In the reader's language: `messages(preferredLocales(...))`. */
  messages: Messages;
  /** Of the response's Content-Security-Policy, for the accent colour's style element. */
  nonce: string;
  stylesheet: string;
};

export type SignInFrame = PageFrame & { organisation: PageOrganisation; application: PageApplication };

export type LayoutView = PageFrame & {
  title: string;
  organisation?: PageOrganisation | undefined;
  body: Html;
  notice?: Html | undefined;
  /** Addresses of deferred scripts, `Asset.path`. */
  scripts?: readonly string[] | undefined;
  /** Without scripts the browser reloads there. */
  refresh?: { seconds: number; path: string } | undefined;
  /** Another accent, `#rrggbb`, which the page shows in `.preview-light` and `.preview-dark`. */
  previewAccent?: string | undefined;
};

/** A seal ring, inline so that browsers do not ask for /favicon.ico: the stylesheet stays the only request. */
const ICON = raw(
  `data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' fill='%232f4fd8'/%3E%3Ccircle cx='8' cy='9.4' r='3.6' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3Crect x='5.4' y='2.8' width='5.2' height='3.4' rx='1' fill='%23fff'/%3E%3C/svg%3E`,
);

function accentStyle(view: Omit<LayoutView, "body">): Content {
  const colour = view.organisation?.accentColor;
  const preview = view.previewAccent;
  // Six hexadecimal digits are checked, so that no stored value can leave the style element.
  const rules = [
    isAccentColour(colour) && accentRules(colour),
    isAccentColour(preview) && previewRules(preview),
  ].filter((one) => one !== false);
  return rules.length > 0 && html`<style nonce="${view.nonce}">${raw(rules.join(""))}</style>`;
}

/** Where scripts run, they poll instead. */
function refreshWithoutScripts({ refresh }: Omit<LayoutView, "body">): Content {
  const path = linkAddress(refresh?.path);
  if (refresh === undefined || path === undefined) return undefined;
  const content = `${refresh.seconds};url=${path}`;
  return html`<noscript><meta http-equiv="refresh" content="${content}"></noscript>
`;
}

export function documentShell(view: Omit<LayoutView, "body">, frame: Html): Html {
  const scripts = view.scripts?.map((path) => html`<script src="${path}" defer></script>`);
  return html`<!doctype html>
<html lang="${view.messages.locale}">
<head>
<meta charset="utf-8">
<title>${view.title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${view.stylesheet}">
${accentStyle(view)}${scripts}
${refreshWithoutScripts(view)}</head>
${frame}
</html>
`;
}

/** Help, privacy and terms of the organisation, in new tabs: the sign-in stays open. */
function organisationLinks({ organisation, messages: { frame } }: Omit<LayoutView, "body">): Content {
  const { helpUri, privacyUri, termsUri } = organisation ?? {};
  const links = [
    { id: "help", uri: contactAddress(helpUri), label: frame.help },
    { id: "privacy", uri: linkAddress(privacyUri), label: frame.privacy },
    { id: "terms", uri: linkAddress(termsUri), label: frame.terms },
  ].filter(({ uri }) => uri !== undefined);
  if (links.length === 0) return undefined;
  return html`<ul class="foot-links">${links.map(({ id, uri, label }) => html`<li><a id="foot-${id}" href="${uri}" target="_blank" rel="noopener noreferrer">${label}</a></li>`)}</ul>`;
}

/** The narrow page of every sign-in step: one column of at most 24rem under the organisation's name, which its title has too. */
export function signInLayout(view: LayoutView): Html {
  const name = view.organisation?.name ?? view.messages.product;
  const title = view.messages.frame.documentTitle({ title: view.title, organisation: name });
  return documentShell(
    { ...view, title },
    html`<body class="narrow">
<header class="brand">${mark(name, view.organisation?.logoUri)}<bdi class="brand-name">${name}</bdi></header>
<main class="card">
${view.notice}${view.body}
</main>
<footer class="foot">${organisationLinks(view)}${view.messages.frame.signInBy}</footer>
</body>`,
  );
}

/** The wide page for reading: landing and token pages. */
export function contentLayout(view: LayoutView): Html {
  const name = view.organisation?.name ?? view.messages.product;
  return documentShell(
    view,
    html`<body class="wide">
<header class="brand">${mark(name, view.organisation?.logoUri)}<bdi class="brand-name">${name}</bdi></header>
<main>
${view.notice}${view.body}
</main>
<footer class="foot">${view.messages.frame.about}</footer>
</body>`,
  );
}
