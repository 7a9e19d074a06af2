/** The audit log: a search, newest first, and one event with all its details. */
import type { FastifyInstance } from "fastify";
import { findAuditEvent, selectNames } from "../../../core/audit/audit.store.ts";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { findCheckpoint } from "../../../core/audit/chain/checkpoint.store.ts";
import { MAX_RECORDS } from "../../../core/audit/search/find-subjects.ts";
import {
  type AuditPage,
  countAuditEvents,
  formatCursor,
  searchAuditEvents,
} from "../../../core/audit/search/search.ts";
import { findRefusedRequest } from "../../../core/refused-requests/refused-requests.store.ts";
import type { Messages } from "../../../html/messages/messages.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { displayEvents } from "../../../page-kit/audit-events/display-events.ts";
import { doneKey, openPage } from "../../../page-kit/console-frame.ts";
import { MAX_COUNT } from "../../../page-kit/list/list-place.ts";
import { showSavedFilters } from "../../../page-kit/list/saved-filters.ts";
import { ROWS_PER_PAGE } from "../../../page-kit/list-page.ts";
import { oldReaderFor, withOldReads } from "../../../page-kit/old-reads.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { auditEventPage } from "./event.page.ts";
import { sendExport } from "./export.ts";
import { type FilterInput, readFilterInput, toFilter } from "./filter.ts";
import { type AuditListView, auditListPage } from "./list.page.ts";
import { auditLogFilters } from "./saved-home.ts";

export function auditLogRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log", { get: showList });
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/export", { get: sendExport });
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/:event", { get: showEvent });
}

async function showList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const { values } = parseQuery(visit.request);
  const input = readFilterInput(values);
  const place = readPlace(values);
  const pageUri = (more: Readonly<Record<string, string | undefined>>, rest = "") =>
    consolePath(organisation, `/audit-log${rest}${queryString({ ...input, ...more })}`);
  const frame = await openPage(deps, visit, "auditLog", pageUri({ ...place }));
  const searched = await withOldReads(
    deps,
    oldReaderFor(deps, visit),
  )((old) => searchLog(old, visit, input, place, frame.messages));
  const { done } = frame.messages.console.frame.savedFilters;
  const doneAs = doneKey(visit, done);
  const page = auditListPage({
    ...frame,
    orgId,
    input,
    savedFilters: await showSavedFilters(
      deps,
      organisation,
      { list: "audit-log", home: auditLogFilters, values },
      frame.messages,
    ),
    done: doneAs && done[doneAs],
    refused: await findRefused(deps, orgId, input.search),
    events: searched.events,
    pager: pagerOf(searched.found, place, searched.counted, pageUri),
    searchedBackTo: searched.found.searchedBackTo,
    partialOf: searched.isPartial ? MAX_RECORDS : undefined,
    exportUris: {
      csv: pageUri({ format: "csv" }, "/export"),
      jsonl: pageUri({ format: "jsonl" }, "/export"),
    },
    head: searched.head,
    cutUntil: searched.checkpoint?.until,
  });
  await show(visit, frame, page);
}

/** All of it from one server, which may be a replica. */
async function searchLog(
  deps: ConsoleDeps,
  { organisation }: Visit,
  input: FilterInput,
  place: Place,
  messages: Messages,
) {
  const { query: db } = deps.database;
  const { id: orgId } = organisation;
  const { filter, isPartial } = await toFilter(db, orgId, input);
  const found = await searchAuditEvents(db, orgId, filter, { ...place, limit: ROWS_PER_PAGE });
  return {
    found,
    isPartial,
    events: await displayEvents(deps, organisation, found.events, messages),
    counted: await countAuditEvents(db, orgId, filter, MAX_COUNT + 1),
    head: await findHead(db, orgId),
    checkpoint: await findCheckpoint(db, orgId),
  };
}

/** Where in the log a page is: `row` is the number of its first event, as the page before counted. */
interface Place {
  readonly before: string | undefined;
  readonly after: string | undefined;
  readonly row: string | undefined;
}

function readPlace(values: ReadonlyMap<string, string>): Place {
  const [before, after, row] = [values.get("before"), values.get("after"), values.get("row")];
  return { before, after, row: row !== undefined && /^[1-9]\d{0,8}$/.test(row) ? row : undefined };
}

/** @param counted up to one more than `MAX_COUNT`; undefined where counting would read every event */
function pagerOf(
  { events, next, previous }: AuditPage,
  { before, after, row = "1" }: Place,
  counted: number | undefined,
  pageUri: (query: Readonly<Record<string, string | undefined>>) => string,
): AuditListView["pager"] {
  const isNewest = (before === undefined && after === undefined) || (after !== undefined && !previous);
  const from = isNewest ? 1 : Number(row);
  const to = from + events.length - 1;
  const [first] = events;
  const newer = after === undefined ? first && before && formatCursor(first) : previous;
  const total = counted !== undefined && { total: Math.min(counted, MAX_COUNT), isMore: counted > MAX_COUNT };
  return {
    range: first && { from, to, ...total },
    newestUri: before === undefined && after === undefined ? undefined : pageUri({}),
    previousUri: newer && pageUri({ after: newer, row: String(Math.max(1, from - ROWS_PER_PAGE)) }),
    olderUri: next && pageUri({ before: next, row: String(to + 1) }),
  };
}

/** A request that was refused before any event, by the reference that was searched for. */
async function findRefused(deps: ConsoleDeps, orgId: string, search: string) {
  if (search === "") return undefined;
  const db = deps.database.query;
  // What this node has not written yet is the newest.
  await deps.refusedRequests.flush();
  const found = await findRefusedRequest(db, { orgId, requestId: search });
  if (!found) return undefined;
  const [application] = await selectNames(db, orgId, "client", [found.applicationId]);
  return application && { ...found, application };
}

async function showEvent(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit, "event");
  const frame = await openPage(deps, visit, "auditLog");
  const event = await findAuditEvent(deps.database.query, organisation.id, id);
  if (!event) throw new NotFound("event");
  for (const displayed of await displayEvents(deps, organisation, [event], frame.messages))
    await show(visit, frame, auditEventPage({ ...frame, ...displayed }));
}
