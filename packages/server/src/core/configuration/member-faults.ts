/**
 * What of a value has not the form of its schema. The schema library stops at a few faults and speaks of keywords; who
 * edits a file by hand wants all of them, in words, each with its place.
 */
import type { TSchema } from "typebox";
import { Check } from "typebox/value";
import type { FileFault } from "./organisation-file.ts";

interface Keywords {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

/** @param path where the value stands: a JSON Pointer */
export function memberFaults(schema: TSchema, value: unknown, path = ""): FileFault[] {
  const keywords = schema as Keywords;
  if (keywords.properties) return objectFaults(keywords, value, path);
  if (keywords.items) return listFaults(keywords.items, keywords.maxItems, value, path);
  return Check(schema, value) ? [] : [{ path, message: `must be ${wanted(keywords)}` }];
}

function objectFaults(
  { properties = {}, required = [] }: Keywords,
  value: unknown,
  path: string,
): FileFault[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [{ path, message: "must be an object" }];
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: pointer(path, name), message: "is missing" }));
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = pointer(path, name);
    return schema ? memberFaults(schema, member, at) : [{ path: at, message: "is not known here" }];
  });
  return [...missing, ...inside];
}

function listFaults(items: TSchema, most: number | undefined, value: unknown, path: string): FileFault[] {
  if (!Array.isArray(value)) return [{ path, message: "must be a list" }];
  if (most !== undefined && value.length > most)
    return [{ path, message: `must have at most ${most} items` }];
  return value.flatMap((item, index) => memberFaults(items, item, pointer(path, String(index))));
}

function wanted({ type, const: only, enum: choices, minimum, maximum, description }: Keywords): string {
  if (only !== undefined) return JSON.stringify(only);
  if (choices) return `one of ${choices.join(", ")}`;
  if (description !== undefined) return description;
  if (type === "boolean") return "true or false";
  if (type === "integer" && minimum !== undefined) return `a whole number from ${minimum} to ${maximum}`;
  if (type === "integer") return "a whole number";
  return type === "string" ? "a text" : "an object";
}

/** RFC 6901 §3. A name that somebody made up may be as long as the file. */
export const pointer = (path: string, name: string): string =>
  `${path}/${name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
