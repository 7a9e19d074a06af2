/** GET audit-log: a search of the audit log, newest first. */
import type { FastifyInstance } from "fastify";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { searchAuditEvents } from "../../../core/audit/search/search.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { displayEvents } from "./display-events.ts";
import { readFilterInput, toFilter } from "./filter.ts";
import { auditListPage } from "./list.page.ts";

export function auditListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/audit-log", { get: showList });
}

async function showList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const { values } = parseQuery(visit.request);
  const input = readFilterInput(values);
  const before = values.get("before");
  const pageUri = (more: Readonly<Record<string, string | undefined>>, rest = "") =>
    consolePath(organisation, `/audit-log${rest}${queryString({ ...input, ...more })}`);
  const signedIn = await requireAdministrator(deps, visit, pageUri({ before }));
  const frame = await consoleFrame(deps, visit, signedIn, "auditLog");
  const db = deps.database.query;
  const filter = await toFilter(db, orgId, input);
  const found = await searchAuditEvents(db, orgId, filter, { before, limit: ROWS_PER_PAGE });
  const page = auditListPage({
    ...frame,
    orgId,
    input,
    events: await displayEvents(deps, organisation, found.events, frame.messages),
    newestUri: before === undefined ? undefined : pageUri({}),
    olderUri: found.next && pageUri({ before: found.next }),
    searchedBackTo: found.searchedBackTo,
    exportUris: {
      csv: pageUri({ format: "csv" }, "/export"),
      jsonl: pageUri({ format: "jsonl" }, "/export"),
    },
    head: await findHead(db, orgId),
  });
  await show(visit, frame, page);
}
