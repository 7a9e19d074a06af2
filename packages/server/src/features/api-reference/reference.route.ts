/** GET /openapi.json and GET /docs: the API description, for programs and for readers. Built once, on first request. */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import { render } from "../../html/html.ts";
import { messages } from "../../html/messages/messages.ts";
import { referenceStylesheet } from "../../html/stylesheet.ts";
import type { Operation } from "../../http/api/api-route.ts";
import type { DescribedOperation } from "../../http/api/described-operation.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import {
  type PublishedDocument,
  type PublishedDocuments,
  publishedDocument,
  sendDocument,
} from "../../http/published-documents.ts";
import { describeApiOperation } from "./api-operation.ts";
import { curlSample, strictSample } from "./curl.ts";
import { openApiDocument } from "./document.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { referencePage } from "./reference.page.ts";

export interface ReferenceDeps {
  readonly baseUrl: string;
  readonly version: string;
  readonly documents: PublishedDocuments;
  /** Registered with `apiRoute`. */
  readonly apiOperations: readonly Operation[];
  /** All other routes that respond with JSON. */
  readonly otherOperations: readonly DescribedOperation[];
}

/** The operation whose request the signing samples show. */
const EXAMPLE_OPERATION = "getUser";

const documentOperation: DescribedOperation = {
  method: "GET",
  path: "/openapi.json",
  operationId: "getOpenApiDocument",
  summary: "Get this API description (OpenAPI 3.1)",
  tag: "Service",
  security: [],
  headers: { "If-None-Match": "the cached `ETag`" },
  answers: {
    200: {
      description: "The document",
      schema: Type.Object({ openapi: Type.Literal("3.1.0") }, { additionalProperties: true }),
      headers: { ETag: "of the document" },
    },
    304: { description: "Not modified" },
  },
};

export function referenceRoutes(app: FastifyInstance, deps: ReferenceDeps): void {
  const operations = [
    ...deps.otherOperations,
    ...deps.apiOperations.map(describeApiOperation),
    documentOperation,
  ];
  const content = memoize(() => openApiDocument({ ...deps, operations }));
  // Belongs to no organisation, so no organisation's change invalidates it.
  const document = memoize(
    (): PublishedDocument => publishedDocument("", content(), Number.POSITIVE_INFINITY),
  );
  const page = memoize(() => Buffer.from(renderReference(deps, operations, content())));

  app.get("/openapi.json", { exposeHeadRoute: true }, async (request, reply) => {
    const mark = deps.documents.mark();
    deps.documents.put("/openapi.json", document(), mark);
    await sendDocument(request, reply, document());
    return reply;
  });
  app.get("/docs", { exposeHeadRoute: true }, async (_request, reply) => {
    await sendPage(reply, page(), { nonce: newNonce() });
    return reply;
  });
}

function renderReference(
  { baseUrl }: ReferenceDeps,
  operations: readonly DescribedOperation[],
  document: OpenApiDocument,
): string {
  const operation = operations.find(({ operationId }) => operationId === EXAMPLE_OPERATION);
  const example = operation?.body?.example;
  const request = operation && { operation, baseUrl, path: operation.path, example };
  const view = {
    messages: messages(["en"]),
    // Only an organisation's inline style needs a nonce.
    nonce: "",
    stylesheet: referenceStylesheet.path,
    document,
    documentUri: "/openapi.json",
    samples: {
      plain: request ? curlSample(request) : "",
      strict: request ? strictSample(request) : "",
    },
  };
  return render(referencePage(view));
}

function memoize<T>(build: () => T): () => T {
  let built: { readonly value: T } | undefined;
  return () => {
    built ??= { value: build() };
    return built.value;
  };
}
