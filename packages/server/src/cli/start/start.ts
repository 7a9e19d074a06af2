/** `signet start`: opens everything, listens, and leaves in order at SIGTERM. */
import { hostname } from "node:os";
import { redactSecrets } from "@signet/protocol/redact-secrets";
import type { FastifyInstance } from "fastify";
import type { Config } from "../../config/config.ts";
import { startAuditChain } from "../../core/audit/chain/background.ts";
import { startLogoutDelivery } from "../../core/backchannel-logout/delivery.ts";
import { startHousekeeping } from "../../core/housekeeping/housekeeping.ts";
import { startMailDelivery } from "../../core/mail/delivery.ts";
import { loopbackNetworks } from "../../core/outbound/address-rules.ts";
import { enrollmentRemovals } from "../../features/device-identity/admin/enrolment-removals.ts";
import { requestRemovals } from "../../features/sovereign/requests/expire-requests.ts";
import type { OpenListeners } from "../../modules/certificate-listeners.ts";
import { mailComposer } from "../../modules/mail-content.ts";
import { openService, type Service, withMailbox } from "../../modules/open-service.ts";
import type { Command, Io } from "../command.ts";
import { type Demo, prepareDemo, printDemo } from "../demo/demo.ts";
import { type Log, openLog } from "./log.ts";

const DRAIN_MS = 7_000;

export const startCommand: Command = {
  name: "start",
  summary: "run the server; settings come from the environment",
  usage: "[--demo]",
  options: {
    demo: {
      type: "boolean",
      help: "on an empty database: make people and applications to try, and show them",
    },
  },
  examples: [
    "signet start --demo",
    "SIGNET_BASE_URL=https://id.example.com TRUSTED_PROXIES=10.0.0.0/8 DATABASE_URL=postgres://… signet start",
  ],
  run: async ({ config, values, io }) => {
    // Before anything is opened: a signal that comes during the start ends in order too.
    const told = nextSignal();
    await runServer(config, { isDemo: values.demo === true, io, log: openLog(config.logLevel), told });
    return 0;
  },
};

/**
 * Opens everything, serves, and leaves in order.
 * @param told resolves with what the log calls the reason when the server is to stop
 */
export async function runServer(
  config: Config,
  { isDemo, io, log, told }: { isDemo: boolean; io: Io; log: Log; told: Promise<string> },
): Promise<void> {
  // Applications to try run on the same machine.
  const local = isDemo ? loopbackNetworks : [];
  const service = await openService(
    { ...config, outboundAllow: [...config.outboundAllow, ...local] },
    { onError: (error) => log.error(describe(error), "background work failed") },
  );
  try {
    const demo = isDemo ? await prepareDemo(service, io) : undefined;
    await serve(demo ? withMailbox(service) : service, { log, io, demo, told });
  } finally {
    await service.close();
    log.info("stopped");
    log.flush();
  }
}

/** Resolves when the server has been told to stop and has stopped. */
async function serve(
  service: Service,
  { log, io, demo, told }: { log: Log; io: Io; demo: Demo | undefined; told: Promise<string> },
): Promise<void> {
  const { config } = service;
  let draining = false;
  // Loaded only here: the other commands need no web server, and start in two thirds of the time without it.
  const { createApp } = await import("../../app.ts");
  const { certificateListenersOf } = await import("../../modules/certificate-listeners.ts");
  const app = await createApp(service, {
    nodeName: `${hostname().slice(0, 20)}-${process.pid.toString(36)}`,
    logRequest: log.request,
    logDocuments: (served) => log.info({ served }, "published documents"),
    logRefusal: (refusal) => log.info(refusal, "request refused"),
    logError: (error, requestId) => log.error({ requestId, ...describe(error) }, "request failed"),
    isDraining: () => draining,
    ...(demo ? { demo: demo.shown } : {}),
  });
  const listeners = await certificateListenersOf(app, config, {
    reloaded: () => log.info("the certificate of the mTLS listener was read again"),
    failed: (error) => log.error(describe(error), "reading the certificate of the mTLS listener failed"),
    refused: (cause) => log.info({ cause }, "refused at the listener for proxies"),
  });
  try {
    await app.listen({ host: config.host, port: config.port });
    await listeners.listen();
  } catch (error) {
    await app.close();
    throw error;
  }
  const stopReloading = atHangUp(() => void listeners.reload());
  const stopBackground = startBackground(service, log);
  const { baseUrl, mtlsBaseUrl } = config;
  log.info({ baseUrl, mtlsBaseUrl, database: service.database.kind, migrated: service.migrated }, "ready");
  if (demo) printDemo(demo, io, { hasMailbox: service.mailTransport.kind === "mailbox" });

  const signal = await told;
  draining = true;
  log.info({ signal }, "stopping: requests under way are finished");
  await closeWithin(app, listeners, DRAIN_MS);
  stopReloading();
  await stopBackground();
}

/** What goes on beside the requests. @returns a function that stops it all and waits for what is under way */
function startBackground(service: Service, log: Log): () => Promise<void> {
  const { config } = service;
  const stopHousekeeping = startHousekeeping({
    ...service,
    featureRemovals: [...requestRemovals(service.activity.count), ...enrollmentRemovals],
    onError: (error) => log.error(describe(error), "housekeeping failed"),
  });
  const stopLogoutDelivery = startLogoutDelivery({
    ...service,
    baseUrl: config.baseUrl,
    onError: (error) => log.error(describe(error), "delivering back-channel logouts failed"),
  });
  const stopMailDelivery = startMailDelivery({
    ...service,
    compose: mailComposer({ ...service, baseUrl: config.baseUrl }),
    transport: service.mailTransport,
    note: (line) => log.info(line, "mail"),
    onError: (error) => log.error(describe(error), "sending mail failed"),
  });
  const stopAuditChain = startAuditChain({
    ...service,
    noteHead: (head) => log.info(head, "audit head"),
    onError: (error) => log.error(describe(error), "chaining the audit log failed"),
  });
  return async () => {
    await Promise.all([stopHousekeeping(), stopLogoutDelivery(), stopMailDelivery()]);
    // Last of all: what the others have just done is in it.
    await stopAuditChain();
  };
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.once(signal, () => resolve(signal));
  });
}

/** SIGHUP, as whoever renews certificates sends it. */
function atHangUp(act: () => void): () => void {
  process.on("SIGHUP", act);
  return () => void process.off("SIGHUP", act);
}

async function closeWithin(
  app: FastifyInstance,
  listeners: OpenListeners,
  milliseconds: number,
): Promise<void> {
  // A client that never finishes must not keep the node: its connection is cut.
  const cut = setTimeout(() => {
    app.server.closeAllConnections();
    listeners.closeAllConnections();
  }, milliseconds);
  await app.close();
  clearTimeout(cut);
}

/** Only what is ours to show: an error's other members may hold the values of a row. */
function describe(error: unknown): { error: string; code?: string; stack?: string } {
  if (!(error instanceof Error)) return { error: redactSecrets(String(error)) };
  const code = "code" in error ? { code: String(error.code) } : {};
  const stack = error.stack === undefined ? {} : { stack: redactSecrets(error.stack) };
  return { error: redactSecrets(error.message), ...code, ...stack };
}
