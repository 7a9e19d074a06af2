/**
 * Which JSON Schemas (2020-12) a type of authorization details may have. Whoever administers an organisation writes them, and
 * every request with such details is held against one: references stay inside and end, and its size bounds the work.
 */
import { isNestedWithin, MAX_JSON_DEPTH } from "@signet/protocol/json-depth";
import { isExactJson } from "@signet/protocol/json-exact";
import { MAX_WAYS, readPattern, TOO_MANY_WAYS } from "./pattern-rules.ts";

export interface SchemaFault {
  /** JSON Pointer within the schema. */
  readonly path: string;
  readonly message: string;
}

const MAX_SCHEMA_BYTES = 16_384;
/** Subschemas, each counted as often as references lead to it. */
const MAX_SUBSCHEMAS = 500;

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

type Json = Readonly<Record<string, unknown>>;
type Kind =
  | "schema"
  | "schemas"
  | "named"
  | "text"
  | "count"
  | "number"
  | "flag"
  | "names"
  | "any"
  | "values";

/** The keywords of 2020-12 by what they hold; others are refused, since a misspelt rule would not be kept. */
const keywords: Readonly<Record<string, Kind>> = {
  ...ofKind(
    "schema",
    "additionalProperties items contains not if then else propertyNames unevaluatedItems unevaluatedProperties",
  ),
  ...ofKind("schemas", "allOf anyOf oneOf prefixItems"),
  ...ofKind("named", "properties patternProperties dependentSchemas $defs"),
  ...ofKind("text", "$schema $ref $comment title description pattern format"),
  ...ofKind(
    "count",
    "maxLength minLength maxItems minItems maxContains minContains maxProperties minProperties",
  ),
  ...ofKind("number", "multipleOf maximum exclusiveMaximum minimum exclusiveMinimum"),
  ...ofKind("flag", "uniqueItems deprecated readOnly writeOnly"),
  ...ofKind("names", "required"),
  ...ofKind("values", "enum examples"),
  ...ofKind("any", "type const default dependentRequired"),
};

function ofKind(kind: Kind, names: string): Readonly<Record<string, Kind>> {
  return Object.fromEntries(names.split(" ").map((name) => [name, kind]));
}

const types = ["null", "boolean", "object", "array", "number", "integer", "string"];

/** @returns the first faults; none when the schema may be used */
export function schemaFaults(schema: unknown): SchemaFault[] {
  if (!isObject(schema)) return [{ path: "", message: "must be a JSON Schema as an object" }];
  if (!isNestedWithin(schema) || !isExactJson(schema))
    return [{ path: "", message: `must be valid JSON, nested at most ${MAX_JSON_DEPTH} deep` }];
  if (Buffer.byteLength(JSON.stringify(schema)) > MAX_SCHEMA_BYTES)
    return [{ path: "", message: `must be at most ${MAX_SCHEMA_BYTES} bytes` }];
  const faults = keywordFaults(schema, "");
  if (faults.length > 0) return faults.slice(0, 20);
  return expansionFaults(schema);
}

function keywordFaults(schema: unknown, path: string): SchemaFault[] {
  if (typeof schema === "boolean") return [];
  if (!isObject(schema)) return [{ path, message: "must be a schema: an object, true or false" }];
  return Object.entries(schema).flatMap(([name, value]) => {
    const at = `${path}/${escaped(name)}`;
    const kind = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    if (kind === undefined) return [{ path: at, message: "is not a keyword that is supported here" }];
    return memberFaults(name, kind, value, at);
  });
}

