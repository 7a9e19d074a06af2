/** The layout of every page; sign-in pages in one column. */
import { accentRules, isAccentColour, previewRules } from "./accent.ts";
import { avatar } from "./components/avatar.ts";
import { ringIcon, ringMark } from "./components/ring-mark.ts";

import { type Content, contactAddress, type Html, html, linkAddress, raw } from "./html.ts";
import type { Messages } from "./messages/messages.ts";

export type PageOrganisation = {
  name: string;
  /** `#rrggbb`; anything else is ignored. Shades readable on light and dark are derived from it. */
  accentColor?: string | undefined;
  /** A `data:image/…` address or a path of this server; others are ignored, pages ask no third party for anything. */
  logoUri?: string | undefined;
  /** In its place where the reader prefers dark. */
  darkLogoUri?: string | undefined;
  faviconUri?: string | undefined;
  /** Beside the sign-in on a wide screen: a path of this server, or a `data:image/…` address; anything else is ignored. */
  panelUri?: string | undefined;
  /** At the foot of its end-user pages; https addresses, help also `mailto:`. */
  links?: { help?: string | undefined; privacy?: string | undefined; terms?: string | undefined } | undefined;
  /** On its sign-in page, in the language of a reader. */
  signInText?: ((locale: string) => { heading?: string; text?: string }) | undefined;
  /** Where a user manages the account there. */
  accountUri?: string | undefined;
};

export type PageApplication = {
  name: string;
  /** Shown as its host, linked when it is an http(s) address. */
  homepageUri?: string | undefined;
  logoUri?: string | undefined;
};

/** The languages that a page is offered in: each by its own name, with the address that chooses it. */
export type LanguageLinks = ReadonlyArray<{ locale: string; name: string; uri: string }>;

export type PageFrame = {
  /** In the reader's language: `messages(preferredLocales(...))`. */
  messages: Messages;
  /** Of the response's Content-Security-Policy, for the accent colour's style element. */
  nonce: string;
  stylesheet: string;
  /** At the foot of a sign-in page. */
  languages?: LanguageLinks | undefined;
};

export type SignInFrame = PageFrame & { organisation: PageOrganisation; application: PageApplication };

export type LayoutView = PageFrame & {
  title: string;
  organisation?: PageOrganisation | undefined;
  body: Html;
  notice?: Html | undefined;
  /** Above the organisation's name, in place of its logo. */
  emblem?: Html | undefined;
  /** Addresses of deferred scripts, `Asset.path`. */
  scripts?: readonly string[] | undefined;
  /** Runs before the page is first drawn, so that nothing moves. */
  firstScript?: string | undefined;
  /** Without scripts the browser reloads there. */
  refresh?: { seconds: number; path: string } | undefined;
  /** `Asset.path` of the stylesheet's font: asked for before the browser reads the stylesheet. */
  font?: string | undefined;
  /** A page of the sign-in, which has the organisation's picture beside it. */
  hasPanel?: boolean | undefined;
  /** Another accent, `#rrggbb`, which the page shows in `.preview-light` and `.preview-dark`. */
  previewAccent?: string | undefined;
};

function accentStyle(view: Omit<LayoutView, "body">): Content {
  const colour = view.organisation?.accentColor;
  const preview = view.previewAccent;
  // Six hexadecimal digits are checked, so that no stored value can leave the style element.
  const rules = [
    isAccentColour(colour) && accentRules(colour),
    isAccentColour(preview) && previewRules(preview),
    view.hasPanel === true && panelRules(panelUri(view) ?? ""),
  ].filter((one) => one !== false);
  return rules.length > 0 && html`<style nonce="${view.nonce}">${raw(rules.join(""))}</style>`;
}

/** Nothing but the characters of its own path, or of a picture's content in a preview, may get into the style element. */
const PANEL_IMAGE =
  /^(?:\/oauth\/[0-9a-f-]{36}\/images\/[\w-]{43}|data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2})$/;

