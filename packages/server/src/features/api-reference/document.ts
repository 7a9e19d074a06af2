/** Builds the OpenAPI 3.1 document from the descriptions that routes are registered with. */
import type { DescribedAnswer, DescribedOperation } from "../../http/api/described-operation.ts";
import { curlSample } from "./curl.ts";
import { buildExample } from "./example.ts";
import type { OpenApiAnswer, OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./openapi.ts";
import { headerParameters, openApiPaths, pathParameters, queryParameters } from "./parameters.ts";
import { mapValues, type SchemaCollection, schemaCollection } from "./schemas.ts";
import { apiDescription, securitySchemes, tags } from "./texts.ts";

export interface DocumentSource {
  readonly operations: readonly DescribedOperation[];
  readonly baseUrl: string;
  readonly version: string;
}

/** @throws Error if two operations share an operationId or an address, or a tag has no description */
export function openApiDocument({ operations, baseUrl, version }: DocumentSource): OpenApiDocument {
  const parts: Parts = { schemas: schemaCollection(), responses: {} };
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const ids = new Set<string>();
  for (const operation of operations) {
    if (!tags.some(({ name }) => name === operation.tag))
      throw new Error(`the tag ${operation.tag} has no description`);
    for (const path of openApiPaths(operation.path)) {
      const described = describeOperation(parts, { operation, baseUrl, path });
      const method = operation.method.toLowerCase();
      const methods = paths[path] ?? {};
      if (ids.has(described.operationId) || methods[method])
        throw new Error(`${described.operationId} (${operation.method} ${path}) is registered twice`);
      ids.add(described.operationId);
      paths[path] = { ...methods, [method]: described };
    }
  }
  const used = new Set(operations.map(({ tag }) => tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Signet",
      version,
      description: apiDescription,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    components: {
      schemas: sortByName(parts.schemas.named),
      responses: sortByName(parts.responses),
      securitySchemes,
    },
  };
}

/** The components that several operations refer to. */
interface Parts {
  readonly schemas: SchemaCollection;
  readonly responses: Record<string, OpenApiAnswer>;
}

function describeOperation(
  parts: Parts,
  at: { operation: DescribedOperation; baseUrl: string; path: string },
): OpenApiOperation {
  const { operation, path } = at;
  const { schemas } = parts;
  const { body, description } = operation;
  const shape = body && schemas.add(body.schema);
  const example = body && shape && (body.example ?? buildExample(shape, schemas.named));
  const parameters = [...pathParameters(path), ...queryParameters(operation), ...headerParameters(operation)];
  const source = curlSample({ ...at, example });
  return {
    ...operationNames(operation, path),
    ...(description === undefined ? {} : { description }),
    tags: [operation.tag],
    security: securityOf(operation, path).map((schemes) =>
      Object.fromEntries(schemes.map((scheme) => [scheme, []])),
    ),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body && shape
      ? {
          requestBody: {
            required: !body.isOptional,
            content: { [body.contentType]: { schema: shape, example } },
          },
        }
      : {}),
    responses: Object.fromEntries(
      Object.entries(operation.answers).map(([status, answer]) => [status, describeResponse(parts, answer)]),
    ),
    "x-codeSamples": [{ lang: "Shell", label: "curl", source }],
  };
}

/** OpenAPI has no scheme for a credential in the path or the body: a session key is a parameter there. */
function securityOf({ security, body }: DescribedOperation, path: string): DescribedOperation["security"] {
  const { properties = {} } = (body?.schema ?? {}) as { properties?: object };
  if (!path.includes("{key}") && !("Key" in properties)) return security;
  return security.map((schemes) => schemes.filter((scheme) => scheme !== "sessionKey"));
}

/** A path with its optional last parameter gets names of its own: `getThingByAppId`. */
function operationNames({ operationId, summary, path: registered }: DescribedOperation, path: string) {
  const hasOptional = registered.endsWith("?") && openApiPaths(registered).at(-1) === path;
  const added = hasOptional ? pathParameters(path).at(-1)?.name : undefined;
  if (added === undefined) return { operationId, summary };
  const suffix = `${added[0]?.toUpperCase()}${added.slice(1)}`;
  return { operationId: `${operationId}By${suffix}`, summary: `${summary}, with {${added}}` };
}

function describeResponse({ schemas, responses }: Parts, answer: DescribedAnswer): OpenApiResponse {
  const { sharedAs } = answer;
  if (sharedAs === undefined) return describeAnswer(schemas, answer);
  responses[sharedAs] ??= describeAnswer(schemas, answer);
  return { $ref: `#/components/responses/${sharedAs}` };
}

function describeAnswer(schemas: SchemaCollection, answer: DescribedAnswer): OpenApiAnswer {
  const { description, schema, contentType = "application/json", headers } = answer;
  const shape = schema && schemas.add(schema);
  const media = shape && { schema: shape, example: answer.example ?? buildExample(shape, schemas.named) };
  return {
    description,
    ...(headers ? { headers: mapValues(headers, describeHeader) } : {}),
    ...(media ? { content: { [contentType]: media } } : {}),
  };
}

const describeHeader = (description: string) => ({ description, schema: { type: "string" } });

const sortByName = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
