/** `filter` (api-v1.md, "Every resource"): the grammar of RFC 7644 §3.4.2.2 over the scalar members of a record. */
import { parseFilter } from "@signet/protocol/scim/filter";
import { type CompareOperator, type Filter, InvalidFilter } from "@signet/protocol/scim/filter-syntax";
import { invalid } from "../../../http/api/api-error.ts";
import { readWireTime } from "../../../http/api/times.ts";
import type { FieldKind, ListFields } from "./list-fields.ts";

export const MAX_FILTER_LETTERS = 1_000;

/** A filter whose members exist, with values of their kind; times in milliseconds. */
export type CheckedFilter =
  | { readonly op: "and" | "or"; readonly filters: readonly CheckedFilter[] }
  | { readonly op: "not"; readonly filter: CheckedFilter }
  | { readonly op: "pr"; readonly member: string }
  | { readonly op: CompareOperator; readonly member: string; readonly value: string | number | boolean };

/** @throws ApiError 422 */
export function readFilter(text: string, fields: ListFields): CheckedFilter {
  let filter: Filter;
  try {
    filter = parseFilter(text, MAX_FILTER_LETTERS);
  } catch (error) {
    throw error instanceof InvalidFilter ? refused(error.message) : error;
  }
  return checked(filter, fields);
}

const refused = (message: string) => invalid([{ path: "?filter", message }]);

type Compared = Extract<Filter, { readonly value: unknown }>;

function checked(node: Filter, fields: ListFields): CheckedFilter {
  switch (node.op) {
    case "and":
    case "or":
      return { op: node.op, filters: node.filters.map((one) => checked(one, fields)) };
    case "not":
      return { op: "not", filter: checked(node.filter, fields) };
    case "some":
      throw refused(`${node.path.name} has no values to choose from`);
    case "pr":
      return { op: "pr", member: memberOf(node.path, fields) };
    default:
      return comparison(node, fields);
  }
}

/** In any case of letters, as attribute names are (§3.4.2.2). */
function memberOf({ urn, name, sub }: Compared["path"], fields: ListFields): string {
  const wanted = name.toLowerCase();
  const member = Object.keys(fields).find((one) => one.toLowerCase() === wanted);
  if (member === undefined || urn !== undefined || sub !== undefined)
    throw refused(`names no member to filter by: ${Object.keys(fields).join(", ")}`);
  return member;
}

function comparison({ op, path, value }: Compared, fields: ListFields): CheckedFilter {
  const member = memberOf(path, fields);
  const kind = fields[member]?.kind ?? "text";
  if (value === null) {
    if (op === "eq") return { op: "not", filter: { op: "pr", member } };
    if (op === "ne") return { op: "pr", member };
    throw refused(`${op} needs a value`);
  }
  if (!operators[kind].includes(op)) throw refused(`${op} does not apply to ${member}`);
  return { op, member, value: valueOfKind(kind, value, member) };
}

const equality: readonly CompareOperator[] = ["eq", "ne"];
const order: readonly CompareOperator[] = [...equality, "gt", "ge", "lt", "le"];
const operators: Readonly<Record<FieldKind, readonly CompareOperator[]>> = {
  text: [...order, "co", "sw", "ew"],
  number: order,
  time: order,
  boolean: equality,
};

function valueOfKind(kind: FieldKind, value: string | number | boolean, member: string) {
  if (kind === "text" && typeof value === "string") {
    // PostgreSQL can't compare with either.
    if (value.includes("\0") || !value.isWellFormed()) throw refused("has a character that no text has");
    return value;
  }
  if (kind === "time" && typeof value === "string") {
    const at = readWireTime(value);
    if (at !== undefined) return at;
  }
  if (kind === "boolean" && typeof value === "boolean") return value;
  if (kind === "number" && typeof value === "number" && Number.isFinite(value)) return value;
  throw refused(`${member} is compared with a ${kind === "time" ? "time of RFC 3339" : kind}`);
}
