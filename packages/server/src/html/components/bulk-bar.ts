/** Rows that can be ticked, and what can be done with the ticked ones: one form around the table (scripts/bulk-bar.js). */
import { type Html, html, linkAddress } from "../html.ts";
import type { Messages } from "../messages/messages.ts";
import { type ButtonKind, button } from "./button.ts";
import { type HiddenField, hiddenFields } from "./form.ts";

export type BulkBar = {
  /** The form posts there: `selected` once for each ticked row, and the pressed button's `act`. */
  action: string;
  hidden: readonly HiddenField[];
  acts: ReadonlyArray<{ id: string; label: string; value: string; kind?: ButtonKind }>;
};

export function bulkForm({ action, hidden, acts }: BulkBar, table: Html, messages: Messages): Html {
  const { list } = messages.console.frame;
  return html`<form class="bulk" method="post" action="${linkAddress(action)}" data-bulk>
${hiddenFields(hidden)}${table}<div class="bulk-bar" role="group" aria-label="${list.bulk}"><p class="bulk-count" data-one="${list.selected({ count: 1 })}" data-many="${list.selected({ count: 2 }).replace("2", "#")}" role="status"></p>
<div class="bulk-acts">${acts.map((act) => button({ ...act, name: "act" }))}</div></div></form>
`;
}

export const selectAllBox = ({ console: { frame } }: Messages): Html =>
  html`<td role="cell" class="row-box"><label><input type="checkbox" data-select-all aria-label="${frame.list.selectAll}" hidden></label></td>`;

export const rowBox = (
  selection: { value: string; name: string } | undefined,
  { console: { frame } }: Messages,
): Html =>
  html`<td role="cell" class="row-box">${
    selection &&
    html`<label><input type="checkbox" name="selected" value="${selection.value}" aria-label="${frame.list.select({ name: selection.name })}"></label>`
  }</td>`;
