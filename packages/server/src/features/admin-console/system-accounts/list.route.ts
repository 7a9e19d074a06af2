/** GET system-accounts: the programs that call the JSON interfaces, newest first. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance } from "fastify";
import { searchSystemAccounts } from "../../../core/system-accounts/system-accounts.store.ts";
import { queryOf } from "../../../http/form-body.ts";
import { consoleFrame } from "../../../page-kit/console-frame.ts";
import {
  administratorHere,
  consolePath,
  consoleRoute,
  queryText,
  show,
  type Visit,
} from "../../../page-kit/visit.ts";
import { type AccountsDeps, accountPath } from "./account-visit.ts";
import { type ListView, listPage } from "./list.page.ts";

const ON_A_PAGE = 25;

export function accountListRoute(app: FastifyInstance, deps: AccountsDeps): void {
  consoleRoute(app, deps, "/system-accounts", {
    get: async (visit) => {
      const { organisation } = visit;
      const { values } = queryOf(visit.request);
      const search = (values.get("search") ?? "").trim().slice(0, 100);
      const path = consolePath(organisation, `/system-accounts${queryText({ search })}`);
      const signedIn = await administratorHere(deps, visit, path);
      if (!signedIn) return;
      const frame = await consoleFrame(deps, visit, signedIn, "systemAccounts");
      const page = listPage({
        ...frame,
        ...(await listed(deps, visit, search, values.get("after"))),
        listUri: consolePath(organisation, "/system-accounts"),
        newUri: consolePath(organisation, "/system-accounts/new"),
        uriOf: (id) => accountPath(organisation, id),
        applicationUriOf: (id) => consolePath(organisation, `/applications/${id}`),
        isDone: values.get("done") === "deleted",
      });
      await show(visit, frame, page);
    },
  });
}

async function listed(
  { database }: AccountsDeps,
  { organisation }: Visit,
  search: string,
  cursor = "",
): Promise<Pick<ListView, "search" | "accounts" | "newestUri" | "olderUri">> {
  const after = isUuid(cursor) ? cursor.toLowerCase() : undefined;
  const text = search === "" ? undefined : search;
  const page = { text, after, limit: ON_A_PAGE + 1 };
  const rows = await searchSystemAccounts(database.query, organisation.id, page);
  const accounts = rows.slice(0, ON_A_PAGE);
  const last = rows.length > ON_A_PAGE ? accounts.at(-1) : undefined;
  const at = (id?: string) =>
    consolePath(organisation, `/system-accounts${queryText({ search, after: id })}`);
  return { search, accounts, newestUri: after && at(), olderUri: last && at(last.account.id) };
}
