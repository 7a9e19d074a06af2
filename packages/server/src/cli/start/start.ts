/** `signet start`: runs the server, and shuts it down gracefully on SIGTERM. */

import { hostname } from "node:os";
import { redactSecrets } from "@signet/protocol/redact-secrets";
import { newUuid } from "@signet/protocol/uuid";
import type { Config } from "../../config/config.ts";
import { workerShare } from "../../config/worker-share.ts";
import { startAuditChain } from "../../core/audit/chain/background.ts";
import { auditRetention } from "../../core/audit/retention/retention.ts";
import { startLogoutDelivery } from "../../core/backchannel-logout/delivery.ts";
import { deleteUnusedClients } from "../../core/client-registration/unused-clients.ts";
import { checkDueDomains } from "../../core/domains/domain-proof.ts";
import { startEventWorker } from "../../core/event-deliveries/worker.ts";
import { startHousekeeping } from "../../core/housekeeping/housekeeping.ts";
import { startLedger } from "../../core/ledger/background.ts";
import { startMailDelivery } from "../../core/mail/delivery.ts";
import { finishDeletions } from "../../core/organisations/deletion/finish-deletions.ts";
import { keepAuditLog } from "../../core/organisations/deletion/keep-log.ts";
import { loopbackNetworks } from "../../core/outbound/address-rules.ts";
import type { ReplicaState } from "../../db/replica.ts";
import { STUCK_MS } from "../../features/health/process-state.ts";
import { signingRequestRemovals } from "../../features/sovereign/requests/expire-requests.ts";
import { boundsOf } from "../../http/listeners/connection-bounds.ts";
import type { ListenerEvents } from "../../modules/certificate-listeners.ts";
import { eventTargetKinds } from "../../modules/event-targets.ts";
import { mailComposer } from "../../modules/mail-content.ts";
import { openService, type Service, withMailbox } from "../../modules/open-service.ts";
import type { Command, Io } from "../command.ts";
import { type Demo, prepareDemo, printDemo } from "../demo/demo.ts";
import { writeServerNote } from "../installation.ts";
import { openBusyLog } from "./busy-log.ts";
import { type CurrentWorker, clusterWorkers, currentWorker } from "./cluster-workers.ts";
import { describeError } from "./describe-error.ts";
import { drain } from "./drain.ts";
import { watchUncaughtErrors } from "./last-resort.ts";
import { type Log, openLog } from "./log.ts";
import {
  startMetricsOfWorkers,
  startOwnMetrics,
  startStream,
  startTraces,
  statementObserver,
} from "./observe.ts";
import { requireCertificate } from "./require-certificate.ts";
import { type ServiceNotices, serviceNotices } from "./service-notices.ts";
import { superviseWorkers } from "./supervise-workers.ts";

/** After the listeners have closed: a database that is away would keep the requests and every last write waiting. */
const LAST_WRITES_MS = 3_000;

export const startCommand: Command = {
  name: "start",
  summary: "run the server; configured by environment variables",
  usage: "[--demo]",
  options: {
    demo: { help: "create demo users and applications in an empty database, and print their credentials" },
  },
  examples: [
    "signet start --demo",
    "SIGNET_BASE_URL=https://id.example.com TRUSTED_PROXIES=10.0.0.0/8 DATABASE_URL=postgres://… signet start",
  ],
  run: async ({ config, values, io }) => {
    // Registered first: a signal during startup also shuts down gracefully.
    const signal = nextSignal();
    const worker = currentWorker();
    const log = openLog(config, worker?.id);
    const uncaught = watchUncaughtErrors(log);
    const stopRequested = Promise.race([signal, uncaught.stopRequested]);
    const isDemo = values.demo === true;
    // Of several processes, the one that systemd started tells it.
    const notices = serviceNotices(worker ? undefined : config.serviceManager, log);
    if (config.workers > 1 && !worker) {
      const isSound = await runPrimary(config, { isDemo, io, log, notices, stopRequested });
      return isSound && !uncaught.hasFailed() ? 0 : 1;
    }
    await requireCertificate(config.mtls);
    try {
      const own = worker ? workerShare(config) : config;
      await runServer(own, { isDemo, io, log, notices, stopRequested, ...(worker ? { worker } : {}) });
    } finally {
      worker?.leave();
    }
    return uncaught.hasFailed() ? 1 : 0;
  },
};

