/** The members of a group as a list, on its tab: ticked ones are removed. */
import { GroupConflict } from "../../../core/groups/group.ts";
import { type MemberType, memberTypes } from "../../../core/groups/group-members.store.ts";
import { changeMembers } from "../../../core/groups/group-members.ts";
import type { CountedGroup } from "../../../core/groups/groups.store.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import { avatar } from "../../../html/components/avatar.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell, rowLink } from "../../../html/components/table.ts";
import { alreadyApplied, done } from "../../../page-kit/confirmation.ts";
import { type BulkAct, bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Filter, List, ListColumn } from "../../../page-kit/list/list.ts";
import { type ConsoleDeps, consolePath } from "../../../page-kit/page.ts";
import {
  countSearchedMembers,
  type ListedMember,
  type MemberSort,
  searchMembers,
} from "./member-list.store.ts";
import { findListedMember } from "./members.store.ts";

type MemberChoices = { type: MemberType };
type MemberList = List<ConsoleDeps, ListedMember, MemberSort, MemberChoices>;

const toFilter = ({ search, type }: Filter<MemberChoices>) => ({ words: searchWords(search), type });

const filters: MemberList["filters"] = {
  type: {
    label: ({ console: { groups } }) => groups.members.type,
    any: ({ console: { groups } }) => groups.members.anyType,
    choices: memberTypes,
    names: ({ console: { groups } }) => groups.members.types,
  },
};

const sorts: MemberList["sorts"] = {
  name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  added: { isNumber: true, isDescending: true, value: ({ addedAt }) => addedAt },
};

const columns: ReadonlyArray<ListColumn<ListedMember, MemberSort, MemberChoices>> = [
  {
    label: ({ console: { groups } }) => groups.members.name,
    sort: "name",
    cell: ({ type, id, name, email }, { consoleUri }) =>
      nameCell({
        name,
        uri: consoleUri(`/${type}s/${id}`),
        ...(email !== undefined && email !== name && { note: email }),
        logo: avatar(name, undefined, { isRound: type === "user" }),
      }),
  },
  {
    label: ({ console: { groups } }) => groups.members.type,
    cell: ({ type }, { messages }) => messages.console.groups.members.types[type],
  },
  {
    label: ({ console: { groups } }) => groups.members.added,
    sort: "added",
    cell: ({ addedAt }, { messages }) => relativeTime(addedAt, messages.format.day),
  },
];

const removing = (group: CountedGroup): BulkAct<ConsoleDeps> =>
  bulkAct(
    ({ console: { groups } }) => ({
      label: groups.members.remove,
      heading: ({ count }) => groups.members.removeSeveral({ count, group: group.displayName }),
      text: groups.members.removeSeveralText,
    }),
    {
      load: ({ database }: ConsoleDeps, _, { id = "" }) => findListedMember(database.query, group, id),
      isDone: (_, { isMember }) => !isMember,
      apply: async (deps, acting, { type, id }, { messages }) => {
        try {
          const remove = [{ type, id }];
          const found = await changeMembers(deps, { ...acting, id: group.id, add: [], remove });
          return found ? done("removed") : alreadyApplied;
        } catch (error) {
          if (!(error instanceof GroupConflict)) throw error;
          const { groups: text } = messages.console;
          return { kind: "refused", title: text.readOnly, text: text.readOnly };
        }
      },
    },
    ({ name }) => name,
    { isRemoval: true },
  );

/** Of a group that a connection provisions: without acts. */
export const memberList = (group: CountedGroup) => {
  const isOwn = group.source === "local";
  return {
    current: "groups",
    noun: "member",
    uri: (organisation, rest = "") => consolePath(organisation, `/groups/${group.id}/members${rest}`),
    texts: ({ console: { groups } }) => ({
      title: groups.members.title,
      search: groups.members.search,
      none: groups.members.none,
      noneText: groups.members.noneText,
    }),
    filters,
    sorts,
    rows: ({ deps }, { filter, page, limit }) =>
      searchMembers(deps.database.query, group, { ...toFilter(filter), page, limit }),
    count: ({ deps }, filter, max) =>
      countSearchedMembers(deps.database.query, group, { ...toFilter(filter), max }),
    columns,
    nameOf: ({ name }) => name,
    ...(isOwn && {
      rowActions: ({ id, name }, { consoleUri, messages: { console } }) =>
        rowLink({
          id: `member-remove-${id}`,
          uri: consoleUri(`/groups/${group.id}/members/${id}/remove`),
          text: console.groups.members.remove,
          label: console.groups.members.removeOf({ name }),
          isQuestion: true,
        }),
    }),
    isSelectable: () => isOwn,
    acts: { remove: removing(group) },
    findName: async ({ database }, _, id) => (await findListedMember(database.query, group, id))?.name,
    export: {
      name: "group-members",
      isPersonal: true,
      columns: {
        id: ({ id }) => id,
        type: ({ type }) => type,
        name: ({ name }) => name,
        email: ({ email }) => email ?? null,
        addedAt: ({ addedAt }) => new Date(addedAt),
      },
    },
  } satisfies MemberList;
};
