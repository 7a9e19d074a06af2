/** Saved filters of the console's lists: shared by the organisation's administrators, who work on the same records. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";
import type { CoreDeps } from "../core-deps.ts";
import { lockOrganisation } from "../organisations/organisations.store.ts";
import { emailKey } from "../users/user.ts";
import { deleteFilter, insertFilter, listFilters, type SavedFilter } from "./saved-filters.store.ts";

/** Of one list: as many as fit above it. */
export const MAX_FILTERS = 20;
const MAX_QUERY = 1_500;

export const isFilterName = (name: string): boolean =>
  name !== "" && [...name].length <= 60 && !/\p{Cc}/u.test(name);

/** @returns false when the list has as many as it may have, or the query is too long to be one of the page */
export async function saveFilter(
  { database, clock }: CoreDeps,
  filter: Pick<SavedFilter, "orgId" | "list" | "name" | "query">,
): Promise<boolean> {
  if (filter.query.length > MAX_QUERY) return false;
  return database.transaction(async (tx) => {
    // Concurrent ones are counted one after the other.
    await lockOrganisation(tx, filter.orgId);
    return insertFilter(tx, { ...filter, id: newUuid(), createdAt: clock() }, MAX_FILTERS);
  });
}

/** For an account that is deleted: no list keeps its email address. @param about.email as compared */
export async function deleteFiltersNaming(
  tx: Db,
  { orgId, email }: { readonly orgId: string; readonly email: string },
): Promise<void> {
  for (const { id, name, query } of await listFilters(tx, orgId)) {
    const texts = [name, ...new URLSearchParams(query).values()];
    if (texts.some((text) => emailKey(text).includes(email))) await deleteFilter(tx, { orgId, id });
  }
}
