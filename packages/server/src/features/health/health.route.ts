/**
 * `/livez`, `/healthz`: the process works. `/readyz`: the node accepts traffic, and whether the database is there. Both answer at
 * once, whatever the database does.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import Type from "typebox";
import { invalid } from "../../http/api/api-error.ts";
import { type DescribedOperation, problemAnswers } from "../../http/api/described-operation.ts";
import { parseQuery } from "../../http/form-body.ts";
import { watchProcess } from "./process-state.ts";

export interface HealthDeps {
  /** Throws when the database does not answer, or can't be written. */
  ping(): Promise<void>;
  /** How long the database's connections are held by what does nothing with them, in milliseconds. */
  stuckFor(): number;
  /** Where one is set. What it should serve, the primary does as well. */
  readonly replica?: { state(): ReplicaState } | undefined;
  /** True from SIGTERM on: load balancers stop sending traffic. */
  isDraining(): boolean;
}

type DatabaseState = "ok" | "away";

/** `other`: a server that is no replica of the database. */
const replicaStates = ["ok", "behind", "away", "other"] as const;
type ReplicaState = (typeof replicaStates)[number];

/** Less than the 250 ms in which the answer is due. */
const PING_MS = 200;

export function healthRoutes(app: FastifyInstance, deps: HealthDeps): void {
  const state = watchProcess(deps.stuckFor);
  app.addHook("onClose", async () => state.close());
  const options = { exposeHeadRoute: true };
  const live = async (_request: FastifyRequest, reply: FastifyReply) => {
    const [code, status] = state.isStuck() ? [503, "stuck"] : [200, "ok"];
    return reply.code(code).header("cache-control", "no-store").send({ status });
  };
  app.get("/livez", options, live);
  app.get("/healthz", options, live);
  const databaseState = boundedPing(deps.ping);
  app.get("/readyz", options, async (request, reply) => {
    reply.header("cache-control", "no-store");
    const isDatabaseRequired = requiresDatabase(request);
    if (deps.isDraining()) return reply.code(503).send({ status: "draining" });
    const database = await databaseState();
    if (database === "away" && isDatabaseRequired)
      return reply.code(503).header("retry-after", "2").send({ status: "database unavailable", database });
    const replica = deps.replica && { replica: deps.replica.state() };
    return reply.send({ status: "ready", database, ...replica });
  });
}

/** @throws ApiError for anything else: a misspelt probe would pass while the database is away */
function requiresDatabase(request: FastifyRequest): boolean {
  const required = parseQuery(request).values.get("require");
  if (required !== undefined && required !== "database")
    throw invalid([{ path: "?require", message: "must be database" }]);
  return required === "database";
}

/** One ping at a time, however many ask. @returns `away` while it has not come back */
function boundedPing(ping: HealthDeps["ping"]): () => Promise<DatabaseState> {
  let running: Promise<DatabaseState> | undefined;
  return async () => {
    running ??= ping()
      .then(
        () => "ok" as const,
        () => "away" as const,
      )
      .finally(() => {
        running = undefined;
      });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<DatabaseState>((resolve) => {
      // One more turn of the event loop: when that was late itself, the answer may be there already.
      timer = setTimeout(() => setImmediate(() => resolve("away")), PING_MS);
    });
    return Promise.race([running, late]).finally(() => clearTimeout(timer));
  };
}

const literals = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const status = (...values: string[]) => Type.Object({ status: literals(...values) });

const shared = { method: "GET", tag: "Service", security: [] } as const;

const live = {
  ...shared,
  summary: "Liveness: the process works",
  answers: {
    200: { description: "The process works", schema: status("ok") },
    503: {
      description:
        "The process hangs and should be restarted: its event loop stood still, or a transaction never ended",
      schema: status("stuck"),
    },
  },
} as const;

export const healthOperations: readonly DescribedOperation[] = [
  { ...live, path: "/livez", operationId: "getLiveness" },
  { ...live, path: "/healthz", operationId: "getHealth", description: "The same as `/livez`." },
  {
    ...shared,
    path: "/readyz",
    operationId: "getReadiness",
    summary: "Readiness: the node accepts traffic",
    description:
      "Also while the database is away, because discovery and JWKS are served then. With `require=database` the answer is 503 then.",
    // An empty one counts as none.
    query: Type.Object({ require: Type.Optional(literals("database", "")) }),
    answers: {
      200: {
        description: "Ready",
        schema: Type.Object({
          status: literals("ready"),
          database: literals("ok", "away"),
          replica: Type.Optional(literals(...replicaStates)),
        }),
      },
      503: {
        description: "Not ready",
        schema: Type.Object({
          status: literals("draining", "database unavailable"),
          database: Type.Optional(literals("away")),
        }),
        headers: { "Retry-After": "seconds to wait" },
      },
      ...problemAnswers([400, 422]),
    },
  },
];
