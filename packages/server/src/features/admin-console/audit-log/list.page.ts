/** The audit log with its search. */
import type { RefusedRequest } from "../../../core/refused-requests/refused-request.ts";
import { badge } from "../../../html/components/badge.ts";
import { banner } from "../../../html/components/banner.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card, facts } from "../../../html/components/card.ts";
import { codeBlock } from "../../../html/components/code-block.ts";
import { consoleLayout } from "../../../html/components/console-layout.ts";
import { copyStatus } from "../../../html/components/copy-field.ts";
import { pageDrawer } from "../../../html/components/drawer.ts";
import { icon } from "../../../html/components/icons.ts";
import { type PaginationView, pagination } from "../../../html/components/pagination.ts";
import { exactTime, timeWithin } from "../../../html/components/relative-time.ts";
import { table } from "../../../html/components/table.ts";
import { toast } from "../../../html/components/toast.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import { type DisplayedEvent, isFailure } from "../../../page-kit/audit-events/display-events.ts";
import { type FilterFormView, filterForm } from "./filter-form.page.ts";

export type AuditListView = FilterFormView & {
  orgId: string;
  done: string | undefined;
  events: readonly DisplayedEvent[];
  /** Without a range when there are no events. */
  pager: Pick<PaginationView, "range" | "newestUri" | "previousUri" | "olderUri">;
  /** Where the search stopped, when there was too much to search. */
  searchedBackTo?: number | undefined;
  /** How many matching records were searched for, when more match. */
  partialOf?: number | undefined;
  /** The request of the reference that was searched for. */
  refused?: (RefusedRequest & { application: { id: string; name: string } }) | undefined;
  exportUris: { csv: string; jsonl: string };
  head: { seq: number; hash: string; updatedAt: number } | undefined;
  /** When the last of the events happened that retention has deleted. */
  cutUntil: number | undefined;
};

/** One event beside the list. */
const DRAWER = "event-drawer";

export function auditListPage(view: AuditListView): Html {
  const { messages } = view;
  const { auditLog: text, frame } = messages.console;
  return consoleLayout({
    ...view,
    title: frame.pages.auditLog,
    breadcrumbs: [],
    summary: text.summary,
    notice: view.done === undefined ? undefined : toast(view.done, view),
    body: [
      html`<section class="card audit-events" aria-label="${frame.pages.auditLog}">
${filterForm(view)}${refusedRequest(view)}${rows(view)}${further(view)}</section>
`,
      exportCard(view),
      chainCard(view),
      pageDrawer({ id: DRAWER, close: frame.close, open: text.event.open }),
      copyStatus,
    ],
  });
}

function rows(view: AuditListView): Html {
  const { messages, events } = view;
  const { list } = messages.console.auditLog;
  if (events.length === 0)
    return view.refused
      ? html``
      : html`<div class="empty" role="status"><span class="empty-icon">${icon("search")}</span><p class="item-name">${messages.console.frame.list.noneFound}</p>
<p class="quiet" id="none-hint">${list.noneText}</p></div>
`;
  // Most events are about no application: its column is there when one of the shown events is.
  const application = events.some((one) => one.application) ? [list.application] : [];
  return table({
    label: messages.console.frame.pages.auditLog,
    columns: [list.time, list.event, list.actor, list.target, ...application, list.address],
    rows: events.map((one) => ({
      id: `event-${one.event.id}`,
      cells: cells(view, one).filter((_, index) => index !== APPLICATION || application.length > 0),
    })),
    messages,
  });
}

/** Which of the cells names the application. */
const APPLICATION = 4;

function cells({ consoleUri, messages }: AuditListView, shown: DisplayedEvent): Content[] {
  const { event, what, reason, who, typedEmail, target, mentioned, application, browser } = shown;
  const note = (text: Content) => html`<span class="quiet item-note">${text}</span>`;
  return [
    html`<a class="item-name" href="${linkAddress(consoleUri(`/audit-log/${event.id}`))}" data-drawer="${DRAWER}">${exactTime(event.at, messages.format.second)}</a>`,
    html`${isFailure(event.action) ? badge("bad", what) : html`<span>${what}</span>`}${reason !== undefined && note(reason)}`,
    html`<bdi>${who}</bdi>${typedEmail !== undefined && note(html`<bdi>${typedEmail}</bdi>`)}`,
    target &&
      html`${targetCell({ ...target, text: target.isCode ? shortened(target.text) : target.text })}${mentioned.length > 0 && note(mentionedNames(mentioned))}`,
    application &&
      linked(
        application.uri,
        html`<bdi>${application.uri ? application.name : shortened(application.id)}</bdi>`,
      ),
    (event.address !== undefined || browser !== undefined) &&
      html`<bdi>${event.address}</bdi>${browser !== undefined && note(browser)}`,
  ].map((cell) => (cell === false ? undefined : cell));
}

