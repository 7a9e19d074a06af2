/**
 * Turns TypeBox schemas into the document's schemas. A schema with a title appears once, under `components.schemas`;
 * a union of constants becomes an `enum`, which client generators handle better.
 */
import type { JsonSchema } from "./openapi.ts";

export interface SchemaCollection {
  /** Returns the schema for the document: a `$ref` if the schema has a title. */
  add(schema: object): JsonSchema;
  /** Schemas with a title, by title. */
  readonly named: Record<string, JsonSchema>;
}

export function schemaCollection(): SchemaCollection {
  const named: Record<string, JsonSchema> = {};
  const refer = (schema: JsonSchema): JsonSchema => {
    const { title } = schema;
    const converted = mapSubschemas(schema, refer);
    if (title === undefined) return converted;
    const known = named[title];
    if (known && JSON.stringify(known) !== JSON.stringify(converted))
      throw new Error(`two schemas have the title ${title}`);
    named[title] = converted;
    return { $ref: `#/components/schemas/${title}` };
  };
  // The round trip through JSON drops TypeBox's own markers.
  return { named, add: (schema) => refer(JSON.parse(JSON.stringify(schema)) as JsonSchema) };
}

/** Applies `change` to the subschemas. */
function mapSubschemas(schema: JsonSchema, change: (schema: JsonSchema) => JsonSchema): JsonSchema {
  const { properties, items, anyOf, allOf, additionalProperties, patternProperties, ...rest } = schema;
  // TypeBox writes a record as `patternProperties`; generators expect `additionalProperties`.
  const members = additionalProperties ?? patternProperties?.["^.*$"];
  return {
    ...rest,
    ...(properties ? { properties: mapValues(properties, change) } : {}),
    ...(members === undefined
      ? {}
      : { additionalProperties: typeof members === "boolean" ? members : change(members) }),
    ...(items ? { items: change(items) } : {}),
    ...(anyOf ? convertUnion(anyOf, change) : {}),
    // The parts of `allOf` are inlined, without a reference.
    ...(allOf ? { allOf: allOf.map((part) => mapSubschemas(part, change)) } : {}),
  };
}

function convertUnion(
  choices: readonly JsonSchema[],
  change: (schema: JsonSchema) => JsonSchema,
): JsonSchema {
  const values = choices.map((choice) => choice.const);
  if (values.every((value) => typeof value === "string")) return { type: "string", enum: values };
  return { anyOf: choices.map(change) };
}

export function mapValues<From, To>(
  record: Readonly<Record<string, From>>,
  change: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, change(value)]));
}

/** Follows a `$ref`; returns any other schema unchanged. */
export function resolveReference(
  schema: JsonSchema,
  named: Readonly<Record<string, JsonSchema>>,
): JsonSchema {
  const name = schema.$ref?.split("/").at(-1);
  return (name === undefined ? undefined : named[name]) ?? schema;
}
