/** Where in a sorted list a page is, as its address says it: how it is sorted, how many rows, and after or before which one. */
import { isUuid } from "@signet/protocol/hash";
import type { Cursor, KeysetPage } from "../../db/keyset.ts";

export const PAGE_SIZES = [25, 50, 100] as const;

/** Rows are counted so far: a list of millions says "more than". */
export const MAX_COUNT = 10_000;

/** A column that a list can be sorted by, and which way first. */
export interface Sorting {
  readonly isNumber: boolean;
  readonly isDescending: boolean;
}

export interface ListPlace<Sort extends string> extends KeysetPage {
  readonly sort: Sort;
  readonly size: number;
  /** The number of the first row, counted from 1: what the page before counted. */
  readonly from: number;
}

type Sorts<Sort extends string> = Readonly<Record<Sort, Sorting>>;

/** Whatever is no place begins at the beginning. @param sorts the first one is the default */
export function readListPlace<Sort extends string>(
  values: ReadonlyMap<string, string>,
  sorts: Sorts<Sort>,
): ListPlace<Sort> {
  const names = Object.keys(sorts) as Sort[];
  const [, minus, wanted] = /^(-?)(\w{1,30})$/.exec(values.get("sort") ?? "") ?? [];
  const found = names.find((name) => name === wanted);
  const sort = found ?? (names[0] as Sort);
  const isDescending = found === undefined ? sorts[sort].isDescending : minus === "-";
  const { isNumber } = sorts[sort];
  const before = readCursor(values.get("before"), isNumber);
  const after = before ? undefined : readCursor(values.get("after"), isNumber);
  const from = /^[1-9]\d{0,8}$/.test(values.get("from") ?? "") ? Number(values.get("from")) : 1;
  const size = PAGE_SIZES.find((one) => String(one) === values.get("size")) ?? PAGE_SIZES[0];
  return { sort, isDescending, size, before, after, from: before || after ? from : 1 };
}

/** @param text `1700000000000.{id}`, or the text in base64url */
function readCursor(text = "", isNumber: boolean): Cursor | undefined {
  const [, value = "", id = ""] = /^([\w-]{0,700})\.(.+)$/.exec(text) ?? [];
  if (!isUuid(id)) return undefined;
  if (isNumber) return /^\d{1,15}$/.test(value) ? { value: Number(value), id: id.toLowerCase() } : undefined;
  const decoded = Buffer.from(value, "base64url").toString("utf8");
  return decoded.includes("\0") ? undefined : { value: decoded, id: id.toLowerCase() };
}

const writeCursor = ({ value, id }: Cursor): string =>
  `${typeof value === "number" ? value : Buffer.from(value).toString("base64url")}.${id}`;

/** What of an address says how a list is sorted and how long its pages are; nothing for the defaults. */
export function orderQuery<Sort extends string>(
  { sort, isDescending, size }: Pick<ListPlace<Sort>, "sort" | "isDescending" | "size">,
  sorts: Sorts<Sort>,
): Record<string, string | undefined> {
  const isDefault = sort === Object.keys(sorts)[0] && isDescending === sorts[sort].isDescending;
  return {
    sort: isDefault ? undefined : `${isDescending ? "-" : ""}${sort}`,
    size: size === PAGE_SIZES[0] ? undefined : String(size),
  };
}

/** One page of rows, where it is, and where its links lead. */
export interface PlacedRows<Row> {
  readonly shown: readonly Row[];
  readonly range: { from: number; to: number };
  readonly newestUri: string | undefined;
  readonly previousUri: string | undefined;
  readonly olderUri: string | undefined;
  readonly sizes: { current: number; uris: ReadonlyArray<readonly [number, string]> };
  /** Links of a sortable column's header. */
  sortOf(sort: string): { uri: string; direction: "ascending" | "descending" | undefined };
}

/**
 * @param rows in the list's order, one more than a page when there are more
 * @param view.uri the list's address with these parameters besides its filters
 */
export function placeRows<Row, Sort extends string>(
  rows: readonly Row[],
  place: ListPlace<Sort>,
  view: {
    sorts: Sorts<Sort>;
    cursor: (row: Row) => Cursor;
    uri: (query: Readonly<Record<string, string | undefined>>) => string;
  },
): PlacedRows<Row> {
  const { sorts, cursor, uri } = view;
  const { size, before, after } = place;
  const isLonger = rows.length > size;
  const shown = before ? rows.slice(-size) : rows.slice(0, size);
  const hasPrevious = before ? isLonger : after !== undefined;
  const [first, last] = [shown[0], shown.at(-1)];
  const from = before && !isLonger ? 1 : place.from;
  const to = from + shown.length - 1;
  const order = orderQuery(place, sorts);
  const beside = (query: Readonly<Record<string, string | undefined>>) => uri({ ...order, ...query });
  return {
    shown,
    range: { from, to },
    newestUri: before || after ? beside({}) : undefined,
    previousUri:
      hasPrevious && first !== undefined
        ? beside({ before: writeCursor(cursor(first)), from: String(Math.max(1, from - size)) })
        : undefined,
    olderUri:
      (before !== undefined || isLonger) && last !== undefined
        ? beside({ after: writeCursor(cursor(last)), from: String(to + 1) })
        : undefined,
    sizes: {
      current: size,
      uris: PAGE_SIZES.map((one) => [one, uri(orderQuery({ ...place, size: one }, sorts))]),
    },
    sortOf: (name) => {
      const sort = name as Sort;
      const isCurrent = place.sort === sort;
      const isDescending = isCurrent ? !place.isDescending : sorts[sort].isDescending;
      return {
        uri: uri(orderQuery({ sort, isDescending, size }, sorts)),
        direction: isCurrent ? (place.isDescending ? "descending" : "ascending") : undefined,
      };
    },
  };
}

/** Counts only where the page itself doesn't say it, and no further than `MAX_COUNT`. */
export async function totalOf(
  { range, newestUri, olderUri }: Pick<PlacedRows<unknown>, "range" | "newestUri" | "olderUri">,
  count: (max: number) => Promise<number>,
): Promise<{ total: number; isMore: boolean }> {
  if (newestUri === undefined && olderUri === undefined) return { total: range.to, isMore: false };
  const counted = await count(MAX_COUNT + 1);
  return { total: Math.min(counted, MAX_COUNT), isMore: counted > MAX_COUNT };
}
