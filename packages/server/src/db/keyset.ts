/** Keyset paging: a page of a sorted list begins after a row, or ends before one, so that every page costs the same. */
import { type RawBuilder, type SqlBool, sql } from "kysely";

/** A row's place in a sorted list: the value that the list is sorted by, and the id that decides between equal ones. */
export interface Cursor {
  readonly value: string | number;
  readonly id: string;
}

export interface KeysetPage {
  readonly after?: Cursor | undefined;
  /** The rows before it; `after` is ignored. */
  readonly before?: Cursor | undefined;
  readonly isDescending: boolean;
}

/** The direction in which the database reads: backwards for a page before a row. */
export const readsDescending = ({ before, isDescending }: KeysetPage): boolean =>
  (before !== undefined) !== isDescending;

/**
 * Rows on the page's side of its cursor.
 * @param columns what the list is sorted by, and the id; written as in the index, or it isn't used
 */
export function beyondCursor(
  page: KeysetPage,
  columns: { value: RawBuilder<unknown>; id: RawBuilder<unknown> },
): RawBuilder<SqlBool> | undefined {
  const cursor = page.before ?? page.after;
  if (!cursor) return undefined;
  const compare = sql.raw(readsDescending(page) ? "<" : ">");
  return sql<SqlBool>`(${columns.value}, ${columns.id}) ${compare} (${cursor.value}, ${cursor.id})`;
}

/** In the list's order, whichever way they were read. */
export const inListOrder = <Row>({ before }: KeysetPage, rows: readonly Row[]): Row[] =>
  before === undefined ? [...rows] : rows.toReversed();
