/** The roles that a user or a group could be given, as a list: ticked ones are assigned. */

import { assignRole } from "../../../core/roles/assignments.ts";
import { InvalidRole, RoleConflict } from "../../../core/roles/role.ts";
import { searchWords } from "../../../core/users/members/members.store.ts";
import { alreadyApplied, done } from "../../../page-kit/confirmation.ts";
import { bulkAct } from "../../../page-kit/list/bulk-act.ts";
import type { List } from "../../../page-kit/list/list.ts";
import { consolePath } from "../../../page-kit/page.ts";
import type { Receiver } from "../choice-list.ts";
import { countSearchedRoles, type ListedRole, type RoleSort, searchRoles } from "./role-list.store.ts";
import { nameColumn, ownerColumn, permissionsColumn, roleSorts } from "./role-list.ts";
import { type RolesDeps, rolePages } from "./role-pages.ts";

export const assignableRoles = (receiver: Receiver) => {
  const { subjectType, subjectId, name, current, path } = receiver;
  const narrow = (search: string) => ({
    words: searchWords(search),
    assignableTo: { subjectType, subjectId },
  });
  return {
    current,
    noun: "role",
    uri: (organisation, rest = "") => consolePath(organisation, `${path}/roles/add${rest}`),
    texts: ({ console: { roles: text } }) => ({
      title: text.give.title({ name }),
      search: text.search,
      none: text.give.none,
      noneText: text.give.noneText,
    }),
    filters: {},
    sorts: roleSorts,
    rows: ({ deps, organisation }, { filter, page, limit }) =>
      searchRoles(deps.database.query, organisation.id, { ...narrow(filter.search), page, limit }),
    count: ({ deps, organisation }, filter, max) =>
      countSearchedRoles(deps.database.query, organisation.id, { ...narrow(filter.search), max }),
    columns: [nameColumn, ownerColumn, permissionsColumn],
    nameOf: ({ name: role }) => role,
    acts: {
      assign: bulkAct(
        ({ console: { roles: text } }) => ({
          label: text.assignments.assign,
          heading: ({ count }) => text.give.heading({ count, name }),
          text: text.give.text,
        }),
        {
          load: async (deps: RolesDeps, organisation, params) => {
            const role = await rolePages.find(deps, organisation, params);
            return role?.builtIn ? undefined : role;
          },
          apply: async (deps, acting, { id: roleId }) => {
            try {
              await assignRole(deps, { ...acting, subjectType, subjectId, role: { roleId } });
              return done("assigned");
            } catch (error) {
              // Meanwhile given, or one of the two deleted.
              if (error instanceof RoleConflict || error instanceof InvalidRole) return alreadyApplied;
              throw error;
            }
          },
        },
        (role) => role.name,
        { isHarmless: true },
      ),
    },
    findName: async (deps, organisation, id) => (await rolePages.find(deps, organisation, { id }))?.name,
  } satisfies List<RolesDeps, ListedRole, RoleSort>;
};