const panelUri = ({ organisation }: Pick<LayoutView, "organisation">): string | undefined =>
  organisation?.panelUri !== undefined && PANEL_IMAGE.test(organisation.panelUri)
    ? organisation.panelUri
    : undefined;

/** A background: it is not asked for where the screen is too narrow for it. */
const panelRules = (uri: string): string =>
  `@media(min-width:64rem){.side-image{background-image:url("${uri}")}}`;

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
<link rel="icon" href="${view.organisation?.faviconUri ?? ringIcon}">
${view.font !== undefined && html`<link rel="preload" href="${view.font}" as="font" type="font/woff2" crossorigin>\n`}<link rel="stylesheet" href="${view.stylesheet}">
${accentStyle(view)}${view.firstScript !== undefined && html`<script src="${view.firstScript}" defer blocking="render"></script>`}${scripts}
${refreshWithoutScripts(view)}</head>
${frame}
</html>
`;
}

/** The narrow page of every sign-in step: one column of at most 24rem under the organisation, which its title names too. */
export function signInLayout(view: LayoutView): Html {
  const name = view.organisation?.name ?? view.messages.product;
  const title = view.messages.frame.documentTitle({ title: view.title, organisation: name });
  const hasPanel = panelUri(view) !== undefined;
  return documentShell(
    { ...view, title, hasPanel },
    html`<body class="narrow${hasPanel && " with-image"}">
${hasPanel && html`<div class="side-image" aria-hidden="true"></div>\n`}<header class="brand">${view.emblem ?? brandMark(view, "large")}<bdi class="brand-name">${name}</bdi></header>
<main class="card">
${view.notice}${view.body}
</main>
${pageFoot(view)}
</body>`,
  );
}

/** The wide page for reading: landing and token pages. */
export function contentLayout(view: LayoutView): Html {
  const name = view.organisation?.name ?? view.messages.product;
  return documentShell(
    view,
    html`<body class="wide">
<header class="brand">${brandMark(view)}<bdi class="brand-name">${name}</bdi></header>
<main>
${view.notice}${view.body}
</main>
<footer class="foot">${view.messages.frame.about}</footer>
</body>`,
  );
}

const brandMark = ({ organisation }: Pick<LayoutView, "organisation">, size?: "large"): Html =>
  organisation === undefined
    ? ringMark
    : avatar(organisation.name, organisation.logoUri, { size, darkUri: organisation.darkLogoUri });

/** Help, privacy and terms where the organisation has them, and who the sign-in is by. */
export function pageFoot(view: Pick<LayoutView, "organisation" | "messages" | "languages">): Html {
  const { organisation, messages } = view;
  const { frame } = messages;
  const link = (id: keyof typeof frame.links) => {
    const uri = organisation?.links?.[id];
    const address = id === "help" ? contactAddress(uri) : linkAddress(uri);
    // In another tab: the sign-in stays open.
    return (
      address !== undefined &&
      html`<a id="foot-${id}" href="${address}" target="_blank" rel="noopener noreferrer">${frame.links[id]}</a>`
    );
  };
  return html`<footer class="foot">${languageMenu(view)}${link("help")}${link("privacy")}${link("terms")}<span class="foot-mark">${ringMark}${frame.signInBy}</span></footer>`;
}

/** Opens without a script. */
function languageMenu({ languages, messages }: Pick<LayoutView, "languages" | "messages">): Content {
  const current = languages?.find(({ locale }) => locale === messages.locale);
  if (!languages || !current) return undefined;
  const links = languages.map(
    ({ locale, name, uri }) =>
      html`<li><a href="${linkAddress(uri)}" hreflang="${locale}" lang="${locale}"${locale === messages.locale && html` aria-current="true"`}>${name}</a></li>`,
  );
  return html`<details class="languages"><summary aria-label="${messages.frame.language}: ${current.name}">${current.name}</summary>
<ul>${links}</ul></details>
`;
}
