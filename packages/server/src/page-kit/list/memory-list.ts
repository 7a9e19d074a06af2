/** The source of a list that is read as a whole, because an organisation has few of its records. */
import type { Cursor } from "../../db/keyset.ts";
import { inListOrder, readsDescending } from "../../db/keyset.ts";
import type { Choices, Filter, ListContext, ListSort, ListSource } from "./list.ts";

export function memoryList<
  Deps,
  Row extends { readonly id: string },
  Sort extends string,
  C extends Choices,
>({
  sorts,
  load,
  matches,
}: {
  readonly sorts: { readonly [Name in Sort]: ListSort<Row> };
  load(context: ListContext<Deps>): Promise<readonly Row[]>;
  matches(row: Row, filter: Filter<C>, context: ListContext<Deps>): boolean;
}): ListSource<Deps, Row, Sort, C> {
  const matching = async (context: ListContext<Deps>, filter: Filter<C>) =>
    (await load(context)).filter((row) => matches(row, filter, context));
  return {
    rows: async (context, { filter, page, limit }) => {
      const cursor = (row: Row): Cursor => ({ value: sorts[page.sort].value(row), id: row.id });
      const from = page.before ?? page.after;
      const sign = readsDescending(page) ? -1 : 1;
      const sorted = (await matching(context, filter))
        .filter((row) => from === undefined || sign * compare(cursor(row), from) > 0)
        .toSorted((one, other) => sign * compare(cursor(one), cursor(other)));
      return inListOrder(page, sorted.slice(0, limit));
    },
    count: async (context, filter, max) => Math.min(max, (await matching(context, filter)).length),
  };
}

/** By code units, as a cursor is compared with whatever the language: the order is the same on every node. */
function compare(one: Cursor, other: Cursor): number {
  if (one.value !== other.value) return one.value < other.value ? -1 : 1;
  return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
}

/** Whether the words of a search occur in one of the texts. */
export const mentions = (search: string, texts: readonly string[]): boolean =>
  texts.join("\n").toLowerCase().includes(search.toLowerCase());
