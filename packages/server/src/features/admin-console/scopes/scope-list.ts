/** The organisation's own scopes as a list; at most a hundred, for every token request reads them. */
import type { CustomScope } from "../../../core/scopes/custom-scope.ts";
import { listCustomScopes } from "../../../core/scopes/scopes.store.ts";
import { badge } from "../../../html/components/badge.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html } from "../../../html/html.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListSort } from "../../../page-kit/list/list.ts";
import { memoryList, mentions } from "../../../page-kit/list/memory-list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { usesInBrief } from "./scope.page.ts";
import { deletion, scopePages } from "./scope.route.ts";
import { claimNames, MAX_SHOWN } from "./scopes.page.ts";

type ScopeSort = "created" | "name";

const sorts: Readonly<Record<ScopeSort, ListSort<CustomScope>>> = {
  // Ids rise with the time of creation.
  created: { isNumber: false, isDescending: true, value: ({ id }) => id },
  name: { isNumber: false, isDescending: false, value: ({ name }) => name },
};

const sensitivity = ["yes", "no"] as const;

type ScopeChoices = { sensitive: (typeof sensitivity)[number] };

const claimsOf = ({ claims }: CustomScope): string[] => claims.map(({ name }) => name);

export const scopeList = {
  current: "scopes",
  noun: "scope",
  savedAs: "scopes",
  uri: (organisation, rest = "") => consolePath(organisation, `/scopes${rest}`),
  texts: ({ console: { frame, scopes } }, { name: organisation }) => ({
    title: frame.pages.scopes,
    summary: scopes.summary({ organisation }),
    search: scopes.search,
    none: scopes.none,
    noneText: scopes.noneText,
  }),
  filters: {
    sensitive: {
      label: ({ console: { scopes } }) => scopes.sensitive,
      any: ({ console: { scopes } }) => scopes.anySensitive,
      choices: sensitivity,
      names: ({ console: { frame } }) => ({ yes: frame.yes, no: frame.no }),
    },
  },
  sorts,
  ...memoryList<ConsoleDeps, CustomScope, ScopeSort, ScopeChoices>({
    sorts,
    load: ({ deps: { database }, organisation }) => listCustomScopes(database.query, organisation.id),
    matches: ({ name, displayName, sensitive }, filter) =>
      mentions(filter.search, [name, displayName]) &&
      (filter.sensitive === undefined || sensitive === (filter.sensitive === "yes")),
  }),
  columns: [
    {
      label: ({ console: { scopes } }) => scopes.columns.name,
      sort: "name",
      cell: ({ id, name }, { consoleUri }) => nameCell({ name, uri: consoleUri(`/scopes/${id}`) }),
    },
    {
      label: ({ console: { scopes } }) => scopes.columns.shown,
      cell: ({ displayName, sensitive }, { messages: { console } }) =>
        html`<bdi>${displayName}</bdi>${sensitive && html` ${badge("warn", console.scopes.sensitive)}`}`,
    },
    {
      label: ({ console: { scopes } }) => scopes.columns.claims,
      cell: (scope, { messages: { console } }) =>
        claimNames(claimsOf(scope), console.scopes.noClaims, MAX_SHOWN),
    },
  ],
  nameOf: ({ name }) => name,
  acts: {
    remove: bulkAct(
      ({ console }) => console.scopes.bulk.remove,
      deletion,
      ({ scope, uses }, { console: { scopes } }) => {
        const brief = usesInBrief(uses, scopes);
        return brief === "" ? scope.name : scopes.uses.brief({ name: scope.name, value: brief });
      },
      { isPermanent: true },
    ),
  },
  findName: async (deps, organisation, id) => (await scopePages.find(deps, organisation, { id }))?.name,
  export: {
    name: "scopes",
    columns: {
      id: ({ id }) => id,
      name: ({ name }) => name,
      displayName: ({ displayName }) => displayName,
      description: ({ description }) => description,
      sensitive: ({ sensitive }) => sensitive,
      claims: (scope) => claimsOf(scope).join(" "),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "scope-new",
      uri: consoleUri("/scopes/new"),
      label: console.scopes.make,
      kind: "primary",
    }),
  done: ({ console: { scopes } }) => ({ deleted: scopes.done.deleted }),
} satisfies List<ConsoleDeps, CustomScope, ScopeSort, ScopeChoices>;
