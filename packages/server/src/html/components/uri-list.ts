/**
 * A list of addresses, one field each, all named `<id>`: empty ones count for nothing. There is always one to spare, so that a list
 * grows without scripts too; scripts/uri-list.js adds more of them, and takes any away.
 */
import { type Content, type Html, html } from "../html.ts";
import { attributes, type Field, fieldNotes } from "./fields.ts";
import { icon } from "./icons.ts";

export function uriList(
  view: Field & {
    values: readonly string[];
    placeholder?: string;
    maxLength?: number;
    /** By the row's number, from 0. */
    rowFaults?: Readonly<Record<number, string>> | undefined;
  },
): Html {
  const { id, label, values, messages } = view;
  const { list } = messages.console.frame;
  const rows = [...values, ""].map((value, index) => uriRow(view, value, index));
  return html`<fieldset class="field uri-list" id="${id}-list" data-uri-list><legend>${label}</legend>
<div class="options"><div class="uri-rows">${rows}</div>
<button class="button" type="button" data-add-row hidden>${icon("plus")}${list.addRow}</button></div>
${fieldNotes(view)}</fieldset>
`;
}

function uriRow(view: Parameters<typeof uriList>[0], value: string, index: number): Content {
  const { id, label, maxLength, placeholder, rowFaults = {}, messages } = view;
  const { list } = messages.console.frame;
  const fault = rowFaults[index];
  const own = index === 0 ? id : `${id}-${index}`;
  const isFirstFault = index === Number(Object.keys(rowFaults)[0]);
  const described =
    fault !== undefined &&
    html` aria-describedby="${own}-row-fault" aria-invalid="true"${isFirstFault && view.hasFocus && html` autofocus`}`;
  return html`<div class="uri-row"><input class="code" id="${own}" name="${id}" type="url" value="${value}" aria-label="${list.rowOf({ field: label, number: String(index + 1) })}"${
    placeholder !== undefined && html` placeholder="${placeholder}"`
  }${maxLength !== undefined && html` maxlength="${maxLength}"`} autocomplete="off" spellcheck="false"${fault === undefined && index === 0 ? attributes(view) : described}>
<button class="icon-button" type="button" data-remove-row aria-label="${list.removeRow}" hidden>${icon("close")}</button>
${fault !== undefined && html`<p class="failed" id="${own}-row-fault">${fault}</p>`}</div>
`;
}
