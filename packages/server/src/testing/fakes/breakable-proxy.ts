/** A TCP proxy in front of the database that a test can interrupt and restore. */
import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../free-port.ts";

export interface BreakableProxy {
  /** The database's address, through the proxy. */
  readonly url: string;
  /** Cuts every connection and refuses new ones. */
  cut(): Promise<void>;
  restore(): Promise<void>;
  /**
   * Drops every byte of today's connections from now on, and for ever, without closing them, as a firewall that forgot
   * them. New connections are taken and get no byte either, until `thaw`.
   */
  freeze(): void;
  thaw(): void;
  close(): Promise<void>;
}

export async function breakableProxy(databaseUrl: string): Promise<BreakableProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const isolated = new Set<Socket>();
  let isFrozen = false;
  let epoch = 0;
  const server = createServer((inside) => {
    const born = epoch;
    const isDeaf = isFrozen;
    const outside = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [inside, outside],
      [outside, inside],
    ] as const) {
      sockets.add(from);
      from.on("data", (bytes) => {
        if (!isDeaf && born === epoch) to.write(bytes);
      });
      from.on("error", () => {});
      from.on("close", () => {
        sockets.delete(from);
        // Nobody at the other end hears of it.
        if (!isDeaf && born === epoch) to.destroy();
        else isolated.add(to);
      });
    }
  });
  const port = await freePort();
  const listen = () =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(port, "127.0.0.1", () => {
        server.off("error", reject);
        resolve();
      });
    });
  await listen();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;

  const cut = async () => {
    if (!server.listening) return;
    const closed = new Promise((resolve) => server.close(resolve));
    for (const socket of [...sockets, ...isolated]) socket.destroy();
    await closed;
  };
  return {
    url: url.href,
    cut,
    restore: async () => {
      if (!server.listening) await listen();
    },
    freeze: () => {
      isFrozen = true;
      epoch++;
    },
    thaw: () => {
      isFrozen = false;
    },
    close: cut,
  };
}
