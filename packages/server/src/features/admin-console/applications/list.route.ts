/** GET applications: the organisation's applications, newest first. */
import type { FastifyInstance } from "fastify";
import { searchApplications } from "../../../core/applications/applications.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE, readCursor, readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  type ConsoleDeps,
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import { type ListView, listedStates, listedTypes, listPage } from "./list.page.ts";

export function applicationListRoute(app: FastifyInstance, deps: ConsoleDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/applications", { get: showList });
}

async function showList(deps: ConsoleDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const query = { search: values.get("search"), type: values.get("type"), state: values.get("state") };
  const listUri = consolePath(organisation, "/applications");
  const signedIn = await requireAdministrator(deps, visit, `${listUri}${queryString(query)}`);
  const frame = await consoleFrame(deps, visit, signedIn, "applications");
  const page = listPage({
    ...frame,
    ...(await findListed(deps, visit, values)),
    isDeleted: values.get("done") === "deleted",
  });
  await show(visit, frame, page);
}

async function findListed(
  { database }: ConsoleDeps,
  { organisation }: Visit,
  values: ReadonlyMap<string, string>,
): Promise<Pick<ListView, "search" | "applications" | "newestUri" | "olderUri">> {
  const text = readSearch(values);
  const type = listedTypes.find((one) => one === values.get("type"));
  const state = listedStates.find((one) => one === values.get("state"));
  const after = readCursor(values.get("after"));
  const rows = await searchApplications(database.query, organisation.id, {
    after,
    limit: ROWS_PER_PAGE + 1,
    text: text === "" ? undefined : text,
    clientType: type,
    state,
  });
  const { shown, last } = splitPage(rows);
  const pageUri = (id?: string) =>
    consolePath(organisation, `/applications${queryString({ search: text, type, state, after: id })}`);
  return {
    search: { text, type, state },
    applications: shown,
    newestUri: after && pageUri(),
    olderUri: last && pageUri(last.id),
  };
}
