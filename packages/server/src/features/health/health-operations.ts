/** The health endpoints, for /openapi.json. */
import Type from "typebox";
import type { DescribedOperation } from "../../http/api/described-operation.ts";

const status = (...values: string[]) =>
  Type.Object({ status: Type.Union(values.map((value) => Type.Literal(value))) });

const shared = { method: "GET", tag: "Service", security: [] } as const;

export const healthOperations: readonly DescribedOperation[] = [
  {
    ...shared,
    path: "/healthz",
    operationId: "getHealth",
    summary: "Liveness: the process responds",
    answers: { 200: { description: "The process responds", schema: status("ok") } },
  },
  {
    ...shared,
    path: "/readyz",
    operationId: "getReadiness",
    summary: "Readiness: the node accepts traffic",
    answers: {
      200: { description: "Ready", schema: status("ready") },
      503: {
        description: "Not ready",
        schema: status("draining", "database unavailable"),
        headers: { "Retry-After": "seconds to wait" },
      },
    },
  },
];
