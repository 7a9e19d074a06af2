/** The listener for Prometheus, and for nothing else: metrics tell how busy a service is, so they have no place among its pages. */
import { createServer, type RequestListener, type Server } from "node:http";

export interface MetricsListenerOptions {
  readonly contentType: string;
  text(): Promise<string>;
  onError(error: unknown): void;
}

export function metricsListener({ contentType, text, onError }: MetricsListenerOptions): Server {
  const answer: RequestListener = async (request, response) => {
    const [path] = (request.url ?? "").split("?");
    if (path !== "/metrics" || (request.method !== "GET" && request.method !== "HEAD")) {
      response.writeHead(404, { "content-type": "text/plain; charset=utf-8" }).end("Not found\n");
      return;
    }
    try {
      const body = await text();
      response.writeHead(200, { "content-type": contentType, "cache-control": "no-store" });
      response.end(request.method === "HEAD" ? undefined : body);
    } catch (error) {
      onError(error);
      response.writeHead(500, { "content-type": "text/plain; charset=utf-8" }).end("Not available\n");
    }
  };
  // Few and small: a scrape is one request of a few headers.
  return createServer(
    {
      requestTimeout: 10_000,
      headersTimeout: 10_000,
      maxHeaderSize: 8_192,
      connectionsCheckingInterval: 5_000,
    },
    answer,
  );
}
