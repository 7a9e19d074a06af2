/** A list that is read as a whole, because an organisation has few of its records. */
import type { Cursor } from "../../../db/keyset.ts";
import { readWireTime } from "../../../http/api/times.ts";
import type { CheckedFilter } from "./checked-filter.ts";
import type { ListFields } from "./list-fields.ts";
import type { ListPage, ListRequest } from "./list-request.ts";

type Wire = Readonly<Record<string, unknown>>;
type Scalar = string | number | boolean | null;

/** @param record a row as it is sent: the filter and the order look at its members */
export function memoryPage<R>(
  { filter, sort, after, limit, wantsTotal }: ListRequest,
  rows: readonly R[],
  { fields, record }: { readonly fields: ListFields; record(row: R): object & { readonly id: string } },
): ListPage<R> {
  const placeOf = (row: R): Cursor => {
    const wire = record(row);
    return { value: sortValue(scalarOf(wire as unknown as Wire, sort.member, fields)), id: wire.id };
  };
  const sign = sort.isDescending ? -1 : 1;
  const kept = filter ? rows.filter((row) => matches(record(row) as Wire, filter, fields)) : rows;
  const placed = kept
    .map((row) => ({ row, place: placeOf(row) }))
    .toSorted((one, other) => sign * compare(one.place, other.place));
  const rest = after ? placed.filter(({ place }) => sign * compare(place, after) > 0) : placed;
  return {
    rows: rest.slice(0, limit + 1).map(({ row }) => row),
    placeOf,
    ...(wantsTotal ? { total: kept.length } : {}),
  };
}

/** Texts in lower case, times in milliseconds; null: absent. */
function scalarOf(wire: Wire, member: string, fields: ListFields): Scalar {
  const value = Object.hasOwn(wire, member) ? wire[member] : null;
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (typeof value !== "string" || value === "") return null;
  return fields[member]?.kind === "time" ? (readWireTime(value) ?? null) : value.toLowerCase();
}

const sortValue = (value: Scalar): string | number =>
  typeof value === "boolean" ? Number(value) : (value ?? -1);

/** By code units; what a record has not comes first, as a number before every text. */
function compare(one: Cursor, other: Cursor): number {
  if (one.value === other.value) return one.id === other.id ? 0 : one.id < other.id ? -1 : 1;
  if (typeof one.value !== typeof other.value) return typeof one.value === "number" ? -1 : 1;
  return one.value < other.value ? -1 : 1;
}

function matches(wire: Wire, filter: CheckedFilter, fields: ListFields): boolean {
  switch (filter.op) {
    case "and":
      return filter.filters.every((one) => matches(wire, one, fields));
    case "or":
      return filter.filters.some((one) => matches(wire, one, fields));
    case "not":
      return !matches(wire, filter.filter, fields);
    case "pr":
      return scalarOf(wire, filter.member, fields) !== null;
    default:
      return holds(scalarOf(wire, filter.member, fields), filter.op, inLowerCase(filter.value));
  }
}

const inLowerCase = (value: string | number | boolean) =>
  typeof value === "string" ? value.toLowerCase() : value;

function holds(
  present: Scalar,
  op: Exclude<CheckedFilter["op"], "and" | "or" | "not" | "pr">,
  value: string | number | boolean,
): boolean {
  if (op === "ne") return present !== value;
  if (present === null) return false;
  switch (op) {
    case "eq":
      return present === value;
    case "co":
      return String(present).includes(String(value));
    case "sw":
      return String(present).startsWith(String(value));
    case "ew":
      return String(present).endsWith(String(value));
    case "gt":
      return present > value;
    case "ge":
      return present >= value;
    case "lt":
      return present < value;
    case "le":
      return present <= value;
  }
}
