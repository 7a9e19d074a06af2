/** The audit log: a search, newest first, and one event with all its details. */
import type { FastifyInstance } from "fastify";
import { findAuditEvent } from "../../../core/audit/audit.store.ts";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { searchAuditEvents } from "../../../core/audit/search/search.ts";
import { NotFound } from "../../../http/errors.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { openPage } from "../../../page-kit/console-frame.ts";
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
  const before = values.get("before");
  const pageUri = (more: Readonly<Record<string, string | undefined>>, rest = "") =>
    consolePath(organisation, `/audit-log${rest}${queryString({ ...input, ...more })}`);
  const frame = await openPage(deps, visit, "auditLog", pageUri({ before }));
  const db = deps.database.query;
  const filter = await toFilter(db, orgId, input);
  const found = await searchAuditEvents(db, orgId, filter, { before, limit: ROWS_PER_PAGE });
  const page = auditListPage({
    ...frame,
    orgId,
    input,
    events: await displayEvents(deps, organisation, found.events, frame.messages),
    ...pageUris((cursor) => pageUri({ before: cursor }), before, found.next),
    searchedBackTo: found.searchedBackTo,
    exportUris: {
      csv: pageUri({ format: "csv" }, "/export"),
      jsonl: pageUri({ format: "jsonl" }, "/export"),
    },
    head: await findHead(db, orgId),
  });
  await show(visit, frame, page);
}

async function showEvent(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const id = requireId(visit, "event");
  const frame = await openPage(deps, visit, "auditLog");
  const event = await findAuditEvent(deps.database.query, organisation.id, id);
  if (!event) throw new NotFound("event");
  const [displayed = { event, who: event.actor, what: event.action }] = await displayEvents(
    deps,
    organisation,
    [event],
    frame.messages,
  );
  await show(visit, frame, auditEventPage({ ...frame, ...displayed }));
}
