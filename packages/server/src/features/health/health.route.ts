/** `/healthz`: the process responds. `/readyz`: the node accepts traffic. */
import type { FastifyInstance } from "fastify";

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
