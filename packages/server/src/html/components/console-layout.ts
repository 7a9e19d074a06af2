/** The frame of console and account pages: the bar on top, the navigation beside the content, the page's header. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import { documentShell, pageFoot } from "../layout.ts";
import { consoleScript } from "../scripts.ts";
import type { ConsoleFrame, ConsoleView, MenuLink } from "./console-view.ts";
import { helpLink } from "./help-link.ts";
import { icon } from "./icons.ts";
import { navigationMenu } from "./navigation.ts";
import { toast } from "./toast.ts";
import { topBar } from "./top-bar.ts";

export type { ConsoleFrame, ConsoleView, MenuLink };

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
    { ...view, title, firstScript: consoleScript.path },
    html`<body class="console">
<a class="skip" href="#content">${frame.skip}</a>
${topBar(view)}
<div class="below">
${navigationMenu(view)}
<main id="content" tabindex="-1">
${breadcrumbs(view)}${pageHeader(view)}
${view.notice ?? (view.outcome && toast(view.messages.console.frame[view.outcome], view))}${view.body}
${view.isEndUserPage && pageFoot(view)}</main>
</div>
</body>`,
  );
}

/** Page, record and area, so that browser tabs can be told apart. */
function tabTitle({ title, breadcrumbs, navigation }: ConsoleView): string {
  const above = breadcrumbs.map(({ label }) => label).reverse();
  return [title, ...above, navigation.label].join(" · ");
}

/** What the page is about is explained after its summary, which ends in words; without one, or where it is facts, beside its name. */
function pageHeader(view: ConsoleView): Html {
  const learnMoreUri = linkAddress(view.learnMoreUri);
  const learnMore =
    learnMoreUri !== undefined && helpLink("learn-more", learnMoreUri, view.messages.console.frame.learnMore);
  const isBesideName = learnMore !== false && (view.summary === undefined || view.isRecord);
  const name = html`<h1>${view.heading ?? view.title}</h1>`;
  return html`<div class="heading">${view.emblem && html`<div class="heading-emblem">${view.emblem}</div>`}${isBesideName ? html`<div class="heading-name">${name}${learnMore}</div>` : name}
${view.summary !== undefined && html`<p class="summary quiet">${view.summary}${!isBesideName && learnMore && html` ${learnMore}`}</p>`}
${view.actions !== undefined && html`<div class="heading-actions">${view.actions}</div>`}</div>`;
}

function breadcrumbs({ breadcrumbs, messages }: ConsoleView): Content {
  if (breadcrumbs.length === 0) return undefined;
  return html`<nav class="crumbs" aria-label="${messages.console.frame.breadcrumbs}"><ol>
${breadcrumbs.map(({ label, uri }) => html`<li><a href="${linkAddress(uri)}"><bdi>${label}</bdi></a>${icon("chevron-right")}</li>`)}
</ol></nav>`;
}
