/** The application's end of a journey: a small site on a loopback port that takes the answers of the service. */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";

/** What came in, as the application sees it. */
export type Received = { method: string; url: URL; contentType: string; body: string };

export type SiteFile = { contentType: string; text: string };

export type ApplicationSite = {
  /** `http://127.0.0.1:<port>` */
  origin: string;
  /** The answer at `/callback` that nobody has taken yet; waits for it, 30 seconds at most. */
  callback(): Promise<Received>;
  /** Drops what nobody has taken, so that a journey does not get the answer of one that failed. */
  forget(): void;
  /**
   * Flags that make a browser reach this site at other loopback addresses, `host:port`: those that the demo's
   * applications have registered, whoever else may use these ports on the machine.
   */
  flagsToServe(addresses: readonly string[]): string[];
  close(): Promise<void>;
};

const callbackMs = 30_000;

/** @param files what the site serves beside `/callback`, by path */
export async function openApplicationSite(files: Record<string, SiteFile> = {}): Promise<ApplicationSite> {
  const arrived: Received[] = [];
  const waiting: Array<(received: Received) => void> = [];
  const server = createServer(async (request, response) => {
    const received = await read(request);
    const { pathname } = received.url;
    if (pathname === "/callback" && received.url.search + received.body !== "") {
      const next = waiting.shift();
      if (next) next(received);
      else arrived.push(received);
    }
    const file = files[pathname] ?? plainPage;
    response.setHeader("content-type", file.contentType).end(file.text);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    callback: async () => arrived.shift() ?? (await nextOf(waiting)),
    forget: () => {
      arrived.length = 0;
    },
    flagsToServe: (addresses) => [
      `--host-resolver-rules=${addresses.map((address) => `MAP ${address} 127.0.0.1:${port}`).join(",")}`,
    ],
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const plainPage: SiteFile = {
  contentType: "text/html; charset=utf-8",
  text: '<!doctype html><html lang="en"><title>The application</title><p>The application',
};

async function read(request: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return {
    method: request.method ?? "",
    url: new URL(request.url ?? "/", `http://${request.headers.host}`),
    contentType: request.headers["content-type"] ?? "",
    body: Buffer.concat(chunks).toString(),
  };
}

async function nextOf(waiting: Array<(received: Received) => void>): Promise<Received> {
  const { promise, resolve, reject } = Promise.withResolvers<Received>();
  waiting.push(resolve);
  const timer = setTimeout(() => reject(new Error("nothing came to /callback")), callbackMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}
