/** The command menu's results as a page: what its button leads to without scripts. */

import { card } from "../../../html/components/card.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { icon } from "../../../html/components/icons.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { ResultGroup, ResultItem } from "./results-view.ts";

export type SearchView = ConsoleFrame & { text: string; groups: readonly ResultGroup[]; count: string };

export function searchPage(view: SearchView): Html {
  const { commandMenu: text, frame } = view.messages.console;
  return consoleLayout({
    ...view,
    title: text.title,
    summary: text.summary,
    body: html`<form class="search" method="get" action="${linkAddress(view.consoleUri("/search"))}" role="search">
<div class="field"><label for="search">${text.label}</label>
<input id="search" name="q" type="search" value="${view.text}" maxlength="100" autocomplete="off"${view.text === "" && html` autofocus`}></div>
<button class="button" id="search-submit" type="submit">${frame.list.submit}</button></form>
<p class="quiet" role="status" id="search-count">${view.count}</p>
${view.groups.map((group) =>
  card({
    id: `found-${group.id}`,
    title: group.label,
    body: html`<ul class="found">${group.items.map(resultLink)}</ul>
`,
  }),
)}`,
  });
}

const resultLink = ({ label, note, uri, icon: name }: ResultItem): Html =>
  html`<li><a href="${linkAddress(uri)}">${icon(name)}<bdi>${label}</bdi>${note !== undefined && html`<span class="quiet found-note"><bdi>${note}</bdi></span>`}</a></li>
`;
