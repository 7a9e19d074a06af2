/** Filters and pages (RFC 7644 §3.4.2, cursors RFC 9865). */
import { sha256Base64url } from "@signet/protocol/hash";
import { fault, type ResourceType, sameName } from "@signet/protocol/scim/attribute";
import { parseFilter } from "@signet/protocol/scim/filter";
import { type AttributePath, type Filter, InvalidFilter } from "@signet/protocol/scim/filter-syntax";
import { matcherOf } from "@signet/protocol/scim/match";

const MAX_FILTER = 2_000;
const DEFAULT_COUNT = 100;
const MAX_COUNT = 200;

export interface ListRequest {
  readonly filter: Filter | undefined;
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
  // Faults are told before anything is looked up.
  if (filter) matcherOf(type, filter);
  const binding = sha256Base64url(`${type.name} ${text ?? ""}`).slice(0, 16);
  const { cursor } = parameters;
  return {
    ...{ filter, binding },
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

/** What every resource that matches fulfils: the parts that `and` alone joins. */
export function conjuncts(filter: Filter | undefined): readonly Filter[] {
  if (filter === undefined) return [];
  return filter.op === "and" ? filter.filters.flatMap(conjuncts) : [filter];
}

/** What a part is about if it compares for equality, `emails[value eq "x"]` included. */
export function equalityIn(filter: Filter): { path: AttributePath; value: string } | undefined {
  if (filter.op === "eq" && typeof filter.value === "string")
    return { path: filter.path, value: filter.value };
  if (filter.op !== "some") return undefined;
  const inner = equalityIn(filter.filter);
  return inner && { path: { ...filter.path, sub: inner.path.name }, value: inner.value };
}

/** Whether a path is the resource's own attribute of that name, or its value. */
export const isPathOf = (type: ResourceType, path: AttributePath, name: string): boolean =>
  (path.urn === undefined || sameName(path.urn, type.core.id)) &&
  sameName(path.name, name) &&
  (path.sub === undefined || sameName(path.sub, "value"));

/** Whether a filter looks at an attribute. */
export function mentions(filter: Filter, name: string): boolean {
  if ("filters" in filter) return filter.filters.some((one) => mentions(one, name));
  if (filter.op === "not") return mentions(filter.filter, name);
  return sameName(filter.path.name, name);
}
