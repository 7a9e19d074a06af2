/** The organisation's own groups that a user is no direct member of, as a list: the user is added to ticked ones. */
import { GroupConflict, groupNameKey, InvalidGroup } from "../../../core/groups/group.ts";
import { changeMembers } from "../../../core/groups/group-members.ts";
import { type CountedGroup, countGroups, listGroups } from "../../../core/groups/groups.store.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import { nameCell } from "../../../html/components/table.ts";
import { alreadyApplied, done } from "../../../page-kit/confirmation.ts";
import { type BulkAct, bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List, ListColumn } from "../../../page-kit/list/list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import type { Receiver } from "../choice-list.ts";
import { groupPages } from "./group-pages.ts";

type JoinSort = "displayName";

const columns: ReadonlyArray<ListColumn<CountedGroup, JoinSort, Record<never, never>>> = [
  {
    label: ({ console: { groups } }) => groups.columns.name,
    sort: "displayName",
    cell: ({ id, displayName, description }, { consoleUri }) =>
      nameCell({
        name: displayName,
        uri: consoleUri(`/groups/${id}`),
        ...(description !== null && { note: description }),
      }),
  },
  {
    label: ({ console: { groups } }) => groups.columns.members,
    cell: ({ memberCount }, { messages }) => messages.console.groups.memberCount({ count: memberCount }),
  },
];

const joining = (userId: string, name: string): BulkAct<ConsoleDeps> =>
  bulkAct(
    ({ console: { groups: text } }) => ({
      label: text.join.submit,
      heading: ({ count }) => text.join.heading({ count, name }),
      text: text.join.text,
    }),
    {
      load: groupPages.find,
      apply: async (deps: ConsoleDeps, acting, { id }, { messages }) => {
        try {
          await changeMembers(deps, { ...acting, id, add: [{ type: "user", id: userId }], remove: [] });
          return done("joined");
        } catch (error) {
          // The user was deleted meanwhile.
          if (error instanceof InvalidGroup) return alreadyApplied;
          if (!(error instanceof GroupConflict)) throw error;
          const { groups: text } = messages.console;
          return { kind: "refused", title: text.readOnly, text: text.readOnly };
        }
      },
    },
    ({ displayName }) => displayName,
    { isHarmless: true },
  );

export const joinableGroups = ({ subjectId: userId, name, current, path }: Receiver) => {
  const narrow = (search: string) =>
    ({ words: searchWords(search), source: "local", without: userId }) as const;
  return {
    current,
    noun: "group",
    uri: (organisation, rest = "") => consolePath(organisation, `${path}/groups/add${rest}`),
    texts: ({ console: { groups: text } }) => ({
      title: text.join.title({ name }),
      search: text.search,
      none: text.join.none,
      noneText: text.join.noneText,
    }),
    filters: {},
    sorts: {
      displayName: {
        isNumber: false,
        isDescending: false,
        value: ({ displayName }) => groupNameKey(displayName),
      },
    },
    rows: ({ deps, organisation }, { filter, page, limit }) =>
      listGroups(deps.database.query, organisation.id, { ...page, ...narrow(filter.search), limit }),
    count: ({ deps, organisation }, filter, max) =>
      countGroups(deps.database.query, organisation.id, { ...narrow(filter.search), max }),
    columns,
    nameOf: ({ displayName }) => displayName,
    acts: { join: joining(userId, name) },
    findName: async (deps, organisation, id) =>
      (await groupPages.find(deps, organisation, { id }))?.displayName,
  } satisfies List<ConsoleDeps, CountedGroup, JoinSort>;
};
