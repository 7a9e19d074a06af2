/** The OpenAPI 3.1 document, made of the descriptions that the routes were registered with. */
import type {
  DescribedAnswer,
  DescribedOperation,
  SecurityScheme,
} from "../../http/api/described-operation.ts";
import { curlSample } from "./curl.ts";
import { exampleOf } from "./example.ts";
import type { OpenApiAnswer, OpenApiDocument, OpenApiOperation, OpenApiResponse } from "./openapi.ts";
import { headerParameters, openApiPaths, pathParameters, queryOf } from "./parameters.ts";
import { mapValues, type SchemaCollection, schemaCollection } from "./schemas.ts";
import { securitySchemes, tags, summary as whatItIs } from "./texts.ts";

export interface DocumentSource {
  readonly operations: readonly DescribedOperation[];
  readonly baseUrl: string;
  readonly version: string;
}

/** @throws Error for what no reader could tell apart: two operations of one name or address, a tag without a text */
export function openApiDocument({ operations, baseUrl, version }: DocumentSource): OpenApiDocument {
  const parts: Parts = { schemas: schemaCollection(), responses: {} };
  const paths: Record<string, Record<string, OpenApiOperation>> = {};
  const ids = new Set<string>();
  for (const operation of operations) {
    if (!tags.some(({ name }) => name === operation.tag))
      throw new Error(`the tag ${operation.tag} has no text`);
    for (const path of openApiPaths(operation.path)) {
      const made = describe(parts, { operation, baseUrl, path });
      const method = operation.method.toLowerCase();
      const methods = paths[path] ?? {};
      if (ids.has(made.operationId) || methods[method])
        throw new Error(`${made.operationId}, ${operation.method} ${path}, is there twice`);
      ids.add(made.operationId);
      paths[path] = { ...methods, [method]: made };
    }
  }
  const used = new Set(operations.map(({ tag }) => tag));
  return {
    openapi: "3.1.0",
    info: {
      title: "Signet",
      version,
      description: whatItIs,
      license: { name: "Apache License 2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: baseUrl }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    components: {
      schemas: sorted(parts.schemas.named),
      responses: sorted(parts.responses),
      securitySchemes,
    },
  };
}

/** What several operations refer to. */
interface Parts {
  readonly schemas: SchemaCollection;
  readonly responses: Record<string, OpenApiAnswer>;
}

function describe(
  parts: Parts,
  at: { operation: DescribedOperation; baseUrl: string; path: string },
): OpenApiOperation {
  const { operation, path } = at;
  const { schemas } = parts;
  const { body, description } = operation;
  const shape = body && schemas.add(body.schema);
  const example = body && shape && (body.example ?? exampleOf(shape, schemas.named));
  const parameters = [...pathParameters(path), ...queryOf(operation), ...headerParameters(operation)];
  const source = curlSample({ ...at, example });
  return {
    ...namesOf(operation, path),
    ...(description === undefined ? {} : { description }),
    tags: [operation.tag],
    security: operation.security.map((schemes) => needed(schemes)),
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
      Object.entries(operation.answers).map(([status, answer]) => [status, responseOf(parts, answer)]),
    ),
    "x-codeSamples": [{ lang: "Shell", label: "curl", source }],
  };
}

/** The shorter of two paths has the plain names. */
function namesOf({ operationId, summary, path: registered }: DescribedOperation, path: string) {
  const isLonger = registered.endsWith("?") && openApiPaths(registered).at(-1) === path;
  const added = isLonger ? pathParameters(path).at(-1)?.name : undefined;
  if (added === undefined) return { operationId, summary };
  const suffix = `${added[0]?.toUpperCase()}${added.slice(1)}`;
  return { operationId: `${operationId}By${suffix}`, summary: `${summary}, with {${added}}` };
}

const needed = (schemes: readonly SecurityScheme[]) =>
  Object.fromEntries(schemes.map((scheme) => [scheme, [] as const]));

function responseOf({ schemas, responses }: Parts, answer: DescribedAnswer): OpenApiResponse {
  const { sharedAs } = answer;
  if (sharedAs === undefined) return answerOf(schemas, answer);
  responses[sharedAs] ??= answerOf(schemas, answer);
  return { $ref: `#/components/responses/${sharedAs}` };
}

function answerOf(schemas: SchemaCollection, answer: DescribedAnswer): OpenApiAnswer {
  const { description, schema, contentType = "application/json", headers } = answer;
  const shape = schema && schemas.add(schema);
  const media = shape && { schema: shape, example: answer.example ?? exampleOf(shape, schemas.named) };
  return {
    description,
    ...(headers ? { headers: mapValues(headers, headerOf) } : {}),
    ...(media ? { content: { [contentType]: media } } : {}),
  };
}

const headerOf = (description: string) => ({ description, schema: { type: "string" } });

const sorted = <T>(record: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1)));
