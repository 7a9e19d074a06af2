/** Prometheus metrics and the health check. No label identifies a user or a token, and each has few values. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export type Metrics = ReturnType<typeof createMetrics>;

const secondsBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30, 120];

export function createMetrics() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, prefix: "signet_agent_" });
  const registers = [registry];
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name: `signet_agent_${name}`, help, labelNames, registers });
  const gauge = (name: string, help: string) => new Gauge({ name: `signet_agent_${name}`, help, registers });
  return {
    registry,
    duration: new Histogram({
      name: "signet_agent_request_duration_seconds",
      help: "Time from the claim to the end of a request",
      labelNames: ["outcome"],
      buckets: secondsBuckets,
      registers,
    }),
    refusals: counter("refusals_total", "Requests that the agent refused", ["reason", "check"]),
    signedTokens: counter("tokens_signed_total", "Tokens signed", ["use", "alg"]),
    challenges: counter("challenges_total", "Challenges by outcome", ["type", "outcome"]),
    serviceErrors: counter("service_errors_total", "Failed calls to the service", ["kind"]),
    lastAnswer: gauge("service_last_answer_timestamp_seconds", "Time of the service's last valid answer"),
    clockSkew: gauge("clock_skew_seconds", "The service's clock minus this machine's"),
    inFlight: gauge("requests_in_flight", "Requests being checked and signed"),
    waitingForUsers: gauge("challenges_waiting", "Requests waiting for a user's answer"),
    journalEntries: gauge("journal_entries", "Sequence number of the last journal entry"),
    policyReloaded: gauge("policy_last_reload_success", "1 if the last policy reload succeeded"),
    policyLoadedAt: gauge("policy_loaded_timestamp_seconds", "Time when the current policy was loaded"),
  };
}

/** Serves `/metrics` and `/healthz`, on loopback by default. */
export async function serveMetrics(
  { host = "127.0.0.1", port }: { host?: string | undefined; port: number },
  registry: Registry,
  isHealthy: () => boolean,
) {
  const server = createServer(async (request, response) => {
    const answer = (status: number, text: string, type = "text/plain") =>
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(text);
    if (request.method !== "GET") return answer(405, "GET only\n");
    if (request.url === "/healthz")
      return isHealthy() ? answer(200, "ok\n") : answer(503, "the service does not answer\n");
    if (request.url !== "/metrics") return answer(404, "see /metrics and /healthz\n");
    const text = await registry.metrics().catch(() => undefined);
    return text === undefined ? answer(500, "no metrics\n") : answer(200, text, registry.contentType);
  });
  server.requestTimeout = 5_000;
  const { promise: listening, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject).listen(port, host, resolve);
  await listening;
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
