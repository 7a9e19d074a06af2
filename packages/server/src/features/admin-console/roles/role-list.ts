/** The roles of an organisation as a list, and those of an application on its tab. */
import { searchWords } from "../../../core/users/members/members.store.ts";
import { buttonLink } from "../../../html/components/button.ts";
import { relativeTime } from "../../../html/components/relative-time.ts";
import { nameCell } from "../../../html/components/table.ts";
import { html, linkAddress } from "../../../html/html.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { Choices, Filter, List, ListColumn, ListExport, ListSort } from "../../../page-kit/list/list.ts";
import { consolePath, queryString } from "../../../page-kit/page.ts";
import { deletion } from "./role.route.ts";
import {
  countSearchedRoles,
  type ListedRole,
  type RoleFilter,
  type RoleSort,
  searchRoles,
} from "./role-list.store.ts";
import { type RolesDeps, roleName } from "./role-pages.ts";

const owners = ["application", "organisation"] as const;

type RoleChoices = { of: (typeof owners)[number] };

type RoleColumn = ListColumn<ListedRole, RoleSort, RoleChoices>;

export const roleSorts: Readonly<Record<RoleSort, ListSort<ListedRole>>> = {
  name: { isNumber: false, isDescending: false, value: ({ nameOrder }) => nameOrder },
  created: { isNumber: true, isDescending: true, value: ({ createdAt }) => createdAt },
};

const filters: List<RolesDeps, ListedRole, RoleSort, RoleChoices>["filters"] = {
  of: {
    label: ({ console: { roles } }) => roles.of,
    any: ({ console: { roles } }) => roles.anyOwner,
    choices: owners,
    names: ({ console: { roles } }) => roles.owners,
  },
};

export const nameColumn: RoleColumn = {
  label: ({ console: { roles } }) => roles.role,
  sort: "name",
  cell: (role, { consoleUri, messages }) =>
    nameCell({
      name: roleName(role, messages),
      uri: consoleUri(`/roles/${role.id}`),
      tag: role.builtIn ? messages.console.roles.builtIn.tag : undefined,
      note: html`<code>${role.key}</code>`,
    }),
};

/** Whose role it is. */
export const ownerColumn: RoleColumn = {
  label: ({ console: { roles } }) => roles.of,
  cell: ({ application }, { consoleUri, messages: { console } }) =>
    application
      ? html`<a href="${linkAddress(consoleUri(`/applications/${application.id}/roles`))}"><bdi>${application.name}</bdi></a>`
      : console.roles.owners.organisation,
};

export const permissionsColumn: RoleColumn = {
  label: ({ console: { roles } }) => roles.permissions,
  // What a built-in role allows is no list of permissions.
  cell: ({ permissions, builtIn }, { messages }) =>
    builtIn ? undefined : messages.console.roles.permissionCount({ count: permissions.length }),
};

const otherColumns: readonly RoleColumn[] = [
  permissionsColumn,
  {
    label: ({ console: { roles } }) => roles.assignments.title,
    cell: ({ assignments, builtIn }, { messages: { console } }) =>
      builtIn ? console.roles.builtIn.given : console.roles.assignmentCount({ count: assignments }),
  },
  {
    label: ({ console: { roles } }) => roles.created,
    sort: "created",
    cell: ({ createdAt }, { messages }) => relativeTime(createdAt, messages.format.day),
  },
];

const file: ListExport<ListedRole> = {
  name: "roles",
  columns: {
    id: ({ id }) => id,
    application: ({ application }) => application?.name ?? null,
    applicationId: ({ application }) => application?.id ?? null,
    key: ({ key }) => key,
    name: ({ name }) => name,
    description: ({ description }) => description,
    permissions: ({ permissions }) => permissions.join(" "),
    builtIn: ({ builtIn }) => builtIn,
    assignments: ({ assignments }) => assignments,
    createdAt: ({ createdAt }) => new Date(createdAt),
  },
};

