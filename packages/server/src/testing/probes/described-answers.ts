/**
 * Compares responses with the OpenAPI document: operation, status, content type
 * and every member. A response must not have members that the schema doesn't define.
 */
import { Compile } from "typebox/schema";
import type {
  JsonSchema,
  OpenApiAnswer,
  OpenApiDocument,
  OpenApiOperation,
} from "../../features/api-reference/openapi.ts";
import type { RecordedAnswer } from "./answer-recorder.ts";

export interface CheckedResponse {
  readonly operationId: string;
  readonly status: number;
  /** Undefined if the response matches. */
  readonly fault?: string;
}

/** @returns undefined for what is none of the document's: a page, a redirect, an address without a route */
export function responseChecker(
  document: OpenApiDocument,
): (answer: RecordedAnswer) => CheckedResponse | undefined {
  const templates = Object.entries(document.paths)
    .map(([path, methods]) => ({ pattern: patternOf(path), parameters: path.split("{").length, methods }))
    .sort((one, other) => one.parameters - other.parameters);
  const schemas = schemaChecks(document);
  return (answer) => {
    const { method, path, status } = answer;
    if (/html/.test(answer.contentType) || (status >= 300 && status < 304)) return undefined;
    const name = method.toLowerCase();
    const operation = templates.find(({ pattern, methods }) => methods[name] && pattern.test(path))?.methods[
      name
    ];
    if (!operation) return undefined;
    const { operationId } = operation;
    const fault = faultOf(document, operation, answer, schemas);
    return {
      operationId,
      status,
      ...(fault === undefined ? {} : { fault: `${method} ${path} ${status}: ${fault}` }),
    };
  };
}

function faultOf(
  document: OpenApiDocument,
  operation: OpenApiOperation,
  { status, contentType, body }: RecordedAnswer,
  checkSchema: SchemaCheck,
): string | undefined {
  const described = responseOf(document, operation, status);
  if (!described) return "the status is not described";
  const media = described.content?.[contentType];
  if (body === "") return described.content ? "an empty answer, where content is described" : undefined;
  if (!media) return `${contentType} is not described`;
  // The document names binary responses without a schema.
  return media.schema && /\bjson\b/.test(contentType)
    ? checkSchema(media.schema, JSON.parse(body))
    : undefined;
}

export function responseOf(
  { components }: OpenApiDocument,
  { responses }: OpenApiOperation,
  status: number,
): OpenApiAnswer | undefined {
  const found = responses[String(status)];
  return found && "$ref" in found ? components.responses[found.$ref.split("/").at(-1) ?? ""] : found;
}

const patternOf = (path: string) =>
  new RegExp(`^${path.replaceAll(/[.?+]/g, "\\$&").replaceAll(/\{\w+\}/g, "[^/]+")}$`, "i");

type SchemaCheck = (schema: JsonSchema, value: unknown) => string | undefined;

/** Validates values against the document's schemas, with additional members forbidden. */
export function schemaChecks({ components }: OpenApiDocument): SchemaCheck {
  const compiled = new Map<JsonSchema, ReturnType<typeof Compile>>();
  const schemas = Object.fromEntries(
    Object.entries(components.schemas).map(([name, schema]) => [name, closed(schema)]),
  );
  return (schema, value) => {
    const validator =
      compiled.get(schema) ?? Compile({ ...closed(schema), components: { schemas } } as object);
    compiled.set(schema, validator);
    if (validator.Check(value)) return undefined;
    const [, errors] = validator.Errors(value);
    return errors
      .map(({ instancePath, message, params }) => `${instancePath} ${message} ${JSON.stringify(params)}`)
      .join("; ");
  };
}

/** The schema with additional members forbidden. */
function closed(schema: JsonSchema): JsonSchema {
  const { properties, items, anyOf, allOf, additionalProperties } = schema;
  const isOpen = additionalProperties !== undefined || (!properties && !allOf);
  return {
    ...schema,
    ...(properties ? { properties: closedAll(properties) } : {}),
    ...(typeof additionalProperties === "object"
      ? { additionalProperties: closed(additionalProperties) }
      : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(closed) } : {}),
    // The parts of an allOf don't know each other's members: only the whole is closed.
    ...(allOf
      ? { allOf: allOf.map((part) => ({ ...part, properties: closedAll(part.properties ?? {}) })) }
      : {}),
    ...(isOpen ? {} : { unevaluatedProperties: false }),
  };
}

const closedAll = (properties: Readonly<Record<string, JsonSchema>>) =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, closed(schema)]));
