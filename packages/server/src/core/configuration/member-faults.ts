/**
 * Schema faults for people who edit a file by hand: all of them, in plain words, with their paths. The schema library
 * stops after a few and speaks of keywords.
 */
import type { TSchema } from "typebox";
import { Check } from "typebox/value";
import { eachOf, type Work } from "../portions.ts";
import type { FileFault } from "./organisation-file.ts";

interface Keywords {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, TSchema>>;
  readonly required?: readonly string[];
  readonly items?: TSchema;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

/** The faults of a document whose lists may be long: in pieces, an item of a list each. */
export function* documentFaults(schema: TSchema, value: unknown): Work<FileFault[]> {
  const { properties = {} } = schema as Keywords;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return memberFaults(schema, value);
  const isLong = (name: string, member: unknown): member is unknown[] => {
    const { items, maxItems = Number.POSITIVE_INFINITY } = (properties[name] ?? {}) as Keywords;
    return items !== undefined && Array.isArray(member) && member.length <= maxItems;
  };
  const lists = Object.entries(value).filter(([name, member]) => isLong(name, member));
  const emptied = Object.fromEntries(lists.map(([name]) => [name, []]));
  const faults = memberFaults(schema, { ...value, ...emptied });
  for (const [name, list] of lists as Array<[string, unknown[]]>) {
    const { items } = properties[name] as Keywords & { readonly items: TSchema };
    const at = pointer("", name);
    const ofItems = yield* eachOf(list, (item, index) =>
      memberFaults(items, item, pointer(at, String(index))),
    );
    faults.push(...ofItems.flat());
  }
  return faults;
}

/** @param path the JSON Pointer of the value */
export function memberFaults(schema: TSchema, value: unknown, path = ""): FileFault[] {
  const keywords = schema as Keywords;
  if (keywords.properties) return objectFaults(keywords, value, path);
  if (keywords.items) return listFaults(keywords.items, keywords.maxItems, value, path);
  if (isPlainText(keywords) && typeof value === "string") return [];
  // The library looks at every member before it counts them.
  const isFine = !hasTooMany(keywords, value) && Check(schema, value);
  return isFine ? [] : [{ path, message: `must be ${wanted(keywords)}` }];
}

/** Most members are: the library takes a hundred times as long to say so. */
const isPlainText = ({
  type,
  const: only,
  ...keywords
}: Keywords & { pattern?: unknown; format?: unknown }) =>
  type === "string" &&
  only === undefined &&
  keywords.enum === undefined &&
  keywords.pattern === undefined &&
  keywords.format === undefined;

const hasTooMany = ({ maxProperties }: Keywords, value: unknown): boolean =>
  maxProperties !== undefined &&
  typeof value === "object" &&
  value !== null &&
  Object.keys(value).length > maxProperties;

function objectFaults(
  { properties = {}, required = [] }: Keywords,
  value: unknown,
  path: string,
): FileFault[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return [{ path, message: "must be an object" }];
  const missing = required
    .filter((name) => !Object.hasOwn(value, name))
    .map((name) => ({ path: pointer(path, name), message: "is required" }));
  const inside = Object.entries(value).flatMap(([name, member]) => {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const at = pointer(path, name);
    return schema ? memberFaults(schema, member, at) : [{ path: at, message: "is unknown" }];
  });
  return [...missing, ...inside];
}

function listFaults(items: TSchema, max: number | undefined, value: unknown, path: string): FileFault[] {
  if (!Array.isArray(value)) return [{ path, message: "must be a list" }];
  if (max !== undefined && value.length > max) return [{ path, message: `must have at most ${max} items` }];
  return value.flatMap((item, index) => memberFaults(items, item, pointer(path, String(index))));
}

function wanted({ type, const: only, enum: choices, minimum, maximum, description }: Keywords): string {
  if (only !== undefined) return JSON.stringify(only);
  if (choices) return `one of ${choices.join(", ")}`;
  if (description !== undefined) return description;
  if (type === "boolean") return "true or false";
  if (type === "integer" && minimum !== undefined) return `an integer from ${minimum} to ${maximum}`;
  if (type === "integer") return "an integer";
  return type === "string" ? "a string" : "an object";
}

/** RFC 6901 §3. An unknown name may be as long as the file. */
export const pointer = (path: string, name: string): string =>
  `${path}/${name.slice(0, 100).replaceAll("~", "~0").replaceAll("/", "~1")}`;
