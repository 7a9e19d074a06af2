/** The organisation's groups as a list: the database filters, sorts and pages. */
import { groupNameKey } from "../../../core/groups/group.ts";
import { type CountedGroup, countGroups, listGroups } from "../../../core/groups/groups.store.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Filter, List } from "../../../page-kit/list/list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import { sourceText } from "./group.page.ts";
import { deletion } from "./group.route.ts";
import { groupPages } from "./group-pages.ts";

type GroupSort = "createdAt" | "displayName";

const sources = ["local", "scim"] as const;

type GroupChoices = { source: (typeof sources)[number] };

const toFilter = ({ search, source }: Filter<GroupChoices>) => ({
  words: searchWords(search),
  ...(source && { source }),
});

export const groupList = {
  current: "groups",
  noun: "group",
  savedAs: "groups",
  uri: (organisation, rest = "") => consolePath(organisation, `/groups${rest}`),
  texts: ({ console: { frame, groups } }, { name: organisation }) => ({
    title: frame.pages.groups,
    summary: groups.summary({ organisation }),
    search: groups.search,
    none: groups.none,
    noneText: groups.noneText,
  }),
  filters: {
    source: {
      label: ({ console: { groups } }) => groups.columns.source,
      any: ({ console: { groups } }) => groups.anySource,
      choices: sources,
      names: ({ console: { groups } }) => groups.sources,
    },
  },
  sorts: {
    displayName: {
      isNumber: false,
      isDescending: false,
      value: ({ displayName }) => groupNameKey(displayName),
    },
    createdAt: { isNumber: true, isDescending: true, value: ({ createdAt }) => createdAt },
  },
  rows: ({ deps, organisation }, { filter, page, limit }) =>
    listGroups(deps.database.query, organisation.id, { ...page, ...toFilter(filter), limit }),
  count: ({ deps, organisation }, filter, max) =>
    countGroups(deps.database.query, organisation.id, { ...toFilter(filter), max }),
  columns: [
    {
      label: ({ console: { groups } }) => groups.columns.name,
      sort: "displayName",
      cell: ({ id, displayName }, { consoleUri }) =>
        nameCell({ name: displayName, uri: consoleUri(`/groups/${id}`) }),
    },
    {
      label: ({ console: { groups } }) => groups.columns.source,
      cell: (group, { messages }) => sourceText(group, messages),
    },
    {
      label: ({ console: { groups } }) => groups.columns.members,
      cell: ({ memberCount }, { messages }) => messages.console.groups.memberCount({ count: memberCount }),
    },
    {
      label: ({ console: { groups } }) => groups.columns.created,
      sort: "createdAt",
      cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
    },
  ],
  nameOf: ({ displayName }) => displayName,
  acts: {
    remove: bulkAct(
      ({ console }) => console.groups.bulk.remove,
      deletion,
      ({ displayName }) => displayName,
      { isPermanent: true },
    ),
  },
  findName: async (deps, organisation, id) =>
    (await groupPages.find(deps, organisation, { id }))?.displayName,
  export: {
    name: "groups",
    columns: {
      id: ({ id }) => id,
      displayName: ({ displayName }) => displayName,
      description: ({ description }) => description,
      externalId: ({ externalId }) => externalId,
      source: ({ source }) => source,
      members: ({ memberCount }) => memberCount,
      createdAt: ({ createdAt }) => new Date(createdAt),
    },
  },
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "group-new",
      uri: consoleUri("/groups/new"),
      label: console.groups.make,
      kind: "primary",
    }),
  done: ({ console: { groups } }) => ({ deleted: groups.done.deleted }),
} satisfies List<ConsoleDeps, CountedGroup, GroupSort, GroupChoices>;
