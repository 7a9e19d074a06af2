/** A list in the database: its filter and its place as conditions with bound values, its order, and its limit. */
import { type RawBuilder, type SqlBool, sql } from "kysely";
import { isPostgres } from "../../../db/is-postgres.ts";
import { beyondCursor } from "../../../db/keyset.ts";
import type { Db } from "../../../db/open.ts";
import { containing } from "../../../db/search-text.ts";
import { FOLD_CASE } from "../../../db/sqlite/fold-case.ts";
import type { CheckedFilter } from "./checked-filter.ts";
import type { ListPage, ListRequest } from "./list-request.ts";

/** A member as a statement reads it. Text and times of any table; a time is in milliseconds. */
export type SqlField =
  | {
      readonly kind: "text" | "number" | "time";
      readonly of: RawBuilder<unknown>;
      /** What an index has in the order of the member; never null, and at most as long as a cursor may carry. */
      readonly order?: RawBuilder<unknown>;
      /** So that the list can be read in the order of an index. */
      readonly isNeverNull?: boolean;
    }
  /** Never null. */
  | { readonly kind: "boolean"; readonly is: RawBuilder<SqlBool> };
export type SqlFields = Readonly<Record<string, SqlField>>;

export interface SqlList {
  /** What the filter keeps. */
  readonly matching: RawBuilder<SqlBool>;
  /** What comes after the cursor. */
  readonly within: RawBuilder<SqlBool>;
  /** What the list is sorted by: select it as `sortValue`. */
  readonly value: RawBuilder<string | number>;
  readonly id: RawBuilder<string>;
  readonly direction: "asc" | "desc";
  /** One more than the page has. */
  readonly limit: number;
}

/** @param id the column that decides between equal values */
export function sqlList(db: Db, list: ListRequest, fields: SqlFields, id: RawBuilder<string>): SqlList {
  const { member, isDescending } = list.sort;
  const field = fields[member];
  if (!field) throw new TypeError(`the list has no member ${member}`);
  const value = sortValue(field, isPostgres(db));
  const keyset = { after: list.after, isDescending };
  return {
    matching: list.filter ? condition(list.filter, fields, isPostgres(db)) : sql<SqlBool>`1 = 1`,
    within: beyondCursor(keyset, { value, id }) ?? sql<SqlBool>`1 = 1`,
    value,
    id,
    direction: isDescending ? "desc" : "asc",
    limit: list.limit + 1,
  };
}

/** @param count counts what the filter keeps, wherever the page is */
export async function sqlPage<R extends { readonly id: string; readonly sortValue: string | number }>(
  { wantsTotal }: ListRequest,
  rows: readonly R[],
  count: () => Promise<number>,
): Promise<ListPage<R>> {
  return {
    rows,
    placeOf: ({ sortValue: value, id }) => ({ value, id }),
    ...(wantsTotal ? { total: await count() } : {}),
  };
}

/** As long as a cursor may carry. */
const SORTED_LETTERS = 100;

/** Never null: what a record has not comes first. By code points, as a cursor is compared on every node. */
function sortValue(field: SqlField, isOnPostgres: boolean): RawBuilder<string | number> {
  if (field.kind === "boolean") return sql<number>`case when ${field.is} then 1 else 0 end`;
  if (field.kind !== "text")
    return field.isNeverNull ? sql<number>`${field.of}` : sql<number>`coalesce(${field.of}, -1)`;
  if (field.order) return sql<string>`${field.order}`;
  const text = folded(sql`coalesce(${field.of}, '')`, isOnPostgres);
  const start = sql<string>`substr(${text}, 1, ${sql.lit(SORTED_LETTERS)})`;
  return isOnPostgres ? sql<string>`(${start}) collate "C"` : start;
}

/** True or false, never null: `not` would else keep neither a record nor its opposite. */
function condition(filter: CheckedFilter, fields: SqlFields, isOnPostgres: boolean): RawBuilder<SqlBool> {
  if ("filters" in filter) {
    const all = filter.filters.map((one) => condition(one, fields, isOnPostgres));
    return sql<SqlBool>`(${sql.join(all, sql.raw(` ${filter.op} `))})`;
  }
  if ("filter" in filter) return sql<SqlBool>`not (${condition(filter.filter, fields, isOnPostgres)})`;
  const field = fields[filter.member];
  if (!field) throw new TypeError(`the list has no member ${filter.member}`);
  if (!("value" in filter)) return isPresent(field);
  if (field.kind === "boolean")
    return (filter.op === "eq") === filter.value ? field.is : sql<SqlBool>`not (${field.is})`;
  const compared = comparison(field, filter.op, filter.value, isOnPostgres);
  // What is absent is not equal to anything (RFC 7644 §3.4.2.2, "ne").
  if (filter.op === "ne") return sql<SqlBool>`(${field.of} is null or ${compared})`;
  return sql<SqlBool>`(${field.of} is not null and ${compared})`;
}

/** An empty text counts as absent, as the records show it. */
function isPresent(field: SqlField): RawBuilder<SqlBool> {
  if (field.kind === "boolean") return sql<SqlBool>`1 = 1`;
  const isThere = sql<SqlBool>`${field.of} is not null`;
  return field.kind === "text" ? sql<SqlBool>`(${isThere} and ${field.of} <> '')` : isThere;
}

const signs = { eq: "=", ne: "<>", gt: ">", ge: ">=", lt: "<", le: "<=" } as const;

function comparison(
  { kind, of }: Exclude<SqlField, { readonly kind: "boolean" }>,
  op: Exclude<CheckedFilter["op"], "and" | "or" | "not" | "pr">,
  value: string | number | boolean,
  isOnPostgres: boolean,
): RawBuilder<SqlBool> {
  if (op === "co" || op === "sw" || op === "ew") {
    const anywhere = containing(String(value));
    const pattern = { co: anywhere, sw: anywhere.slice(1), ew: anywhere.slice(0, -1) }[op];
    return sql<SqlBool>`${folded(of, isOnPostgres)} like ${folded(sql`${pattern}`, isOnPostgres)} escape '!'`;
  }
  const sign = sql.raw(signs[op]);
  // A fraction is compared as such with a column of whole numbers.
  if (kind !== "text") return sql<SqlBool>`${of} ${sign} cast(${value} as double precision)`;
  return sql<SqlBool>`${folded(of, isOnPostgres)} ${sign} ${folded(sql`${value}`, isOnPostgres)}`;
}

/** The same for a column and for what it is compared with, so that a text always equals itself, whatever the database folds. */
const folded = (text: RawBuilder<unknown>, isOnPostgres: boolean): RawBuilder<string> =>
  isOnPostgres
    ? sql<string>`(lower(cast(${text} as text))) collate "C"`
    : sql<string>`${sql.raw(FOLD_CASE)}(${text})`;
