/** The search of the audit log: one search box, saved filters, category and event, and days. */
import { auditGroups } from "../../../core/audit/actions.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { type Choice, selectField, textField } from "../../../html/components/fields.ts";
import { listKeys } from "../../../html/components/filter-bar.ts";
import { icon } from "../../../html/components/icons.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { actionText } from "../../../page-kit/audit-events/display-events.ts";
import { categories, type FilterInput, isSearch } from "./filter.ts";

export type FilterFormView = ConsoleFrame & {
  input: FilterInput;
  /** See page-kit/list/saved-filters.ts. */
  savedFilters: Content;
};

export function filterForm(view: FilterFormView): Html {
  const { messages, input, consoleUri } = view;
  const { filter } = messages.console.auditLog;
  const { list } = messages.console.frame;
  const action = consoleUri("/audit-log");
  const select = (id: "category" | "event", choices: readonly Choice[]) =>
    selectField({ id, label: filter[id], value: input[id], choices, messages });
  // A script fills in the reader's zone where the address names none.
  const zone = input.zone || "UTC";
  const day = (id: "from" | "to") =>
    textField({ id, label: `${filter[id]} (${zone})`, type: "date", value: input[id], messages });
  const isInUtc = input.zone === "" && input.from === "" && input.to === "";
  return html`<form class="search audit-search" method="get" action="${linkAddress(action)}" role="search">
<div class="field"><label for="search">${filter.search}</label>
<div class="with-icon">${icon("search")}<input id="search" name="search" type="search" value="${input.search}" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="search-hint"></div>
<p class="field-hint" id="search-hint">${filter.searchHint}</p></div>
${select("category", categoryChoices(messages))}${select("event", eventChoices(input, messages))}${day("from")}${day("to")}<input type="hidden" name="zone" value="${input.zone}"${isInUtc && html` data-zone`}><div class="actions"><button class="button" id="search-submit" type="submit">${list.submit}</button>
${isSearch(input) && html`<a class="button" id="search-all" href="${linkAddress(action)}">${list.all}</a>`}</div></form>
${view.savedFilters}${listKeys(messages, { isTicked: false })}`;
}

const categoryChoices = ({ console: { auditLog } }: Messages): Choice[] => [
  { value: "", label: auditLog.filter.anyCategory },
  ...categories.map((value) => ({ value, label: auditLog.groups[value] })),
];

/** Of the chosen category: all of them together would be a tenth of the page. Without one, an event that is chosen by its address. */
function eventChoices({ category, event }: FilterInput, messages: Messages): Choice[] {
  const { filter } = messages.console.auditLog;
  const offered = categories
    .flatMap((one) => Object.keys(auditGroups[one]).map((value) => ({ one, value })))
    .filter(({ one, value }) => (category === "" ? value === event : one === category));
  return [
    { value: "", label: filter.anyEvent },
    ...offered.map(({ value }) => ({ value, label: actionText(value, messages) })),
  ];
}
