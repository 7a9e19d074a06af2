/** Keyset paging: a page of a sorted list begins after a row, or ends before one, so that every page costs the same. */
import { type AliasedExpression, type RawBuilder, type SqlBool, sql } from "kysely";
import type { Db } from "./open.ts";

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

/** The rows of a page and the direction in which they are read. @param columns as of `beyondCursor` */
export const readPage = (page: KeysetPage, columns: Parameters<typeof beyondCursor>[1]) => ({
  within: beyondCursor(page, columns) ?? sql<SqlBool>`1 = 1`,
  direction: readsDescending(page) ? ("desc" as const) : ("asc" as const),
});

/** In the list's order, whichever way they were read. */
export const inListOrder = <Row>({ before }: KeysetPage, rows: readonly Row[]): Row[] =>
  before === undefined ? [...rows] : rows.toReversed();

/** @param some a query of some rows, with the limit that it counts to: a list of millions says "more than" */
export async function countRows(
  db: Db,
  some: { as(alias: "some"): AliasedExpression<object, "some"> },
): Promise<number> {
  const found = await db
    .selectFrom(some.as("some"))
    .select((eb) => eb.fn.countAll<number | string>().as("count"))
    .executeTakeFirstOrThrow();
  return Number(found.count);
}
