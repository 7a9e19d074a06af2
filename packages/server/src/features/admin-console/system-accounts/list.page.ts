import type { SystemAccount } from "../../../core/system-accounts/system-account.ts";
import { type ConsoleFrame, consoleLayout } from "../../../html/components/console-layout.ts";
import { buttonLink, emptyState, moment, state } from "../../../html/components/parts.ts";
import { successNotice } from "../../../html/components/record-form.ts";
import { nameCell, noResults, pager, searchForm, table } from "../../../html/components/table.ts";
import { type Html, html, linkAddress } from "../../../html/html.ts";
import type { Messages } from "../../../html/messages/messages.ts";

export type ListView = ConsoleFrame & {
  search: string;
  accounts: ReadonlyArray<{ account: SystemAccount; applicationName: string }>;
  newestUri: string | undefined;
  olderUri: string | undefined;
  /** An account was just deleted. */
  isDone: boolean;
};

export function listPage(view: ListView): Html {
  const { messages, accounts } = view;
  const { frame, systemAccounts: text } = messages.console;
  const isEmpty = accounts.length === 0 && view.search === "" && view.newestUri === undefined;
  const make = buttonLink({
    id: "account-new",
    uri: view.consoleUri("/system-accounts/new"),
    label: text.list.make,
    isPrimary: true,
  });
  const body = isEmpty
    ? emptyState({ title: text.list.none, text: text.list.noneText, action: make })
    : [listSearch(view), accounts.length === 0 ? noResults(messages) : list(view), pager(view)];
  return consoleLayout({
    ...view,
    title: frame.pages.systemAccounts,
    breadcrumbs: [],
    summary: text.list.summary,
    actions: isEmpty ? undefined : make,
    notice: view.isDone ? successNotice(text.done.deleted) : undefined,
    body: html`<section class="card" aria-label="${frame.pages.systemAccounts}">
${body}</section>
`,
  });
}

const listSearch = ({ consoleUri, search, messages }: ListView): Html =>
  searchForm({
    action: consoleUri("/system-accounts"),
    label: messages.console.systemAccounts.list.search,
    value: search,
    isSearch: search !== "",
    messages,
  });

function list({ accounts, consoleUri, messages }: ListView): Html {
  const { frame, systemAccounts } = messages.console;
  const { list: text } = systemAccounts;
  return table({
    label: frame.pages.systemAccounts,
    columns: [text.name, text.kind, text.application, text.state, text.lastUsed],
    rows: accounts.map(({ account, applicationName }) => ({
      id: `account-${account.id}`,
      cells: [
        nameCell({ name: account.name, uri: consoleUri(`/system-accounts/${account.id}`) }),
        kindOf(account, messages),
        html`<a href="${linkAddress(consoleUri(`/applications/${account.applicationId}`))}"><bdi>${applicationName}</bdi></a>`,
        accountStatus(account, messages),
        account.lastUsedAt === null ? frame.never : moment(account.lastUsedAt, messages.format.day),
      ],
    })),
    messages,
  });
}

export const kindOf = ({ isAdministrator }: SystemAccount, { console: { systemAccounts } }: Messages) =>
  isAdministrator ? html`<b>${systemAccounts.kinds.administrator}</b>` : systemAccounts.kinds.plain;

export const accountStatus = (
  { disabledAt }: SystemAccount,
  { console: { systemAccounts } }: Messages,
): Html =>
  disabledAt === null
    ? state("good", systemAccounts.states.enabled)
    : state("bad", systemAccounts.states.disabled);
