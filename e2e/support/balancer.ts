/** A load balancer in front of several nodes: the test chooses the node of each request. */
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";

export type Balancer = {
  /** The number of requests per node. */
  counts: number[];
  /** Chooses the node's index for each request. Default: round robin. */
  route(choose: (path: string) => number): void;
  close(): Promise<void>;
};

/**
 * Listens on `port` of 127.0.0.1.
 * @param nodePorts the nodes' ports on localhost
 */
export async function openBalancer(port: number, nodePorts: readonly number[]): Promise<Balancer> {
  const counts = nodePorts.map(() => 0);
  let turn = 0;
  let choose = (_path: string): number => turn++ % nodePorts.length;
  const server = createServer((request, response) => {
    const index = choose(request.url ?? "/");
    counts[index] = (counts[index] ?? 0) + 1;
    passOn(request, response, nodePorts[index] ?? 0);
  }).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    counts,
    route: (next) => {
      choose = next;
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function passOn(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, headers, url: path } = request;
  const passed = httpRequest({ host: "localhost", port, method, path, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
  });
  passed.on("error", () => response.destroy());
  request.pipe(passed);
}
