/**
 * Metrics of `signet start`: a listener of their own (SIGNET_METRICS_PORT), in the process that serves or, where several serve, in
 * the one that starts them, which asks each and adds them up. Loaded only where a port is set.
 */
import { once } from "node:events";
import type { Server } from "node:http";
import type { MetricsSettings } from "../../config/metrics-settings.ts";
import { metricsListener } from "../../http/listeners/metrics-listener.ts";
import type { Service } from "../../modules/open-service.ts";
import { serviceMetrics } from "../../modules/service-metrics.ts";
import { CONTENT_TYPE, openExposition } from "../../telemetry/exposition.ts";
import { watchOrganisations } from "../../telemetry/requests.ts";
import { answerMetrics, workerMetrics } from "./worker-metrics.ts";

export interface MetricsEvents {
  onError(error: unknown): void;
}

/** Of the process that serves. @param isWorker it answers the process that has started it. @returns the end */
export async function startMetrics(
  service: Service,
  settings: MetricsSettings,
  { isWorker, onError }: MetricsEvents & { readonly isWorker: boolean },
): Promise<() => Promise<void>> {
  const organisations = settings.hasOrganisations ? [watchOrganisations()] : [];
  const exposition = openExposition([...serviceMetrics(service), ...organisations]);
  if (isWorker) {
    const stop = answerMetrics(exposition);
    return async () => {
      stop();
      exposition.close();
    };
  }
  const server = metricsListener({ contentType: CONTENT_TYPE, text: exposition.text, onError });
  await listen(server, settings);
  return async () => {
    exposition.close();
    close(server);
  };
}

/** Of the process that has started the others. @returns the end */
export async function startWorkerMetrics(
  settings: MetricsSettings,
  { onError }: MetricsEvents,
): Promise<() => void> {
  const workers = workerMetrics();
  const server = metricsListener({ contentType: CONTENT_TYPE, text: workers.text, onError });
  await listen(server, settings);
  return () => {
    workers.close();
    close(server);
  };
}

async function listen(server: Server, { port, host }: MetricsSettings): Promise<void> {
  server.listen({ port, host });
  // Rejects with the error of an address that can't be used.
  await once(server, "listening");
}

function close(server: Server): void {
  server.close();
  server.closeAllConnections();
}