const MAX_MENTIONED = 3;

/** The first of them: the event's page has all. */
const mentionedNames = (mentioned: DisplayedEvent["mentioned"]): Content =>
  html`${mentioned.slice(0, MAX_MENTIONED).map(({ name }, index) => html`${index > 0 && ", "}<bdi>${name}</bdi>`)}${mentioned.length > MAX_MENTIONED && ", …"}`;

/** Shortened: the event's page has the full id. */
const shortened = (id: string): string => (id.length > LONGEST_ID ? `${id.slice(0, LONGEST_ID - 1)}…` : id);
const LONGEST_ID = 14;

export const linked = (uri: string | undefined, shown: Html): Html =>
  uri === undefined ? shown : html`<a href="${linkAddress(uri)}">${shown}</a>`;

/** The target, linked to its page where it has one. */
export const targetCell = ({ text, isCode, uri }: NonNullable<DisplayedEvent["target"]>): Html =>
  linked(uri, isCode ? html`<code>${text}</code>` : html`<bdi>${text}</bdi>`);

/** A request of an application that was refused: what an error page's reference leads to without an event. */
function refusedRequest({ refused, consoleUri, messages }: AuditListView): Content {
  if (!refused) return undefined;
  const { refused: text, list } = messages.console.auditLog;
  const { refused: of } = messages.console.applications;
  const { application } = refused;
  const body = html`<p>${text.text}</p>
${facts([
  { label: list.time, content: exactTime(refused.at, messages.format.second) },
  { label: list.application, content: html`<bdi>${application.name}</bdi>` },
  { label: of.endpoint, content: html`<code>${refused.endpoint}</code>` },
  {
    label: of.reason,
    content: html`<code>${refused.error}</code> <span lang="en">${refused.description}</span>`,
  },
])}<p><a id="refused-open" href="${linkAddress(consoleUri(`/applications/${application.id}#refused`))}">${text.open}</a></p>`;
  return banner("hint", "refused-request", text.title, body);
}

function further({ messages, pager, searchedBackTo, partialOf }: AuditListView): Html {
  const { list } = messages.console.auditLog;
  const { olderUri } = pager;
  const partial =
    partialOf !== undefined &&
    html`<p class="quiet" id="partial" role="status">${list.partial({ count: partialOf })}</p>
`;
  if (searchedBackTo === undefined || olderUri === undefined)
    return html`${partial}${pagination({ ...pager, hasKeys: true, messages })}`;
  return html`${partial}<p class="quiet" id="looked-back" role="status">${timeWithin(list.lookedBack({ at: searchedBackTo }), searchedBackTo, messages.format.minute)}</p>
<div class="actions">${buttonLink({ id: "look-further", uri: olderUri, label: list.further })}</div>
${pagination({ ...pager, olderUri: undefined, hasKeys: true, messages })}`;
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

function chainCard({ messages, head, orgId, cutUntil }: AuditListView): Html {
  const { chain } = messages.console.auditLog;
  const { copy, copied } = messages.console.frame.secret;
  if (!head || head.seq === 0) return card({ id: "chain", title: chain.title, text: chain.none });
  return card({
    id: "chain",
    title: chain.title,
    text: html`${chain.length({ count: head.seq })} ${timeWithin(chain.moved({ at: head.updatedAt }), head.updatedAt, messages.format.minute)}${
      cutUntil !== undefined &&
      html` <span id="chain-cut">${timeWithin(chain.cut({ at: cutUntil }), cutUntil, messages.format.minute)}</span>`
    }`,
    body: codeBlock({
      id: "chain-check",
      title: chain.check,
      lines: `signet audit verify --org ${orgId} --expect ${head.seq}:${head.hash}`,
      copy,
      copied,
    }),
  });
}
