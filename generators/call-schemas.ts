/** Of an OpenAPI document: the records that some calls need, and a table of these calls written as one more record. */
import type {
  JsonSchema,
  OpenApiDocument,
  OpenApiOperation,
} from "../packages/server/src/features/api-reference/openapi.ts";

export interface CallTable {
  /** @param route e.g. `GET /legacy/api/oauth/clients/{clientId}` */
  isIn(route: string): boolean;
}

type Schemas = Readonly<Record<string, JsonSchema>>;

/** The name of the table among the schemas. */
export const CALLS = "Calls";

/** By name, in its order; formats, titles and examples are left out, as no type says them. */
export function callSchemas(document: OpenApiDocument, { isIn }: CallTable): Record<string, unknown> {
  const calls: Record<string, JsonSchema> = {};
  for (const [address, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      const route = `${method.toUpperCase()} ${address}`;
      if (isIn(route)) calls[route] = callOf(operation);
    }
  const used: Record<string, JsonSchema> = {};
  collect(calls, document.components.schemas, used);
  const records = Object.entries(used)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => [name, plain(asExtension(name, schema, used), used, true)]);
  const table = { type: "object", properties: plain(calls, used), required: Object.keys(calls) };
  return { ...(Object.fromEntries(records) as object), [CALLS]: table };
}

/**
 * What a call takes and what it answers. Parameters of the path are read from the route. A list has `item` in the place
 * of `answer`: its pages, `limit` and `cursor` are the same everywhere.
 */
function callOf({ parameters = [], requestBody, responses }: OpenApiOperation): JsonSchema {
  const good = Object.entries(responses).find(([status]) => status.startsWith("2"))?.[1];
  const answer = good && !("$ref" in good) ? good.content?.["application/json"]?.schema : undefined;
  const item = answer?.properties?.["nextCursor"] && answer.properties["items"]?.items;
  const isAsked = (name: string) => !(item && ["limit", "cursor"].includes(name));
  const inPath = parameters.filter((one) => one.in === "path").map(({ name }) => name);
  const inQuery = parameters.filter((one) => one.in === "query" && isAsked(one.name));
  const query = queryOf(inQuery.filter(({ name }) => !inPath.includes(name)));
  const body = requestBody?.content["application/json"]?.schema;
  return {
    type: "object",
    properties: {
      ...(query ? { query } : {}),
      ...(body ? { body } : {}),
      ...(item ? { item } : answer ? { answer } : {}),
    },
    required: [
      ...(query?.required?.length ? ["query"] : []),
      ...(requestBody?.required ? ["body"] : []),
      ...(item ? ["item"] : answer ? ["answer"] : []),
    ],
  };
}

function queryOf(parameters: NonNullable<OpenApiOperation["parameters"]>): JsonSchema | undefined {
  if (parameters.length === 0) return undefined;
  const described = parameters.map(({ name, schema, description }) => [
    name,
    description === undefined ? schema : { ...schema, description },
  ]);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(described) as Schemas, required };
}

function collect(value: unknown, all: Schemas, used: Record<string, JsonSchema>): void {
  for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = all[name];
    if (used[name] || !schema) continue;
    used[name] = schema;
    collect(schema, all, used);
  }
}

/** A record that has all members of another one, and more, is written as that one with more. */
function asExtension(name: string, schema: JsonSchema, used: Schemas): JsonSchema {
  const { properties = {}, required = [] } = schema;
  const size = (one: JsonSchema) => Object.keys(one.properties ?? {}).length;
  const isLess = (base: JsonSchema) =>
    size(base) < size(schema) || required.some((one) => !base.required?.includes(one));
  const isBase = ([other, base]: [string, JsonSchema]) => {
    const members = Object.entries(base.properties ?? {});
    return (
      other !== name &&
      members.length > 2 &&
      isLess(base) &&
      members.every(([member, value]) => JSON.stringify(properties[member]) === JSON.stringify(value)) &&
      (base.required ?? []).every((member) => required.includes(member))
    );
  };
  const bases = Object.entries(used).filter(isBase);
  const [found] = bases.sort(([, a], [, b]) => size(b) - size(a));
  if (!found) return schema;
  const [base, { properties: known = {}, required: demanded = [] }] = found;
  const isMore = ([member]: [string, JsonSchema]) =>
    !Object.hasOwn(known, member) || (required.includes(member) && !demanded.includes(member));
  const more = Object.fromEntries(Object.entries(properties).filter(isMore));
  const inMore = required.filter((member) => Object.hasOwn(more, member));
  const rest = { type: "object", properties: more, required: inMore };
  return { allOf: [{ $ref: `#/components/schemas/${base}` }, rest] };
}

/** Without what a type does not say; a record that stands in the middle of another one is referred to by its name. */
function plain(value: unknown, used: Schemas, isNamed = false): unknown {
  if (Array.isArray(value)) return value.map((one) => plain(one, used));
  if (typeof value !== "object" || value === null) return value;
  const { title, format, example, examples, additionalProperties, ...rest } = value as JsonSchema & {
    example?: unknown;
  };
  if (title !== undefined && !isNamed && JSON.stringify(used[title]) === JSON.stringify(value))
    return { $ref: `#/components/schemas/${title}` };
  const kept = typeof additionalProperties === "object" ? { ...rest, additionalProperties } : rest;
  return Object.fromEntries(Object.entries(kept).map(([name, one]) => [name, plain(one, used)]));
}
