/** Lists that are part of another page: the search text of an address, and one page of rows. */
import { isUuid } from "@signet/protocol/hash";

export const ROWS_PER_PAGE = 25;

const MAX_SEARCH_LETTERS = 100;

export const readSearch = (values: ReadonlyMap<string, string>): string =>
  (values.get("search") ?? "").trim().slice(0, MAX_SEARCH_LETTERS);

/** The id that the page before ended with; anything else begins at the beginning. */
export const readCursor = (cursor = ""): string | undefined =>
  isUuid(cursor) ? cursor.toLowerCase() : undefined;

/**
 * @param rows one more than a page, when there are more
 * @returns the rows to show, and the last of them when more follow
 */
export function splitPage<Row>(
  rows: readonly Row[],
  size = ROWS_PER_PAGE,
): { readonly shown: readonly Row[]; readonly last: Row | undefined } {
  const shown = rows.slice(0, size);
  return { shown, last: rows.length > size ? shown.at(-1) : undefined };
}

/** Where the pager leads. @param uri the list's address, from the beginning or after a row */
export const pageUris = <Cursor>(
  uri: (after?: Cursor) => string,
  after: Cursor | undefined,
  last: Cursor | undefined,
) => ({
  newestUri: after === undefined ? undefined : uri(),
  olderUri: last === undefined ? undefined : uri(last),
});
