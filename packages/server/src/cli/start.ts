/** `signet start`: opens everything, listens, and leaves in order at SIGTERM. */
import { hostname } from "node:os";
import type { FastifyInstance } from "fastify";
import { type Logger, pino } from "pino";
import { createApp } from "../app.ts";
import type { Config } from "../config.ts";
import { startHousekeeping } from "../core/housekeeping/housekeeping.ts";
import { openService, type Service } from "../open-service.ts";
import type { Command, Io } from "./command.ts";
import { type Demo, prepareDemo, printDemo } from "./demo.ts";

const DRAIN_MS = 8_000;

export const startCommand: Command = {
  name: "start",
  summary: "run the server",
  usage: "[--demo]",
  options: { demo: { type: "boolean" } },
  run: async ({ config, values, io }) => {
    const log = openLog(config);
    const service = await openService(config, {
      onError: (error) => log.error(describe(error), "background work failed"),
    });
    try {
      const demo = values.demo === true ? await prepareDemo(service, io) : undefined;
      await serve(service, log, io, demo);
    } finally {
      await service.close();
      log.info("stopped");
      log.flush();
    }
    return 0;
  },
};

/** Resolves when the server has been told to stop and has stopped. */
async function serve(service: Service, log: Logger, io: Io, demo: Demo | undefined): Promise<void> {
  const { config } = service;
  let draining = false;
  const app = await createApp(service, {
    nodeName: `${hostname().slice(0, 20)}-${process.pid.toString(36)}`,
    logRequest: (line) => log.info(line, "request"),
    logDocuments: (served) => log.info({ served }, "published documents"),
    logRefusal: (refusal) => log.info(refusal, "request refused"),
    logError: (error, requestId) => log.error({ requestId, ...describe(error) }, "request failed"),
    isDraining: () => draining,
    ...(demo ? { demo: demo.shown } : {}),
  });
  await app.listen({ host: config.host, port: config.port });
  const stopHousekeeping = startHousekeeping({
    ...service,
    onError: (error) => log.error(describe(error), "housekeeping failed"),
  });
  log.info({ baseUrl: config.baseUrl, database: service.database.kind, migrated: service.migrated }, "ready");
  if (demo) printDemo(demo, io);

  const signal = await nextSignal();
  draining = true;
  log.info({ signal }, "stopping: requests under way are finished");
  await closeWithin(app, DRAIN_MS);
  await stopHousekeeping();
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve(signal));
  });
}

async function closeWithin(app: FastifyInstance, milliseconds: number): Promise<void> {
  // A client that never finishes must not keep the node: its connection is cut.
  const timer = setTimeout(() => app.server.closeAllConnections(), milliseconds);
  await app.close();
  clearTimeout(timer);
}

/** Lines are written in pieces, because a request must not wait for the disk; what is left goes out twice a second. */
function openLog(config: Config): Logger {
  const destination = pino.destination({ sync: false, minLength: 4_096 });
  const log = pino(
    { level: config.logLevel, base: { service: "signet" }, timestamp: pino.stdTimeFunctions.isoTime },
    destination,
  );
  setInterval(() => log.flush(), 500).unref();
  return log;
}

/** Only what is ours to show: an error's other members may hold the values of a row. */
function describe(error: unknown): { error: string; code?: string; stack?: string } {
  if (!(error instanceof Error)) return { error: String(error) };
  const code = "code" in error ? { code: String(error.code) } : {};
  return { error: error.message, ...code, ...(error.stack === undefined ? {} : { stack: error.stack }) };
}
