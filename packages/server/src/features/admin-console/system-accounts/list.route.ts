/** GET system-accounts: the programs that call the JSON interfaces, with their acts and a file of them. */
import type { FastifyInstance } from "fastify";
import {
  type AccountSort,
  countSystemAccounts,
  type ListedAccount,
  searchSystemAccounts,
} from "../../../core/system-accounts/system-accounts.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html, linkAddress } from "../../../html/html.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import { bulkHandlers } from "../../../page-kit/list/bulk-acts.ts";
import type { Filter, List } from "../../../page-kit/list/list.ts";
import { listExport } from "../../../page-kit/list/list-export.ts";
import { listRoute } from "../../../page-kit/list/list-route.ts";
import { consolePath, consoleRoute } from "../../../page-kit/page.ts";
import { accountKind, accountStatus } from "./account.page.ts";
import { deletion, statusChange } from "./account.route.ts";
import { type AccountsDeps, accountPages } from "./account-pages.ts";

export function accountListRoutes(app: FastifyInstance, deps: AccountsDeps): void {
  listRoute(app, deps, "/oauth/manage/:org/system-accounts", accountList);
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/bulk", bulkHandlers(accountList));
  consoleRoute(app, deps, "/oauth/manage/:org/system-accounts/export", { get: listExport(accountList) });
}

const kinds = ["plain", "administrator"] as const;
const states = ["enabled", "disabled"] as const;

type AccountChoices = { type: (typeof kinds)[number]; state: (typeof states)[number] };

const toFilter = ({ search, type, state }: Filter<AccountChoices>) => ({
  text: search === "" ? undefined : search,
  isAdministrator: type && type === "administrator",
  state,
});

const nameOf = ({ name }: { readonly name: string }): string => name;

export const accountList = {
  current: "systemAccounts",
  noun: "account",
  savedAs: "system-accounts",
  uri: (organisation, rest = "") => consolePath(organisation, `/system-accounts${rest}`),
  texts: ({ console: { frame, systemAccounts } }) => ({
    ...systemAccounts.list,
    title: frame.pages.systemAccounts,
  }),
  filters: {
    type: {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.kind,
      any: ({ console: { systemAccounts } }) => systemAccounts.list.anyKind,
      choices: kinds,
      names: ({ console: { systemAccounts } }) => systemAccounts.kinds,
    },
    state: {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.state,
      any: ({ console: { systemAccounts } }) => systemAccounts.list.anyState,
      choices: states,
      names: ({ console: { systemAccounts } }) => systemAccounts.states,
    },
  },
  sorts: {
    // Ids rise with the time of creation.
    created: { isNumber: false, isDescending: true, value: ({ id }) => id },
    name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  },
  rows: ({ deps, organisation }, { filter, ...query }) =>
    searchSystemAccounts(deps.database.query, organisation.id, { ...toFilter(filter), ...query }),
  count: ({ deps, organisation }, filter, max) =>
    countSystemAccounts(deps.database.query, organisation.id, { ...toFilter(filter), max }),
  columns: [
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.name,
      sort: "name",
      cell: ({ id, name }, { consoleUri }) => nameCell({ name, uri: consoleUri(`/system-accounts/${id}`) }),
    },
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.kind,
      cell: (account, { messages }) => accountKind(account, messages),
    },
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.application,
      cell: ({ applicationId, applicationName }, { consoleUri }) =>
        html`<a href="${linkAddress(consoleUri(`/applications/${applicationId}`))}"><bdi>${applicationName}</bdi></a>`,
    },
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.state,
      cell: (account, { messages }) => accountStatus(account, messages),
    },
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.lastUsed,
      cell: ({ lastUsedAt }, { messages: { console, format } }) =>
        lastUsedAt === null ? console.frame.never : relativeTime(lastUsedAt, format.day),
    },
    {
      label: ({ console: { systemAccounts } }) => systemAccounts.list.created,
      sort: "created",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf,
  acts: {
    disable: bulkAct(({ console }) => console.systemAccounts.bulk.disable, statusChange(true), nameOf),
    enable: bulkAct(({ console }) => console.systemAccounts.bulk.enable, statusChange(false), nameOf, {
      isHarmless: true,
    }),
    remove: bulkAct(({ console }) => console.systemAccounts.bulk.remove, deletion, nameOf, {
      isPermanent: true,
    }),
  },
  findName: async (deps, organisation, id) => (await accountPages.find(deps, organisation, { id }))?.name,
  export: {
    name: "service-accounts",
    columns: {
      id: ({ id }) => id,
      name: nameOf,
      type: ({ isAdministrator }) => (isAdministrator ? "administrator" : "application"),
      applicationId: ({ applicationId }) => applicationId,
      application: ({ applicationName }) => applicationName,
      status: ({ disabledAt }) => (disabledAt === null ? "enabled" : "disabled"),
      createdAt: ({ createdAt }) => new Date(createdAt),
      lastUsedAt: ({ lastUsedAt }) => (lastUsedAt === null ? null : new Date(lastUsedAt)),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "account-new",
      uri: consoleUri("/system-accounts/new"),
      label: console.systemAccounts.list.make,
      kind: "primary",
    }),
  done: ({ console: { systemAccounts } }) => ({ deleted: systemAccounts.done.deleted }),
} satisfies List<AccountsDeps, ListedAccount, AccountSort, AccountChoices>;
