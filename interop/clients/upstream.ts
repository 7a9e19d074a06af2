/** An application behind a proxy: it answers the headers that it receives. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface Upstream {
  readonly port: number;
  close(): void;
}

export async function startUpstream(): Promise<Upstream> {
  const server = createServer((request, response) => response.end(JSON.stringify(request.headers)));
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