type RoleList<C extends Choices> = List<RolesDeps, ListedRole, RoleSort, C>;

/** What every list of roles has. @param find a role that may be deleted from there */
const roles = <C extends Choices>(
  path: `/${string}`,
  narrow: (filter: Filter<C>) => RoleFilter,
  find: typeof deletion.load = deletion.load,
): Pick<RoleList<C>, "noun" | "sorts" | "uri" | "rows" | "count" | "nameOf" | "isSelectable"> &
  Required<Pick<RoleList<C>, "acts" | "findName" | "export">> => ({
  noun: "role",
  sorts: roleSorts,
  uri: (organisation, rest = "") => consolePath(organisation, `${path}${rest}`),
  rows: ({ deps, organisation }, { filter, page, limit }) =>
    searchRoles(deps.database.query, organisation.id, { ...narrow(filter), page, limit }),
  count: ({ deps, organisation }, filter, max) =>
    countSearchedRoles(deps.database.query, organisation.id, { ...narrow(filter), max }),
  nameOf: ({ name }) => name,
  isSelectable: ({ builtIn }) => !builtIn,
  acts: {
    remove: bulkAct(
      ({ console }) => console.roles.bulk.remove,
      { ...deletion, load: find },
      ({ name }) => name,
      { isPermanent: true },
    ),
  },
  findName: async (deps, organisation, id) => (await find(deps, organisation, { id }))?.name,
  export: file,
});

export const roleList = {
  ...roles<RoleChoices>("/roles", ({ search, of }) => ({ words: searchWords(search), of })),
  current: "roles",
  savedAs: "roles",
  texts: ({ console: { frame, roles: text } }, { name: organisation }) => ({
    title: frame.pages.roles,
    summary: text.summary({ organisation }),
    search: text.search,
  }),
  filters,
  columns: [nameColumn, ownerColumn, ...otherColumns],
  create: ({ consoleUri, messages: { console } }) =>
    buttonLink({ id: "role-new", uri: consoleUri("/roles/new"), label: console.roles.make, kind: "primary" }),
  beside: ({ consoleUri, messages: { console } }) =>
    buttonLink({
      id: "roles-why",
      uri: consoleUri("/access-check"),
      label: console.roles.why.open,
      kind: "quiet",
    }),
  done: ({ console: { roles: text } }) => ({ deleted: text.done.deleted }),
} satisfies List<RolesDeps, ListedRole, RoleSort, RoleChoices>;

/** @param application whose tab it is on */
export const applicationRoleList = ({ id, name }: { readonly id: string; readonly name: string }) =>
  ({
    ...roles(
      `/applications/${id}/roles`,
      ({ search }) => ({
        words: searchWords(search),
        applicationId: id,
      }),
      async (...named) => {
        const role = await deletion.load(...named);
        return role?.applicationId === id ? role : undefined;
      },
    ),
    current: "applications",
    texts: ({ console: { roles: text } }) => ({
      title: text.title,
      search: text.searchOwn,
      none: text.none,
      noneText: text.text,
    }),
    filters: {},
    columns: [nameColumn, ...otherColumns],
    export: { ...file, name: "application-roles" },
    emptyAction: ({ consoleUri, messages: { console } }) =>
      buttonLink({
        id: "role-new",
        uri: consoleUri(`/applications/${id}/roles/new`),
        label: console.roles.make,
        kind: "primary",
      }),
    create: ({ consoleUri, messages: { console } }) =>
      html`<div class="row-actions">${[
        buttonLink({
          id: "roles-why",
          uri: consoleUri(`/access-check${queryString({ application: name })}`),
          label: console.roles.why.open,
        }),
        buttonLink({
          id: "role-new",
          uri: consoleUri(`/applications/${id}/roles/new`),
          label: console.roles.make,
          kind: "primary",
        }),
      ]}</div>`,
  }) satisfies List<RolesDeps, ListedRole, RoleSort>;
