/** The address of the list of users: what it is narrowed to, how it is sorted, and where in it a page begins. */
import { type MemberSort, memberStates } from "../../../core/users/members/members.store.ts";
import { readSearch } from "../../../page-kit/list-page.ts";
import { orderQuery, readListPlace, type Sorting } from "../../../page-kit/list-place.ts";
import { consolePath, queryString, type Visit } from "../../../page-kit/page.ts";
import { roles } from "./user-pages.ts";

export const userSorts: Readonly<Record<MemberSort, Sorting>> = {
  created: { isNumber: true, isDescending: true },
  email: { isNumber: false, isDescending: false },
};

export type UserFilters = ReturnType<typeof readUserFilters>;

export const readUserFilters = (values: ReadonlyMap<string, string>) => ({
  search: readSearch(values),
  role: roles.find((one) => one === values.get("role")),
  state: memberStates.find((one) => one === values.get("state")),
});

/** @param values of the list's query, or of one that a form gave along */
export const userListUri = ({ organisation }: Visit, values: ReadonlyMap<string, string>): string =>
  consolePath(
    organisation,
    `/users${queryString({ ...readUserFilters(values), ...orderQuery(readListPlace(values, userSorts), userSorts) })}`,
  );
