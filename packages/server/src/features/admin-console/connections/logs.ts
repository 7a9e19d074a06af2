/** What came of the last calls of a directory, or of the last sign-ins at a provider: for who looks for a fault. */
import { type ConnectionCall, listCalls } from "../../../core/connections/connection-calls.store.ts";
import { listConnectionSignIns } from "../../../core/connections/sign-in/sign-in-log.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { card } from "../../../html/components/card.ts";
import { pagination } from "../../../html/components/pagination.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { type Row, table } from "../../../html/components/table.ts";
import { type Content, type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { pageUris, ROWS_PER_PAGE, readCursor, splitPage } from "../../../page-kit/list-page.ts";
import { queryString, type Visit } from "../../../page-kit/page.ts";
import type { ConnectionsDeps, ConnectionView } from "./connection-pages.ts";
import { reasonText } from "./test.page.ts";

/** The place in a log, as its address says it. */
function placeOf({ request }: Visit) {
  const { values } = parseQuery(request);
  return { after: readCursor(values.get("after")), isFailed: values.get("outcome") === "failed" };
}

type Place = ReturnType<typeof placeOf>;

export async function callsOf(deps: ConnectionsDeps, view: ConnectionView, visit: Visit): Promise<Content> {
  const { record, messages } = view;
  const { calls: text } = messages.console.connections;
  const place = placeOf(visit);
  const wanted = { after: place.after, isFailed: place.isFailed, limit: ROWS_PER_PAGE + 1 };
  const rows = (await listCalls(deps.database.query, record, wanted)).map((call) => ({
    id: call.id,
    cells: [
      relativeTime(call.at, messages.format.second),
      html`<code>${call.method} ${call.path}</code>`,
      badge(call.status < 400 ? "good" : "bad", String(call.status)),
      errorOf(call, messages),
    ],
  }));
  return logCard(view, place, {
    ...{ path: "/calls", rows, title: text.title, text: text.text },
    columns: [text.at, text.call, text.status, text.error],
    none: place.isFailed ? text.noneFailed : text.none,
  });
}

/** In words, for who does not know RFC 7644 §3.12 by heart; the code is what the directory shows. */
function errorOf({ status, scimType }: ConnectionCall, { console: { connections } }: Messages): Content {
  if (status < 400) return undefined;
  const { errors } = connections.calls;
  const texts: Readonly<Record<string, string>> = errors.types;
  const byStatus: Readonly<Record<number, string>> = {
    403: errors.forbidden,
    404: errors.notFound,
    412: errors.stale,
    413: errors.tooLarge,
    429: errors.tooOften,
  };
  if (scimType === null) return byStatus[status];
  const explained = Object.hasOwn(texts, scimType) ? texts[scimType] : byStatus[status];
  return html`<code>${scimType}</code>${explained !== undefined && html`<span class="quiet item-note">${explained}</span>`}`;
}

export async function signInsOf(deps: ConnectionsDeps, view: ConnectionView, visit: Visit): Promise<Content> {
  const { record, messages, organisation, consoleUri } = view;
  const { signIns: text } = messages.console.connections;
  const place = placeOf(visit);
  const outcome = place.isFailed ? "failed" : undefined;
  const all = await listConnectionSignIns(deps.database.query, record, { now: deps.clock(), outcome });
  const { after } = place;
  const from = after === undefined ? all : all.filter(({ id }) => id < after);
  const rows = from.slice(0, ROWS_PER_PAGE + 1).map((entry) => {
    const hasFailed = entry.outcome === "failed";
    return {
      id: entry.id,
      cells: [
        relativeTime(entry.at, messages.format.second),
        html`<bdi>${entry.email ?? entry.subject ?? text.unknown}</bdi>`,
        badge(hasFailed ? "bad" : "good", hasFailed ? text.failed : text.succeeded),
        entry.reason === null
          ? undefined
          : html`${reasonText(entry.reason, { connection: record.name, organisation: organisation.name }, messages)}${entry.detail !== null && html`<span class="quiet item-note">${entry.detail}</span>`}`,
        view.portal
          ? html`<code>${entry.reference}</code>`
          : html`<a href="${linkAddress(consoleUri(`/audit-log?search=${encodeURIComponent(entry.reference)}`))}">${entry.reference}</a>`,
      ],
    };
  });
  return logCard(view, place, {
    ...{ path: "/sign-ins", rows, title: text.title, text: text.text },
    columns: [text.at, text.user, text.outcome, text.reason, text.reference],
    none: place.isFailed ? text.noneFailed : text.none,
  });
}

function logCard(
  { messages, uriOf }: ConnectionView,
  { after, isFailed }: Place,
  log: {
    readonly path: string;
    readonly rows: ReadonlyArray<Row & { readonly id: string }>;
    readonly title: string;
    readonly text: string;
    readonly columns: readonly string[];
    readonly none: string;
  },
): Html {
  const { logs: text } = messages.console.connections;
  const outcome = isFailed ? "failed" : undefined;
  const { shown, last } = splitPage(log.rows);
  const uri = (next?: string) => `${uriOf(log.path)}${queryString({ outcome, after: next })}`;
  const other = queryString({ outcome: isFailed ? undefined : "failed" });
  return card({
    id: "log",
    title: log.title,
    text: log.text,
    actions: buttonLink({
      id: isFailed ? "log-all" : "log-failed",
      uri: `${uriOf(log.path)}${other}`,
      label: isFailed ? text.all : text.failedOnly,
    }),
    body: [
      table({ label: log.title, columns: log.columns, rows: shown, none: log.none, messages }),
      pagination({ ...pageUris(uri, after, last?.id), messages }),
    ],
  });
}
