/** The audit log with its filters. */
import { auditGroups } from "../../../core/audit/actions.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { type Choice, selectField, textField } from "../../../html/components/fields.ts";
import { filterBar, noResults } from "../../../html/components/filter-bar.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { actionText, type DisplayedEvent } from "./display-events.ts";
import { type FilterInput, isSearch } from "./filter.ts";

export type AuditListView = ConsoleFrame & {
  orgId: string;
  input: FilterInput;
  events: readonly DisplayedEvent[];
  newestUri?: string | undefined;
  olderUri?: string | undefined;
  /** Where the search stopped, when there was too much to search. */
  searchedBackTo?: number | undefined;
  exportUris: { csv: string; jsonl: string };
  head: { seq: number; hash: string; updatedAt: number } | undefined;
};

export function auditListPage(view: AuditListView): Html {
  const { messages } = view;
  const { auditLog: text, frame } = messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.auditLog,
    breadcrumbs: [],
    summary: text.summary,
    body: [
      html`<section class="card audit-events" aria-label="${frame.pages.auditLog}">
${listSearch(view)}${rows(view)}${further(view)}</section>
`,
      exportCard(view),
      chainCard(view),
      copyStatus,
    ],
  });
}

function listSearch({ messages, input, consoleUri }: AuditListView): Html {
  const { filter } = messages.console.auditLog;
  const field = (id: "on" | "address" | "from" | "to", label: string, type: "text" | "date") =>
    textField({ id, label, type, value: input[id], maxLength: 200, messages });
  return filterBar({
    action: consoleUri("/audit-log"),
    label: `${filter.who} (${filter.whoHint})`,
    value: input.search,
    filters: [
      selectField({
        id: "what",
        label: filter.what,
        value: input.what,
        choices: whatChoices(messages),
        messages,
      }),
      field("on", `${filter.target} (${filter.targetHint})`, "text"),
      field("address", filter.address, "text"),
      field("from", `${filter.from} (UTC)`, "date"),
      field("to", `${filter.to} (UTC)`, "date"),
    ],
    isSearch: isSearch(input),
    messages,
  });
}

/** Every group as a whole, then each of its actions. */
function whatChoices(messages: Messages): Choice[] {
  const { filter, groups } = messages.console.auditLog;
  const names = Object.keys(auditGroups) as Array<keyof typeof auditGroups>;
  return [
    { value: "", label: filter.anything },
    ...names.flatMap((name) => {
      const group = groups[name];
      const actions = Object.keys(auditGroups[name]).map((value) => ({
        value,
        label: actionText(value, messages),
        group,
      }));
      return [{ value: name, label: filter.allOf({ group }), group }, ...actions];
    }),
  ];
}

function rows({ messages, events, consoleUri }: AuditListView): Html {
  if (events.length === 0) return noResults(messages);
  const { filter, list } = messages.console.auditLog;
  return table({
    label: messages.console.frame.pages.auditLog,
    columns: [list.when, filter.what, list.who, list.target, list.address],
    rows: events.map(({ event, what, who, target }) => ({
      id: `event-${event.id}`,
      cells: [
        html`<a class="item-name" href="${linkAddress(consoleUri(`/audit-log/${event.id}`))}">${relativeTime(event.at, messages.format.minute)}</a>`,
        what,
        html`<bdi>${who}</bdi>`,
        target && targetCell({ ...target, text: target.isCode ? shortened(target.text) : target.text }),
        event.address,
      ],
    })),
    messages,
  });
}

/** Shortened: the event's page has the full id. */
const shortened = (id: string): string => (id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID - 1)}…` : id);
const LONGEST_ID = 14;

/** The target, linked to its page where it has one. */
export function targetCell({ text, isCode, uri }: NonNullable<DisplayedEvent["target"]>): Html {
  const shown = isCode ? html`<code>${text}</code>` : html`<bdi>${text}</bdi>`;
  return uri === undefined ? shown : html`<a href="${linkAddress(uri)}">${shown}</a>`;
}

function further({ messages, newestUri, olderUri, searchedBackTo }: AuditListView): Html {
  const { list } = messages.console.auditLog;
  if (searchedBackTo === undefined || olderUri === undefined)
    return html`${pagination({ newestUri, olderUri, messages })}`;
  return html`<p class="quiet" id="looked-back" role="status">${list.lookedBack({ at: searchedBackTo })}</p>
<div class="actions">${buttonLink({ id: "look-further", uri: olderUri, label: list.further })}</div>
${pagination({ newestUri, messages })}`;
}

function exportCard({ messages, exportUris }: AuditListView): Html {
  const { export: text } = messages.console.auditLog;
  return card({
    id: "export",
    title: text.title,
    text: text.text,
    body: html`<div class="actions">${buttonLink({ id: "export-csv", uri: exportUris.csv, label: text.csv })}
${buttonLink({ id: "export-jsonl", uri: exportUris.jsonl, label: text.jsonl })}</div>
`,
  });
}

function chainCard({ messages, head, orgId }: AuditListView): Html {
  const { chain } = messages.console.auditLog;
  const { copy, copied } = messages.console.frame.secret;
  if (!head || head.seq === 0) return card({ id: "chain", title: chain.title, text: chain.none });
  return card({
    id: "chain",
    title: chain.title,
    text: `${chain.length({ count: head.seq })} ${chain.moved({ at: head.updatedAt })}`,
    body: codeBlock({
      id: "chain-check",
      title: chain.check,
      lines: `signet audit verify --org ${orgId} --expect ${head.seq}:${head.hash}`,
      copy,
      copied,
    }),
  });
}