/** The process that starts the workers. @returns false when it had to give up */
async function runPrimary(
  config: Config,
  { isDemo, io, log, notices, stopRequested }: Omit<Running, "worker">,
): Promise<boolean> {
  // Once, before they start: the database is brought up to date, and the demo is made.
  const service = await openService(config, {
    isDemo,
    onError: (error) => log.error(describeError(error), "background work failed"),
  });
  let demo: Demo | undefined;
  try {
    demo = isDemo ? await prepareDemo(service, io) : undefined;
  } finally {
    await service.close();
  }
  await noteServer(config, isDemo, log);
  const { baseUrl, mtlsBaseUrl, workers } = config;
  const onReady = () => {
    log.info({ baseUrl, mtlsBaseUrl, database: "postgres", migrated: service.migrated, workers }, "ready");
    // It watches over the workers, and kills those that are stuck.
    notices.ready(() => false);
    if (demo) printDemo(demo, io, { hasMailbox: config.mail === undefined });
  };
  void stopRequested.then(notices.stopping);
  const stopMetrics = await startMetricsOfWorkers(config, log);
  const isSound = await superviseWorkers({
    count: workers,
    workers: clusterWorkers(),
    log,
    stopRequested,
    drainSeconds: config.drainSeconds,
    onReady,
  });
  stopMetrics();
  log.info("stopped");
  log.flush();
  return isSound;
}

/** Before it is ready, so that a command that follows finds it. */
const noteServer = (config: Config, isDemo: boolean, log: Log): Promise<void> =>
  writeServerNote(config, isDemo).catch((error) =>
    log.error(describeError(error), "writing server.json failed"),
  );

interface Running {
  readonly isDemo: boolean;
  readonly io: Io;
  readonly log: Log;
  readonly notices: ServiceNotices;
  /** Resolves with the logged reason when the server is to stop. */
  readonly stopRequested: Promise<string>;
  /** This process is one of several. */
  readonly worker?: CurrentWorker;
}

export async function runServer(
  config: Config,
  { isDemo, io, log, notices, stopRequested, worker }: Running,
): Promise<void> {
  // The demo's applications run on the same machine.
  const local = isDemo ? loopbackNetworks : [];
  const service = await openService(
    { ...config, outboundAllow: [...config.outboundAllow, ...local] },
    {
      isDemo,
      onError: (error) => log.error(describeError(error), "background work failed"),
      isServer: true,
      statements: statementObserver(config, log),
      onReplicaState: logReplica(log),
    },
  );
  let stopMetrics: (() => Promise<void>) | undefined;
  let stopTraces: (() => Promise<void>) | undefined;
  try {
    stopTraces = await startTraces(config, log);
    const demo = isDemo ? await prepareDemo(service, io) : undefined;
    stopMetrics = await startOwnMetrics(service, log, worker !== undefined);
    await serve(demo ? withMailbox(service) : service, { log, io, demo, notices, stopRequested, worker });
  } finally {
    await stopMetrics?.();
    await service.close();
    await stopTraces?.();
    log.info("stopped");
    log.flush();
  }
}

interface Serving extends Pick<Running, "log" | "io" | "notices" | "stopRequested"> {
  readonly demo: Demo | undefined;
  readonly worker: CurrentWorker | undefined;
}

/** Resolves when the server has stopped. */
async function serve(service: Service, serving: Serving): Promise<void> {
  const { log, io, demo, notices, stopRequested, worker } = serving;
  const { config } = service;
  const bounds = boundsOf(config.workers);
  let draining = false;
  const busy = openBusyLog((line) =>
    log.warn({ ...line, cause: redactSecrets(line.cause) }, "requests refused: busy"),
  );
  // Imported only here: the other commands start in two thirds of the time without the web server.
  const { createApp } = await import("../../app.ts");
  const { openCertificateListeners } = await import("../../modules/certificate-listeners.ts");
  const app = await createApp(service, {
    // A container's process often has the same name and number again: references of an earlier one stay apart.
    nodeName: `${hostname().slice(0, 20)}-${newUuid().slice(-6)}`,
    logRequest: log.request,
    logDocuments: (served) => log.info({ served }, "published documents"),
    logCutConnections: (cut) => log.warn(cut, "connections cut"),
    logRefusal: (refusal) => log.info(refusal, "request refused"),
    logError: (error, requestId, status) => {
      if (status === 503) busy.note(error);
      else log.error({ requestId, ...describeError(error) }, "request failed");
    },
    isDraining: () => draining,
    connectionBounds: bounds,
    ...(demo ? { demo: demo.shown } : {}),
  });
  const listeners = await openCertificateListeners(app, config, listenerEvents(log), bounds);
  if (!worker) await noteServer(config, service.isDemo === true, log);
  try {
    await app.listen({ host: config.host, port: config.port });
    await listeners.listen();
  } catch (error) {
    await app.close();
    throw error;
  }
  const stopReloading = onHangUp(() => void listeners.reload());
  const stopBackground = startBackground(service, log);
  const { baseUrl, mtlsBaseUrl } = config;
  log.info({ baseUrl, mtlsBaseUrl, database: service.database.kind, migrated: service.migrated }, "ready");
  if (demo && !worker) printDemo(demo, io, { hasMailbox: service.mailTransport.kind === "mailbox" });
  worker?.ready(service.database.stuckFor);
  notices.ready(() => service.database.stuckFor() > STUCK_MS);

  const signal = await stopRequested;
  draining = true;
  notices.stopping();
  log.info({ signal }, "stopping: draining requests in progress");
  // Nobody balances the load of a server that is stopped at its terminal, or that has failed.
  const listeningSeconds = signal === "SIGTERM" ? service.config.drainSeconds : 0;
  setTimeout(() => service.database.abandon(), listeningSeconds * 1_000 + LAST_WRITES_MS).unref();
  await drain(app, listeners, listeningSeconds);
  busy.end();
  stopReloading();
  await stopBackground();
}

