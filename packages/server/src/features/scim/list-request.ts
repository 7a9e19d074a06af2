/** Filters and pages (RFC 7644 §3.4.2, cursors RFC 9865). */
import { sha256Base64url } from "@signet/protocol/hash";
import { fault, type ResourceType, sameName } from "@signet/protocol/scim/attribute";
import { parseFilter } from "@signet/protocol/scim/filter";
import { type AttributePath, type Filter, InvalidFilter } from "@signet/protocol/scim/filter-syntax";
import { type Matcher, matcherOf } from "@signet/protocol/scim/match";

const MAX_FILTER = 2_000;
const DEFAULT_COUNT = 100;
const MAX_COUNT = 200;

export interface ListRequest {
  readonly filter: Filter | undefined;
  readonly matches: Matcher | undefined;
  /** From 0. */
  readonly offset: number;
  readonly count: number;
  /** Undefined: pages by index. */
  readonly cursor: { readonly after: string | undefined } | undefined;
  /** Binds a cursor to what it is a page of. */
  readonly binding: string;
}

/** Parameters of a query or members of a search; everything is optional. */
export interface ListParameters {
  readonly filter?: unknown;
  readonly startIndex?: unknown;
  readonly count?: unknown;
  readonly cursor?: unknown;
}

/** @throws ScimFault */
export function readListRequest(type: ResourceType, parameters: ListParameters): ListRequest {
  const text = parameters.filter;
  if (text !== undefined && typeof text !== "string") throw fault("invalidFilter", "filter is a string.");
  const filter = text === undefined || text.trim() === "" ? undefined : readFilter(text);
  const binding = sha256Base64url(`${type.name} ${text ?? ""}`).slice(0, 16);
  const { cursor } = parameters;
  return {
    ...{ filter, matches: filter && matcherOf(type, filter), binding },
    offset: Math.max(1, readNumber("startIndex", parameters.startIndex, 1)) - 1,
    count: Math.min(MAX_COUNT, Math.max(0, readNumber("count", parameters.count, DEFAULT_COUNT))),
    cursor: cursor === undefined ? undefined : { after: readCursor(cursor, binding) },
  };
}

function readFilter(text: string): Filter {
  try {
    return parseFilter(text, MAX_FILTER);
  } catch (error) {
    throw error instanceof InvalidFilter ? fault("invalidFilter", `${error.message}.`) : error;
  }
}

function readNumber(name: string, value: unknown, absent: number): number {
  if (value === undefined || value === "") return absent;
  const number = typeof value === "string" && /^-?\d{1,9}$/.test(value) ? Number(value) : value;
  if (typeof number !== "number" || !Number.isInteger(number))
    throw fault("invalidValue", `${name} is a whole number.`);
  return number;
}

/** The id of the last resource, bound to the list. It opens nothing that the list would not show. */
export const makeCursor = (binding: string, after: string): string =>
  Buffer.from(`${binding} ${after}`).toString("base64url");

function readCursor(cursor: unknown, binding: string): string | undefined {
  if (cursor === "") return undefined;
  const [owner, after = ""] =
    typeof cursor === "string" ? Buffer.from(cursor, "base64url").toString().split(" ") : [];
  if (owner !== binding || !/^[0-9a-f-]{36}$/.test(after))
    throw fault("invalidCursor", "The cursor is not one of this list.");
  return after;
}

/** What every resource that matches has to have: comparisons for equality that are joined by `and` alone. */
export function equalities(filter: Filter | undefined): Array<{ path: AttributePath; value: string }> {
  if (filter === undefined) return [];
  if (filter.op === "and") return filter.filters.flatMap(equalities);
  if (filter.op === "eq" && typeof filter.value === "string")
    return [{ path: filter.path, value: filter.value }];
  if (filter.op !== "some") return [];
  const { path } = filter;
  return equalities(filter.filter).map((one) => ({
    path: { ...path, sub: one.path.name },
    value: one.value,
  }));
}

/** Whether a path is the resource's own attribute of that name, or its value. */
export const isPathOf = (type: ResourceType, path: AttributePath, name: string): boolean =>
  (path.urn === undefined || sameName(path.urn, type.core.id)) &&
  sameName(path.name, name) &&
  (path.sub === undefined || sameName(path.sub, "value"));
