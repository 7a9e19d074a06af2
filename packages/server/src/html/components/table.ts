/** Tables. On narrow screens the stylesheet turns rows into records. */
import { type Content, type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { tag as quietTag } from "./badge.ts";
import { type BulkBar, bulkForm, rowBox, selectAllBox } from "./bulk-bar.ts";
import { icon } from "./icons.ts";

export type Row = {
  id?: string;
  /** One for each column; the first one names the record. */
  cells: readonly Content[];
  actions?: Content;
  /** For a table whose rows can be selected: the value that is sent, and the record's name. */
  selection?: { value: string; name: string };
};

/** @param sort the address that sorts by it (again: the other way), and how it is sorted now */
export type Column =
  | string
  | { label: string; sort: { uri: string; direction?: "ascending" | "descending" | undefined } };

const labelOf = (column: Column | undefined): string =>
  typeof column === "string" ? column : (column?.label ?? "");

/** @param view.label for screen readers */
export function table(view: {
  label: string;
  columns: readonly Column[];
  rows: readonly Row[];
  /** In place of a table without rows. */
  none?: string;
  /** Rows have boxes to tick, and this is what can be done with the ticked ones. */
  bulk?: BulkBar | undefined;
  messages: Messages;
}): Html {
  const { bulk, messages } = view;
  if (view.rows.length === 0 && view.none !== undefined)
    return html`<p class="quiet">${view.none}</p>
`;
  const hasActions = view.rows.some(({ actions }) => actions !== undefined);
  const { actions } = messages.console.frame.list;
  const last =
    hasActions &&
    html`<th role="columnheader" scope="col"><span class="visually-hidden">${actions}</span></th>`;
  // Explicit roles: browsers drop them when a stylesheet changes a table's display.
  const rows = html`<table class="table" role="table" aria-label="${view.label}">
<thead role="rowgroup"><tr role="row">${bulk && selectAllBox(messages)}${view.columns.map(columnHeader)}${last}</tr></thead>
<tbody role="rowgroup">
${view.rows.map((row) => tableRow(row, view.columns, { hasActions, box: bulk && rowBox(row.selection, messages) }))}</tbody>
</table>
`;
  return bulk ? bulkForm(bulk, rows, messages) : rows;
}

function columnHeader(column: Column): Html {
  if (typeof column === "string") return html`<th role="columnheader" scope="col">${column}</th>`;
  const { label, sort } = column;
  const arrow = sort.direction === undefined ? "updown" : sort.direction === "ascending" ? "up" : "down";
  return html`<th role="columnheader" scope="col"${sort.direction !== undefined && html` aria-sort="${sort.direction}"`}><a class="sort" href="${linkAddress(sort.uri)}">${label}${icon(arrow)}</a></th>`;
}

function tableRow(
  { id, cells, actions }: Row,
  columns: readonly Column[],
  { hasActions, box }: { hasActions: boolean; box: Html | undefined },
): Html {
  const cell = (content: Content, index: number) =>
    index === 0
      ? html`<th role="rowheader" scope="row">${content}</th>
`
      : // Where the rows are records, a label with nothing after it says nothing.
        html`<td role="cell"${!isNothing(content) && html` data-label="${labelOf(columns[index])}"`}><div>${content}</div></td>
`;
  return html`<tr role="row"${id !== undefined && html` id="${id}"`}>
${box}${cells.map(cell)}${hasActions && html`<td role="cell" class="row-end"><div class="row-actions">${actions}</div></td>`}</tr>
`;
}

const isNothing = (content: Content): boolean => content === undefined || content === null || content === "";

/** A record's name as a link, with a note that tells it from others of that name. */
export function nameCell(view: {
  name: string;
  uri?: string;
  /** Beside the name: `You` */
  tag?: string | undefined;
  note?: Content;
  logo?: Content;
}): Html {
  const { name, uri, tag, note, logo } = view;
  const named =
    uri === undefined
      ? html`<span class="item-name"><bdi>${name}</bdi></span>`
      : html`<a class="item-name" href="${linkAddress(uri)}"><bdi>${name}</bdi></a>`;
  const text = html`${named}${tag !== undefined && html` ${quietTag(tag)}`}${note !== undefined && html`<span class="quiet item-note">${note}</span>`}`;
  return logo === undefined ? text : html`<div class="named">${logo}<div>${text}</div></div>`;
}

/** A link at a row's end. @param view.label its accessible name: `Revoke Till 3` @param view.isQuestion as of `buttonLink` */
export const rowLink = (view: {
  id: string;
  uri: string;
  text: string;
  label: string;
  isQuestion?: boolean;
  className?: string;
}): Html =>
  html`<a${view.className !== undefined && html` class="${view.className}"`} id="${view.id}" href="${linkAddress(view.uri)}" aria-label="${view.label}"${view.isQuestion && html` data-dialog`}>${view.text}</a>
`;
