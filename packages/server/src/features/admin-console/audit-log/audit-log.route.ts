/** The audit log: a search, newest first, and one event with all its details. */
import type { FastifyInstance } from "fastify";
import { findAuditEvent, selectNames } from "../../../core/audit/audit.store.ts";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { listFilters } from "../../../core/audit/filters/filters.store.ts";
import { MAX_RECORDS } from "../../../core/audit/search/find-subjects.ts";
import { searchAuditEvents } from "../../../core/audit/search/search.ts";
import { findRefusedRequest } from "../../../core/refused-requests/refused-requests.store.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { doneKey, openPage } from "../../../page-kit/console-frame.ts";
import { pageUris, ROWS_PER_PAGE } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireId,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { displayEvents } from "./display-events.ts";
import { auditEventPage } from "./event.page.ts";
import { sendExport } from "./export.ts";
import { readFilterInput, toFilter } from "./filter.ts";
import { auditListPage } from "./list.page.ts";
import { savedFilterRoutes } from "./saved-filters.route.ts";

export function auditLogRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log", { get: showList });
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/export", { get: sendExport });
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log/:event", { get: showEvent });
  savedFilterRoutes(app, deps);
}

async function showList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const { values } = parseQuery(visit.request);
  const input = readFilterInput(values);
  const before = values.get("before");
  const pageUri = (more: Readonly<Record<string, string | undefined>>, rest = "") =>
    consolePath(organisation, `/audit-log${rest}${queryString({ ...input, ...more })}`);
  const frame = await openPage(deps, visit, "auditLog", pageUri({ before }));
  const db = deps.database.query;
  const { filter, isPartial } = await toFilter(db, orgId, input);
  const found = await searchAuditEvents(db, orgId, filter, { before, limit: ROWS_PER_PAGE });
  const { done } = frame.messages.console.auditLog;
  const doneAs = doneKey(visit, done);
  const page = auditListPage({
    ...frame,
    orgId,
    input,
    savedFilters: await listFilters(db, orgId),
    done: doneAs && done[doneAs],
    refused: await findRefused(deps, orgId, input.search),
    events: await displayEvents(deps, organisation, found.events, frame.messages),
    ...pageUris((cursor) => pageUri({ before: cursor }), before, found.next),
    searchedBackTo: found.searchedBackTo,
    partialOf: isPartial ? MAX_RECORDS : undefined,
    exportUris: {
      csv: pageUri({ format: "csv" }, "/export"),
      jsonl: pageUri({ format: "jsonl" }, "/export"),
    },
    head: await findHead(db, orgId),
  });
  await show(visit, frame, page);
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
