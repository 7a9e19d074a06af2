/** GET system-accounts: the programs that call the JSON interfaces, newest first. */
import type { FastifyInstance } from "fastify";
import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { searchSystemAccounts } from "../../../core/system-accounts/system-accounts.store.ts";
import type { ConsoleFrame } from "../../../html/components/console-layout.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import { parseQuery } from "../../../http/form-body.ts";
import { readingRoute } from "../../../page-kit/console-frame.ts";
import {
  listPage,
  pageUris,
  ROWS_PER_PAGE,
  readCursor,
  readSearch,
  splitPage,
} from "../../../page-kit/list-page.ts";
import { consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { accountKind, accountStatus } from "./account.page.ts";
import type { AccountsDeps } from "./account-pages.ts";

export function accountListRoute(app: FastifyInstance, deps: AccountsDeps): void {
  readingRoute(app, deps, "/oauth/manage/:org/system-accounts", "systemAccounts", showList, (visit) =>
    listUri(visit, readSearch(parseQuery(visit.request).values)),
  );
}

const listUri = ({ organisation }: Visit, search: string, after?: string): string =>
  consolePath(organisation, `/system-accounts${queryString({ search, after })}`);

async function showList(deps: AccountsDeps, visit: Visit, frame: ConsoleFrame): Promise<Html> {
  const { values } = parseQuery(visit.request);
  const search = readSearch(values);
  const after = readCursor(values.get("after"));
  const filter = { text: search === "" ? undefined : search, after, limit: ROWS_PER_PAGE + 1 };
  const found = await searchSystemAccounts(deps.database.query, visit.organisation.id, filter);
  const { shown, last } = splitPage(found);
  const { frame: words, systemAccounts } = frame.messages.console;
  const { list: text } = systemAccounts;
  return listPage({
    ...frame,
    ...pageUris((id) => listUri(visit, search, id), after, last?.account.id),
    title: words.pages.systemAccounts,
    summary: text.summary,
    path: "/system-accounts",
    create: { id: "account-new", label: text.make },
    done: values.get("done") === "deleted" ? systemAccounts.done.deleted : undefined,
    label: text.search,
    search,
    empty: { title: text.none, text: text.noneText },
    columns: [text.name, text.kind, text.application, text.state, text.lastUsed],
    rows: shown.map((row) => accountRow(frame, row)),
  });
}

function accountRow(
  { consoleUri, messages }: ConsoleFrame,
  { account, applicationName }: { account: SystemAccount; applicationName: string },
) {
  const application = consoleUri(`/applications/${account.applicationId}`);
  return {
    id: `account-${account.id}`,
    cells: [
      nameCell({ name: account.name, uri: consoleUri(`/system-accounts/${account.id}`) }),
      accountKind(account, messages),
      html`<a href="${linkAddress(application)}"><bdi>${applicationName}</bdi></a>`,
      accountStatus(account, messages),
      account.lastUsedAt === null
        ? messages.console.frame.never
        : relativeTime(account.lastUsedAt, messages.format.day),
    ],
  };
}
