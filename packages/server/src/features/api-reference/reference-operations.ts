/** /openapi.json describes itself too. */
import Type from "typebox";
import type { DescribedOperation } from "../../http/api/described-operation.ts";

export const referenceOperations: readonly DescribedOperation[] = [
  {
    method: "GET",
    path: "/openapi.json",
    operationId: "getOpenApiDocument",
    summary: "This description, as OpenAPI 3.1",
    tag: "Service",
    security: [],
    headers: { "If-None-Match": "the `ETag` that the caller has" },
    answers: {
      200: {
        description: "The document",
        schema: Type.Object({ openapi: Type.Literal("3.1.0") }, { additionalProperties: true }),
        headers: { ETag: "changes with the document" },
      },
      304: { description: "It is as the caller has it" },
    },
  },
];
