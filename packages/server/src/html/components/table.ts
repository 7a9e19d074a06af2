/** Lists: search, table, pager. On narrow screens the stylesheet turns rows into records. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";

export type Row = {
  id: string;
  /** One for each column; the first one names the record. */
  cells: readonly Content[];
  actions?: Content;
};

/** @param view.label for screen readers */
export function table(view: {
  label: string;
  columns: readonly string[];
  rows: readonly Row[];
  /** In place of a table without rows. */
  none?: string;
  messages: Messages;
}): Html {
  if (view.rows.length === 0 && view.none !== undefined)
    return html`<p class="quiet">${view.none}</p>
`;
  const hasActions = view.rows.some(({ actions }) => actions !== undefined);
  const { actions } = view.messages.console.frame.list;
  const heading = (name: string) => html`<th role="columnheader" scope="col">${name}</th>`;
  const last =
    hasActions &&
    html`<th role="columnheader" scope="col"><span class="visually-hidden">${actions}</span></th>`;
  // Explicit roles: browsers drop them when a stylesheet changes a table's display.
  return html`<table class="table" role="table" aria-label="${view.label}">
<thead role="rowgroup"><tr role="row">${view.columns.map(heading)}${last}</tr></thead>
<tbody role="rowgroup">
${view.rows.map((row) => tableRow(row, view.columns, hasActions))}</tbody>
</table>
`;
}

function tableRow({ id, cells, actions }: Row, columns: readonly string[], hasActions: boolean): Html {
  const cell = (content: Content, index: number) =>
    index === 0
      ? html`<th role="rowheader" scope="row">${content}</th>
`
      : // Where the rows are records, a label with nothing after it says nothing.
        html`<td role="cell"${!isNothing(content) && html` data-label="${columns[index]}"`}><div>${content}</div></td>
`;
  return html`<tr role="row" id="${id}">
${cells.map(cell)}${hasActions && html`<td role="cell" class="row-end"><div class="row-actions">${actions}</div></td>`}</tr>
`;
}

const isNothing = (content: Content): boolean => content === undefined || content === null || content === "";

/** A record's name as a link, with a note that tells it from others of that name. */
export function nameCell(view: { name: string; uri?: string; note?: Content; logo?: Content }): Html {
  const { name, uri, note, logo } = view;
  const named =
    uri === undefined
      ? html`<bdi class="item-name">${name}</bdi>`
      : html`<a class="item-name" href="${linkAddress(uri)}"><bdi>${name}</bdi></a>`;
  return html`${logo}${named}${note !== undefined && html`<span class="quiet item-note">${note}</span>`}`;
}

/** A link at a row's end. @param label its accessible name: `Revoke Till 3` */
export const rowLink = (view: { id: string; uri: string; text: string; label: string }): Html =>
  html`<a id="${view.id}" href="${linkAddress(view.uri)}" aria-label="${view.label}">${view.text}</a>
`;

/** Nothing for a single page. */
export function pager(view: {
  newestUri?: string | undefined;
  olderUri?: string | undefined;
  messages: Messages;
}): Html | undefined {
  const { list } = view.messages.console.frame;
  if (view.newestUri === undefined && view.olderUri === undefined) return undefined;
  return html`<nav class="actions pager" aria-label="${list.pages}">
${view.newestUri !== undefined && html`<a class="button" id="page-newest" href="${linkAddress(view.newestUri)}">${list.newest}</a>`}
${view.olderUri !== undefined && html`<a class="button" id="page-older" href="${linkAddress(view.olderUri)}">${list.older}</a>`}
</nav>
`;
}

/** A GET form. Its text field is `search`. */
export function searchForm(view: {
  action: string;
  /** `Name or ID`. */
  label: string;
  value: string;
  filters?: Content;
  /** Then there is a link back to everything. */
  isSearch?: boolean;
  messages: Messages;
}): Html {
  const { list } = view.messages.console.frame;
  const { isSearch = view.value !== "" } = view;
  return html`<form class="search" method="get" action="${linkAddress(view.action)}" role="search">
<div class="field"><label for="search">${view.label}</label>
<input id="search" name="search" type="search" value="${view.value}" maxlength="100" autocomplete="off"></div>
${view.filters}<button class="button" id="search-submit" type="submit">${list.submit}</button>
${isSearch && html`<a class="button" id="search-all" href="${linkAddress(view.action)}">${list.all}</a>`}</form>
`;
}

/** Above a list that has more matches than it shows. */
export const moreMatchesHint = ({ console: { frame } }: Messages): Html =>
  html`<p class="quiet" id="first-only">${frame.list.firstOnly}</p>
`;

export const noResults = ({ console: { frame } }: Messages): Html =>
  html`<div class="empty" role="status"><p class="item-name">${frame.list.noneFound}</p>
<p class="quiet">${frame.list.noneFoundText}</p></div>
`;
