/** What `signet start` observes of itself: slow statements, metrics, traces, and the audit stream. What nobody listens to isn't loaded. */
import type { Config } from "../../config/config.ts";
import { version } from "../../config/version.ts";
import { auditedRequest } from "../../core/audit/audited-request.ts";
import { openDestination } from "../../core/audit/stream/destination.ts";
import { startAuditStream } from "../../core/audit/stream/stream.ts";
import { measuredStatements } from "../../db/observed/statement-metrics.ts";
import { observeAll, type StatementObserver, slowStatements } from "../../db/observed/statement-observer.ts";
import { tracedStatements } from "../../db/observed/statement-spans.ts";
import type { Service } from "../../modules/open-service.ts";
import { describeError } from "./describe-error.ts";
import type { Log } from "./log.ts";

/** Undefined when nobody listens: statements then cost nothing more. */
export function statementObserver(
  { slowQueryMs, metrics, tracing }: Config,
  log: Log,
): StatementObserver | undefined {
  const tell = (slow: object) => {
    const requestId = auditedRequest()?.requestId;
    log.warn({ ...(requestId === undefined ? {} : { requestId }), ...slow }, "slow statement");
  };
  return observeAll([
    ...(slowQueryMs === undefined ? [] : [slowStatements(slowQueryMs, tell)]),
    ...(metrics ? [measuredStatements] : []),
    ...(tracing ? [tracedStatements] : []),
  ]);
}

/** Sends the audit log where it is wanted. @returns the end */
export function startStream(service: Service, log: Log): () => Promise<void> {
  const { auditStream } = service.config;
  if (!auditStream) return async () => {};
  return startAuditStream({
    ...service,
    send: openDestination(auditStream, service),
    onFailure: (error, retrySeconds) =>
      log.error({ ...describeError(error), retrySeconds }, "sending the audit stream failed"),
    onRecovery: () => log.info("the audit stream goes on"),
  });
}

/** @returns the end, when what is left was sent */
export async function startTraces({ tracing }: Config, log: Log): Promise<() => Promise<void>> {
  if (!tracing) return async () => {};
  const { openTelemetry } = await import("../../telemetry/otel.ts");
  const onFailure = (error: unknown) => log.warn(describeError(error), "sending traces failed");
  return openTelemetry({ version, ...tracing, onFailure });
}

const metricsFailed = (log: Log) => ({
  onError: (error: unknown) => log.error(describeError(error), "reading metrics failed"),
});

/** Of the process that starts the others. @returns the end */
export async function startMetricsOfWorkers({ metrics: settings }: Config, log: Log): Promise<() => void> {
  if (!settings) return () => {};
  const { startWorkerMetrics } = await import("./metrics.ts");
  return startWorkerMetrics(settings, metricsFailed(log));
}

/** Of a process that serves. @returns the end */
export async function startOwnMetrics(
  service: Service,
  log: Log,
  isWorker: boolean,
): Promise<() => Promise<void>> {
  const { metrics: settings } = service.config;
  if (!settings) return async () => {};
  const { startMetrics } = await import("./metrics.ts");
  return startMetrics(service, settings, { isWorker, ...metricsFailed(log) });
}