const logReplica = (log: Log) => (state: ReplicaState) =>
  state === "ok" ? log.info({ state }, "database replica") : log.warn({ state }, "database replica");

const listenerEvents = (log: Log): ListenerEvents => ({
  reloaded: () => log.info("mTLS certificate reloaded"),
  failed: (error) => log.error(describeError(error), "reloading the mTLS certificate failed"),
  refused: (cause) => log.info({ cause }, "request refused by the proxy listener"),
  cut: (cut) => log.warn(cut, "connections cut"),
});

/** Starts the background jobs. @returns a function that stops them and waits for running work */
function startBackground(service: Service, log: Log): () => Promise<void> {
  const { config } = service;
  const isStreamed = config.auditStream !== undefined;
  // Looked at from now on, and logged.
  service.database.replica?.state();
  const keepLog = (orgId: string) => keepAuditLog(service.database.query, config.dataDir, orgId);
  const stopHousekeeping = startHousekeeping({
    ...service,
    featureRemovals: signingRequestRemovals(service.activity.count),
    works: [
      () => finishDeletions({ ...service, keepLog, isStreamed }),
      () => checkDueDomains(service),
      () => deleteUnusedClients(service),
      auditRetention({
        ...{ ...service, key: service.chainKey, isStreamed },
        onError: (error) => log.error(describeError(error), "cutting the audit log failed"),
      }),
    ],
    onError: (error) => log.error(describeError(error), "housekeeping failed"),
  });
  const stopLogoutDelivery = startLogoutDelivery({
    ...service,
    baseUrl: config.baseUrl,
    onError: (error) => log.error(describeError(error), "delivering back-channel logouts failed"),
  });
  const stopLedger = startLedger({
    ...service,
    baseUrl: config.baseUrl,
    onError: (error) => log.error(describeError(error), "growing the ledgers failed"),
  });
  const stopMailDelivery = startMailDelivery({
    ...service,
    compose: mailComposer({ ...service, baseUrl: config.baseUrl }),
    transport: service.mailTransport,
    note: (line) => log.info(line, "mail"),
    onError: (error) => log.error(describeError(error), "sending mail failed"),
  });
  const events = startEventWorker({
    ...service,
    kinds: eventTargetKinds(service),
    onError: (error) => log.error(describeError(error), "sending events failed"),
  });
  const stopAuditChain = startAuditChain({
    ...service,
    noteHead: (head) => log.info(head, "audit head"),
    moved: ({ orgId }) => events.moved(orgId),
    onError: (error) => log.error(describeError(error), "chaining the audit log failed"),
  });
  const stopAuditStream = startStream(service, log);
  return async () => {
    await Promise.all([stopHousekeeping(), stopLogoutDelivery(), stopMailDelivery()]);
    // Last, so that the other jobs' final events are chained too.
    await stopAuditChain();
    await Promise.all([events.stop(), stopAuditStream(), stopLedger()]);
  };
}

function nextSignal(): Promise<string> {
  return new Promise((resolve) => {
    // A worker hears of one stop twice: from the terminal, and from the process that started it.
    for (const signal of ["SIGTERM", "SIGINT"] as const)
      if (currentWorker()) process.on(signal, () => resolve(signal));
      else process.once(signal, () => resolve(signal));
  });
}

/** SIGHUP: the conventional signal after a certificate renewal. */
function onHangUp(act: () => void): () => void {
  process.on("SIGHUP", act);
  return () => void process.off("SIGHUP", act);
}
