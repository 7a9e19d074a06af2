/** `/metrics` for Prometheus and `/healthz` for whoever restarts it: on loopback unless the configuration says otherwise. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Registry } from "prom-client";

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** @param isHealthy whether the service answered lately */
export async function serveMetrics(
  { host = "127.0.0.1", port }: { host?: string | undefined; port: number },
  registry: Registry,
  isHealthy: () => boolean,
): Promise<MetricsServer> {
  const server = createServer((request, response) => {
    const answer = (status: number, type: string, text: string) =>
      response.writeHead(status, { "content-type": type, "cache-control": "no-store" }).end(text);
    if (request.method !== "GET") return answer(405, "text/plain", "GET only\n");
    if (request.url === "/healthz")
      return isHealthy()
        ? answer(200, "text/plain", "ok\n")
        : answer(503, "text/plain", "the service does not answer\n");
    if (request.url !== "/metrics") return answer(404, "text/plain", "see /metrics and /healthz\n");
    return registry.metrics().then(
      (text) => answer(200, registry.contentType, text),
      () => answer(500, "text/plain", "no metrics\n"),
    );
  });
  server.requestTimeout = 5_000;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
