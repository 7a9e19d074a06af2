/** GET system-accounts: the programs that call the JSON interfaces, newest first. */
import type { FastifyInstance } from "fastify";
import { searchSystemAccounts } from "../../../core/system-accounts/system-accounts.store.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import { ROWS_PER_PAGE, readCursor, readSearch, splitPage } from "../../../page-kit/list-page.ts";
import {
  consolePath,
  consoleRoute,
  queryString,
  requireAdministrator,
  show,
  type Visit,
} from "../../../page-kit/page.ts";
import type { AccountsDeps } from "./account-path.ts";
import { listPage } from "./list.page.ts";

export function accountListRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts", { get: showList });
}

async function showList(deps: AccountsDeps, visit: Visit): Promise<void> {
  const { organisation } = visit;
  const { values } = parseQuery(visit.request);
  const search = readSearch(values);
  const after = readCursor(values.get("after"));
  const listUri = consolePath(organisation, "/system-accounts");
  const pageUri = (id?: string) => `${listUri}${queryString({ search, after: id })}`;
  const signedIn = await requireAdministrator(deps, visit, pageUri());
  const filter = { text: search === "" ? undefined : search, after, limit: ROWS_PER_PAGE + 1 };
  const { shown, last } = splitPage(await searchSystemAccounts(deps.database.query, organisation.id, filter));
  const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
  const page = listPage({
    ...frame,
    search,
    accounts: shown,
    newestUri: after && pageUri(),
    olderUri: last && pageUri(last.account.id),
    isDone: values.get("done") === "deleted",
  });
  await show(visit, frame, page);
}
