/** GET /openapi.json and GET /docs: what the JSON interfaces are, for programs and for readers. Made once, on demand. */
import type { FastifyInstance } from "fastify";
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
import { describedOperation } from "./api-operation.ts";
import { curlSample, strictSample } from "./curl.ts";
import { openApiDocument } from "./document.ts";
import type { OpenApiDocument } from "./openapi.ts";
import { referencePage } from "./reference.page.ts";
import { referenceOperations } from "./reference-operations.ts";

export interface ReferenceDeps {
  readonly baseUrl: string;
  readonly version: string;
  readonly documents: PublishedDocuments;
  /** Of the JSON interfaces, as they were registered. */
  readonly apiOperations: readonly Operation[];
  /** Of all other routes that answer JSON. */
  readonly otherOperations: readonly DescribedOperation[];
}

const DOCUMENT_URI = "/openapi.json";
const EXAMPLE_OPERATION = "getUser";

export function referenceRoutes(app: FastifyInstance, deps: ReferenceDeps): void {
  const operations = [
    ...deps.otherOperations,
    ...deps.apiOperations.map(describedOperation),
    ...referenceOperations,
  ];
  const content = once(() => openApiDocument({ ...deps, operations }));
  // Of no organisation: nothing that changes in one makes it stale.
  const document = once((): PublishedDocument => publishedDocument("", content(), Number.POSITIVE_INFINITY));
  const page = once(() => referenceText(deps, operations, content()));

  app.get(DOCUMENT_URI, { exposeHeadRoute: true }, async (request, reply) => {
    const mark = deps.documents.mark();
    deps.documents.put(DOCUMENT_URI, document(), mark);
    await sendDocument(request, reply, document());
    return reply;
  });
  app.get("/docs", { exposeHeadRoute: true }, async (_request, reply) => {
    await sendPage(reply, page(), { nonce: newNonce() });
    return reply;
  });
}

function referenceText(
  { baseUrl }: ReferenceDeps,
  operations: readonly DescribedOperation[],
  document: OpenApiDocument,
): string {
  const operation = operations.find(({ operationId }) => operationId === EXAMPLE_OPERATION);
  const example = operation?.body?.example;
  const subject = operation && { operation, baseUrl, path: operation.path, example };
  const view = {
    messages: messages(["en"]),
    // The page has no style of an organisation, which is all that a nonce is for.
    nonce: "",
    stylesheet: referenceStylesheet.path,
    document,
    documentUri: DOCUMENT_URI,
    samples: {
      plain: subject ? curlSample(subject) : "",
      strict: subject ? strictSample(subject) : "",
    },
  };
  return render(referencePage(view));
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
