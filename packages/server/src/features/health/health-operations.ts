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
    summary: "Whether the process answers",
    answers: { 200: { description: "It does", schema: status("ok") } },
  },
  {
    ...shared,
    path: "/readyz",
    operationId: "getReadiness",
    summary: "Whether traffic may be sent to this node",
    answers: {
      200: { description: "It may", schema: status("ready") },
      503: {
        description: "Not now",
        schema: status("draining", "database unavailable"),
        headers: { "Retry-After": "seconds to wait" },
      },
    },
  },
];
