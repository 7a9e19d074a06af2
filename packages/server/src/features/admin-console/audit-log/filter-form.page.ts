/** The search of the audit log: saved filters, one search box, category and event, and days. */
import { auditGroups } from "../../../core/audit/actions.ts";
import type { SavedFilter } from "../../../core/audit/filters/filters.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { type Choice, selectField, textField } from "../../../html/components/fields.ts";
import { listKeys } from "../../../html/components/filter-bar.ts";
import { icon } from "../../../html/components/icons.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { actionText } from "../../../page-kit/audit-events/display-events.ts";
import { queryString } from "../../../page-kit/page.ts";
import { categories, type FilterInput, isSearch } from "./filter.ts";

export type FilterFormView = ConsoleFrame & {
  input: FilterInput;
  savedFilters: readonly SavedFilter[];
};

export function filterForm(view: FilterFormView): Html {
  const { messages, input, consoleUri } = view;
  const { filter } = messages.console.auditLog;
  const { list } = messages.console.frame;
  const action = consoleUri("/audit-log");
  const select = (id: "category" | "event", choices: readonly Choice[]) =>
    selectField({ id, label: filter[id], value: input[id], choices, messages });
  const day = (id: "from" | "to") =>
    textField({ id, label: `${filter[id]} (UTC)`, type: "date", value: input[id], messages });
  return html`${savedFilters(view)}<form class="search audit-search" method="get" action="${linkAddress(action)}" role="search">
<div class="field"><label for="search">${filter.search}</label>
<div class="with-icon">${icon("search")}<input id="search" name="search" type="search" value="${input.search}" maxlength="200" autocomplete="off" spellcheck="false" autocapitalize="none" aria-describedby="search-hint"></div>
<p class="field-hint" id="search-hint">${filter.searchHint}</p></div>
${select("category", categoryChoices(messages))}${select("event", eventChoices(input, messages))}${day("from")}${day("to")}<div class="actions"><button class="button" id="search-submit" type="submit">${list.submit}</button>
${isSearch(input) && html`<a class="button" id="search-all" href="${linkAddress(action)}">${list.all}</a>`}${saveLink(view)}</div></form>
${listKeys(messages, { isTicked: false })}`;
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

function savedFilters({ messages, input, savedFilters: saved, consoleUri }: FilterFormView): Content {
  if (saved.length === 0) return undefined;
  const { saved: text } = messages.console.auditLog;
  const current = filterQuery(input);
  const chip = ({ id, name, query }: SavedFilter) =>
    html`<li><a class="chip" id="filter-${id}" href="${linkAddress(consoleUri(`/audit-log?${query}`))}"${
      query === current && html` aria-current="true"`
    }><bdi>${name}</bdi></a></li>
`;
  const used = saved.find(({ query }) => query === current);
  const remove =
    used &&
    html`<li><a id="filter-delete" href="${linkAddress(consoleUri(`/audit-log/filters/${used.id}/delete`))}">${text.delete}</a></li>
`;
  return html`<nav aria-label="${text.label}"><ul class="chips">${saved.map(chip)}${remove}</ul></nav>
`;
}

/** For a search that isn't saved yet. */
function saveLink({ messages, input, savedFilters: saved, consoleUri }: FilterFormView): Content {
  const query = filterQuery(input);
  if (query === "" || saved.some((one) => one.query === query)) return undefined;
  const { saved: text } = messages.console.auditLog;
  return buttonLink({
    id: "filter-save",
    uri: consoleUri(`/audit-log/filters/new?${query}`),
    label: text.save,
  });
}

/** The search as a query string, in one order: two that mean the same are equal. */
export const filterQuery = ({ search, category, event, from, to }: FilterInput): string =>
  queryString({ search, category, event, from, to }).slice(1);
