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
  const table = {
    type: "object",
    properties: plain(withoutRepeats(calls), used),
    required: Object.keys(calls),
  };
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
    { ...inOneLine(schema), ...(description === undefined ? {} : { description }) },
  ]);
  const required = parameters.filter((one) => one.required).map(({ name }) => name);
  return { type: "object", properties: Object.fromEntries(described) as Schemas, required };
}

/** What a list is sorted by, each member in both directions. */
function inOneLine(schema: JsonSchema): JsonSchema {
  const values = (schema.enum ?? []).filter((value) => value !== "");
  const members = values.filter((value) => values.includes(`-${value}`)).map((name) => JSON.stringify(name));
  if (members.length < 2 || values.length !== 2 * members.length) return schema;
  return typeText(`\`\${"" | "-"}\${${members.join(" | ")}}\``);
}

function collect(value: unknown, all: Schemas, used: Record<string, JsonSchema>): void {
  for (const [, name = ""] of JSON.stringify(value).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
    const schema = all[name];
    if (used[name] || !schema) continue;
    used[name] = schema;
    collect(schema, all, used);
  }
}

/** A schema that is written as this TypeScript type: see `readable` in management-types.ts. */
const typeText = (text: string): JsonSchema => ({ const: `«${text}»` }) as JsonSchema;

interface Extension {
  readonly base: JsonSchema;
  /** The members that stay to be written. */
  readonly more: Schemas;
}

const sizeOf = ({ properties = {} }: JsonSchema): number => Object.keys(properties).length;

/** A record that has all members of another one, and more, is written as that one with more. */
function asExtension(name: string, schema: JsonSchema, used: Schemas): JsonSchema {
  const { required = [] } = schema;
  const isLess = (base: JsonSchema) =>
    sizeOf(base) < sizeOf(schema) || required.some((one) => !base.required?.includes(one));
  const extensions = Object.entries(used)
    .filter(([other, base]) => other !== name && sizeOf(base) > 2 && isLess(base))
    .flatMap(([other, base]) => [
      ...withMore(schema, base, { $ref: `#/components/schemas/${other}` }),
      ...completed(schema, base, other),
    ]);
  const sizeOfMore = ({ more }: Extension) => Object.keys(more).length;
  const [best] = extensions.sort((a, b) => sizeOfMore(a) - sizeOfMore(b));
  if (!best) return schema;
  const { base, more } = best;
  const rest = {
    type: "object",
    properties: more,
    required: required.filter((one) => Object.hasOwn(more, one)),
  };
  return { allOf: [base, rest] };
}

/** As the base is, except for members that are required here and not there. */
function withMore(schema: JsonSchema, base: JsonSchema, written: Extension["base"]): Extension[] {
  const { properties = {}, required = [] } = schema;
  const { properties: known = {}, required: demanded = [] } = base;
  const fits = Object.keys(known).every((member) => isSame(properties[member], known[member]));
  if (!fits || !demanded.every((member) => required.includes(member))) return [];
  const isMore = ([member]: [string, JsonSchema]) =>
    !Object.hasOwn(known, member) || (required.includes(member) && !demanded.includes(member));
  return [{ base: written, more: Object.fromEntries(Object.entries(properties).filter(isMore)) }];
}

/** Every member of the base is there, and some may be null. */
function completed(schema: JsonSchema, { properties: known = {} }: JsonSchema, name: string): Extension[] {
  const { properties = {}, required = [] } = schema;
  const members = Object.keys(known);
  const nullable = members.filter((member) => isSame(properties[member], orNull(known[member])));
  const fits = members.every(
    (member) =>
      required.includes(member) && (nullable.includes(member) || isSame(properties[member], known[member])),
  );
  if (!fits) return [];
  const omitted = nullable.map((member) => JSON.stringify(member)).join(" | ");
  const text = (own: string) => `Required<${omitted === "" ? own : `Omit<${own}, ${omitted}>`}>`;
  const isMore = ([member]: [string, JsonSchema]) =>
    !Object.hasOwn(known, member) || nullable.includes(member);
  return [
    {
      base: typeText(text(`components["schemas"]["${name}"]`)),
      more: Object.fromEntries(Object.entries(properties).filter(isMore)),
    },
  ];
}

const orNull = (schema: unknown) => ({ anyOf: [schema, { type: "null" }] });

/** Whether two schemas are one type: descriptions are not of it. */
function isSame(a: unknown, b: unknown): boolean {
  const ofType = (key: string, value: unknown) => (key === "description" ? undefined : value);
  return a !== undefined && JSON.stringify(a, ofType) === JSON.stringify(b, ofType);
}

/** What an earlier call takes or answers too, in more than one member, is written as that of the earlier one. */
function withoutRepeats(calls: Schemas): Schemas {
  const earlier: [string, JsonSchema][] = [];
  return Object.fromEntries(
    Object.entries(calls).map(([route, call]) => {
      const parts = Object.entries(call.properties ?? {});
      const same = earlier.find(([, other]) => isSame(other, call));
      if (same && parts.some(([, part]) => sizeOf(part) > 1))
        return [route, typeText(`${CALLS}["${same[0]}"]`)];
      const properties = Object.fromEntries(
        parts.map(([name, part]) => [name, sizeOf(part) > 1 ? partOfEarlier(earlier, name, part) : part]),
      );
      earlier.push([route, call]);
      return [route, { ...call, properties }];
    }),
  );
}

function partOfEarlier(earlier: readonly [string, JsonSchema][], name: string, part: JsonSchema): JsonSchema {
  const [route, call] = earlier.find(([, other]) => isSame(other.properties?.[name], part)) ?? [];
  if (!call) return part;
  const text = `${CALLS}["${route}"]["${name}"]`;
  return typeText(call.required?.includes(name) ? text : `NonNullable<${text}>`);
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
