/** The frame of console and account pages: organisation, navigation, breadcrumbs, user menu. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { documentShell, type PageFrame, type PageOrganisation } from "../layout.ts";
import { hiddenFields } from "./form.ts";
import { mark } from "./mark.ts";
import { successNotice } from "./record-form.ts";

export type NavLink = { id: string; label: string; uri: string; isCurrent: boolean };

export type NavSection = { heading?: string | undefined; links: readonly NavLink[] };

export type ConsoleFrame = PageFrame & {
  organisation: PageOrganisation;
  /** Where the organisation's name leads. */
  homeUri: string;
  /** @param rest below the organisation's console: begins with a slash */
  consoleUri(rest: string): string;
  navigation: { label: string; sections: readonly NavSection[] };
  user: { email: string };
  /** Links in the user menu: the account pages, or the console for administrators. */
  elsewhere: readonly { id: string; label: string; uri: string }[];
  /** Posted from the menu: it signs out without another question. */
  signOut: { uri: string; csrf: string };
  /** The last action found nothing left to do: shown when the page has no other notice. */
  wasAlready?: boolean;
  otherOrganisations: readonly { name: string; uri: string }[];
};

export type ConsoleView = ConsoleFrame & {
  /** The page's heading, and the first part of the document title. */
  title: string;
  /** In place of `title` where a record's name may be of any text direction. */
  heading?: Content;
  breadcrumbs: readonly { label: string; uri: string }[];
  summary?: Content;
  actions?: Content;
  notice?: Html | undefined;
  body: Content;
  scripts?: readonly string[] | undefined;
  refresh?: { seconds: number; path: string } | undefined;
  /** See layout.ts. */
  previewAccent?: string | undefined;
};

/** @param page without breadcrumbs for a page of the navigation */
export function consoleLayout(
  page: Omit<ConsoleView, "breadcrumbs"> & Partial<Pick<ConsoleView, "breadcrumbs">>,
): Html {
  const view = { breadcrumbs: [], ...page };
  const { frame } = view.messages.console;
  const title = view.messages.frame.documentTitle({
    title: tabTitle(view),
    organisation: view.organisation.name,
  });
  return documentShell(
    { ...view, title },
    html`<body class="console">
<a class="skip" href="#content">${frame.skip}</a>
${top(view)}
<div class="below">
<nav class="menu" id="menu" popover aria-label="${view.navigation.label}">
${view.navigation.sections.map(navSection)}</nav>
<main id="content" tabindex="-1">
${breadcrumbs(view)}
<div class="heading"><h1>${view.heading ?? view.title}</h1>
${view.actions !== undefined && html`<div class="heading-actions">${view.actions}</div>`}</div>
${view.summary !== undefined && html`<p class="summary quiet">${view.summary}</p>`}
${view.notice ?? (view.wasAlready && successNotice(view.messages.console.frame.already))}${view.body}
</main>
</div>
</body>`,
  );
}

/** Page, record and area, so that browser tabs can be told apart. */
function tabTitle({ title, breadcrumbs, navigation }: ConsoleView): string {
  const above = breadcrumbs.map(({ label }) => label).reverse();
  return [title, ...above, navigation.label].join(" · ");
}

/** Menus are popovers, which need no script. */
function top(view: ConsoleView): Html {
  const { frame } = view.messages.console;
  const { name, logoUri } = view.organisation;
  const others = view.otherOrganisations;
  return html`<header class="top">
<button class="menu-open" id="menu-open" type="button" popovertarget="menu" aria-label="${frame.menu}"><span class="menu-bars"></span></button>
<a class="top-brand" id="nav-home" href="${linkAddress(view.homeUri)}">${mark(name, logoUri)}<bdi class="brand-name">${name}</bdi></a>
${
  others.length > 0 &&
  html`<button class="drop-open" type="button" id="switch-open" popovertarget="switch" aria-label="${frame.switch}"><span class="chevron"></span></button>
<div class="drop switch" id="switch" popover><p class="drop-title">${frame.switch}</p>
<ul>${others.map((one) => html`<li><a href="${linkAddress(one.uri)}">${mark(one.name, undefined)}<bdi>${one.name}</bdi></a></li>`)}</ul></div>`
}
<button class="drop-open who" type="button" id="who-open" popovertarget="who"><span class="who-letter" aria-hidden="true">${[...view.user.email][0]?.toUpperCase()}</span><bdi class="who-email">${view.user.email}</bdi><span class="chevron"></span></button>
<div class="drop who-menu" id="who" popover><p class="drop-title"><bdi>${view.user.email}</bdi></p>
<ul>${view.elsewhere.map(({ id, label, uri }) => html`<li><a id="${id}" href="${linkAddress(uri)}">${label}</a></li>`)}<li>${signOutForm(view)}</li></ul></div>
</header>`;
}

function signOutForm({ signOut, messages }: ConsoleView): Html {
  return html`<form method="post" action="${linkAddress(signOut.uri)}">${hiddenFields([{ name: "csrf", value: signOut.csrf }])}<button id="nav-sign-out" type="submit">${messages.console.frame.signOut}</button></form>`;
}

function navSection({ heading, links }: NavSection, index: number): Html {
  const list = links.map(
    ({ id, label, uri, isCurrent }) =>
      html`<li><a id="nav-${id}" href="${linkAddress(uri)}"${isCurrent && html` aria-current="page"`}>${label}</a></li>
`,
  );
  if (heading === undefined) return html`<ul>${list}</ul>`;
  return html`<p class="menu-heading" id="menu-${index}">${heading}</p>
<ul aria-labelledby="menu-${index}">${list}</ul>
`;
}

function breadcrumbs({ breadcrumbs, messages }: ConsoleView): Content {
  if (breadcrumbs.length === 0) return undefined;
  return html`<nav class="crumbs" aria-label="${messages.console.frame.breadcrumbs}"><ol>
${breadcrumbs.map(({ label, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${label}</bdi></a></li>`)}
</ol></nav>`;
}