function memberFaults(name: string, kind: Kind, value: unknown, path: string): SchemaFault[] {
  const fault = (message: string): SchemaFault[] => [{ path, message }];
  switch (kind) {
    case "schema":
      return keywordFaults(value, path);
    case "schemas":
      if (!Array.isArray(value) || value.length === 0) return fault("must be a list of schemas");
      return value.flatMap((one, index) => keywordFaults(one, `${path}/${index}`));
    case "named":
      if (!isObject(value)) return fault("must be an object of schemas");
      return Object.entries(value).flatMap(([key, one]) => [
        ...(name === "patternProperties" ? patternFaults(key, path) : []),
        ...keywordFaults(one, `${path}/${escaped(key)}`),
      ]);
    case "text":
      return typeof value === "string" ? textFaults(name, value, path) : fault("must be a text");
    case "count":
      return Number.isSafeInteger(value) && Number(value) >= 0 ? [] : fault("must be a whole number");
    case "number":
      return typeof value === "number" && (name !== "multipleOf" || value > 0)
        ? []
        : fault("must be a number");
    case "flag":
      return typeof value === "boolean" ? [] : fault("must be true or false");
    case "names":
      return isNames(value) ? [] : fault("must be a list of names");
    case "values":
      return Array.isArray(value) ? [] : fault("must be a list");
    case "any":
      return anyFaults(name, value, path);
  }
}

function anyFaults(name: string, value: unknown, path: string): SchemaFault[] {
  if (name === "type" && ![value].flat().every((one) => types.includes(String(one))))
    return [{ path, message: `must be some of ${types.join(", ")}` }];
  if (name === "dependentRequired" && !(isObject(value) && Object.values(value).every(isNames)))
    return [{ path, message: "must be an object of lists of names" }];
  return [];
}

function textFaults(name: string, value: string, path: string): SchemaFault[] {
  if (name === "pattern") return patternFaults(value, path);
  if (name === "$schema" && value !== DIALECT) return [{ path, message: `must be ${DIALECT}` }];
  // Nothing is fetched, and nothing outside can be meant.
  if (name === "$ref" && !/^#\/\$defs\/[A-Za-z0-9_.-]{1,100}$/.test(value))
    return [{ path, message: "must be a reference to a definition of the same schema: #/$defs/NAME" }];
  return [];
}

function patternFaults(pattern: string, path: string): SchemaFault[] {
  const read = readPattern(pattern);
  return "fault" in read ? [{ path, message: read.fault }] : [];
}

/** References that end: nothing that could run in a circle, or double with each step. */
function expansionFaults(root: Json): SchemaFault[] {
  const definitions = isObject(root["$defs"]) ? root["$defs"] : {};
  let subschemas = 0;
  let ways = 0;
  const open: string[] = [];
  const walk = (schema: unknown): string | undefined => {
    if (!isObject(schema)) return undefined;
    if (++subschemas > MAX_SUBSCHEMAS)
      return `has more than ${MAX_SUBSCHEMAS} subschemas, with what is referred to`;
    ways += patternsOf(schema).reduce((sum, pattern) => sum + waysOf(pattern), 0);
    if (ways > MAX_WAYS) return TOO_MANY_WAYS;
    for (const [name, value] of Object.entries(schema)) {
      const fault = name === "$ref" ? follow(String(value)) : firstFault(subschemasOf(name, value), walk);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const follow = (reference: string): string | undefined => {
    const name = reference.slice("#/$defs/".length);
    if (!Object.hasOwn(definitions, name)) return `refers to ${reference}, which is not there`;
    if (open.includes(name)) return `refers in a circle to ${reference}`;
    open.push(name);
    const fault = walk(definitions[name]);
    open.pop();
    return fault;
  };
  // Each definition too: what nothing refers to must still end.
  const message = walk(root);
  return message === undefined ? [] : [{ path: "", message }];
}

const patternsOf = ({ pattern, patternProperties }: Json): string[] => [
  ...(typeof pattern === "string" ? [pattern] : []),
  ...Object.keys(patternProperties ?? {}),
];

function waysOf(pattern: string): number {
  const read = readPattern(pattern);
  return "ways" in read ? read.ways : Number.POSITIVE_INFINITY;
}

function subschemasOf(name: string, value: unknown): readonly unknown[] {
  const kind = keywords[name];
  if (kind === "schema") return [value];
  if (kind === "schemas") return value as unknown[];
  return kind === "named" ? Object.values(value as Json) : [];
}

function firstFault(
  values: readonly unknown[],
  faultOf: (value: unknown) => string | undefined,
): string | undefined {
  for (const value of values) {
    const fault = faultOf(value);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.every((one) => typeof one === "string");

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
