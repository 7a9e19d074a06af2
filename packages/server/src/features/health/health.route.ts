/** `/healthz`: the process responds. `/readyz`: the node accepts traffic. And both for /openapi.json. */
import type { FastifyInstance } from "fastify";
import Type from "typebox";
import type { DescribedOperation } from "../../http/api/described-operation.ts";

export interface HealthDeps {
  /** Throws when the database does not answer. */
  ping(): Promise<void>;
  /** True from SIGTERM on: load balancers stop sending traffic. */
  isDraining(): boolean;
}

export function healthRoutes(app: FastifyInstance, deps: HealthDeps): void {
  app.get("/healthz", { exposeHeadRoute: true }, async (_request, reply) =>
    reply.header("cache-control", "no-store").send({ status: "ok" }),
  );
  app.get("/readyz", { exposeHeadRoute: true }, async (_request, reply) => {
    reply.header("cache-control", "no-store");
    if (deps.isDraining()) return reply.code(503).send({ status: "draining" });
    try {
      await deps.ping();
      return await reply.send({ status: "ready" });
    } catch {
      return reply.code(503).header("retry-after", "2").send({ status: "database unavailable" });
    }
  });
}

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
