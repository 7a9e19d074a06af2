/** GET audit-log: who did what on what, from where, the newest first. */
import type { FastifyInstance } from "fastify";
import { findHead } from "../../../core/audit/chain/chain.store.ts";
import { searchAuditEvents } from "../../../core/audit/search/search.ts";
import { copyScript } from "../../../html/scripts.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { inWords } from "./audit-words.ts";
import { filterMeant, typedFilter } from "./filter.ts";
import { auditListPage } from "./list.page.ts";

const ON_A_PAGE = 25;

export function auditListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/audit-log", { get: (visit) => showList(deps, visit) });
}

async function showList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { id: orgId } = organisation;
  const { values } = queryOf(visit.request);
  const typed = typedFilter(values);
  const before = values.get("before");
  const at = (more: Readonly<Record<string, string | undefined>>, rest = "") =>
    consolePath(organisation, `/audit-log${rest}${queryText({ ...typed, ...more })}`);
  const signedIn = await administratorHere(deps, visit, at({ before }));
  if (!signedIn) return;
  const frame = await consoleFrame(deps, visit, signedIn, "auditLog");
  const db = deps.database.query;
  const filter = await filterMeant(db, orgId, typed);
  const found = await searchAuditEvents(db, orgId, filter, { before, limit: ON_A_PAGE });
  const page = auditListPage({
    ...frame,
    orgId,
    listUri: consolePath(organisation, "/audit-log"),
    uriOf: (id) => consolePath(organisation, `/audit-log/${id}`),
    typed,
    events: await inWords(deps, organisation, found.events, frame.messages),
    newestUri: before === undefined ? undefined : at({}),
    olderUri: found.next && at({ before: found.next }),
    lookedBackTo: found.lookedBackTo,
    exportUris: { csv: at({ format: "csv" }, "/export"), jsonl: at({ format: "jsonl" }, "/export") },
    head: await findHead(db, orgId),
    script: copyScript.path,
  });
  await show(visit, frame, page);
}
