/**
 * Schemas as the document shows them. One with a title is written once, under `components.schemas`; a choice of constants
 * becomes an enumeration, which people and generators read more easily.
 */
import type { JsonSchema } from "./openapi.ts";

export interface SchemaCollection {
  /** The schema as it stands in the document: a reference, when it has a title. */
  add(schema: object): JsonSchema;
  /** All that have a title, by it. */
  readonly named: Record<string, JsonSchema>;
}

export function schemaCollection(): SchemaCollection {
  const named: Record<string, JsonSchema> = {};
  const refer = (schema: JsonSchema): JsonSchema => {
    const { title } = schema;
    const shown = inside(schema, refer);
    if (title === undefined) return shown;
    const known = named[title];
    if (known && JSON.stringify(known) !== JSON.stringify(shown))
      throw new Error(`two schemas are called ${title}`);
    named[title] = shown;
    return { $ref: `#/components/schemas/${title}` };
  };
  // What is not JSON about a schema (marks of the library that made it) stays behind.
  return { named, add: (schema) => refer(JSON.parse(JSON.stringify(schema)) as JsonSchema) };
}

/** The same schema with `change` applied to those in it. */
function inside(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf, allOf, additionalProperties, patternProperties, ...rest } = schema;
  // A record of anything: said as most readers of schemas expect it.
  const members = additionalProperties ?? patternProperties?.["^.*$"];
  return {
    ...rest,
    ...(properties ? { properties: mapValues(properties, change) } : {}),
    ...(members === undefined
      ? {}
      : { additionalProperties: typeof members === "boolean" ? members : change(members) }),
    ...(items ? { items: change(items) } : {}),
    ...(anyOf ? oneOf(anyOf, change) : {}),
    // The parts of a whole have no name of their own.
    ...(allOf ? { allOf: allOf.map((part) => inside(part, change)) } : {}),
  };
}

function oneOf(choices: readonly JsonSchema[], change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const values = choices.map((choice) => choice.const);
  if (values.every((value) => typeof value === "string")) return { type: "string", enum: values };
  return { anyOf: choices.map(change) };
}

/** The same members with other values. */
export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** The schema itself, or the one that it refers to. */
export function resolved(schema: JsonSchema, named: Readonly<Record<string, JsonSchema>>): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return (name === undefined ? undefined : named[name]) ?? schema;
}
