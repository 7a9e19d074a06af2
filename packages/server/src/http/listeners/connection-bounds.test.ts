import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer, type Server as SecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { after, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { connect as connectSecure } from "node:tls";
import { eventually } from "../../testing/eventually.ts";
import { selfSigned } from "../../testing/fixtures/self-signed.ts";
import { testListeners } from "../../testing/test-listeners.ts";
import { startTestService } from "../../testing/test-service.ts";
import { endWithBytes } from "../send-bytes.ts";
import {
  addressList,
  boundConnections,
  type ConnectionBounds,
  type CutConnections,
} from "./connection-bounds.ts";

const WIDE: ConnectionBounds = { total: 100, perAddress: 100, stalledMs: 400 };
const LARGE = Buffer.alloc(32 * 1024 * 1024, "x");

suite("connections of a listener", () => {
  const opened: Array<Server | SecureServer> = [];
  const clients: Socket[] = [];
  after(() => {
    for (const client of clients) client.destroy();
    for (const server of opened) {
      server.closeAllConnections();
      server.close();
    }
  });

  const answering: RequestListener = (request, response) => {
    if (request.url === "/large") endWithBytes(response, LARGE);
    else if (request.url === "/whole") response.end(LARGE);
    else if (request.url === "/small") response.end("small");
  };
  async function listen(
    bounds: Partial<ConnectionBounds>,
    { exempt = [], isSecure = false }: { exempt?: string[]; isSecure?: boolean } = {},
  ) {
    const server = isSecure ? createSecureServer(selfSigned(), answering) : createServer(answering);
    const reports: CutConnections[] = [];
    const open = new Set<Socket>();
    server.on("connection", (socket: Socket) => {
      open.add(socket);
      socket.once("close", () => open.delete(socket));
    });
    const networkOf = (address: string) => address;
    const report = (cut: CutConnections) => void reports.push(cut);
    boundConnections(server, { exempt, networkOf, report }, { ...WIDE, ...bounds });
    opened.push(server.listen(0, "127.0.0.1"));
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const client = async (path: string, localAddress = "127.0.0.1") => {
      const target = { port, host: "127.0.0.1", localAddress };
      const socket = isSecure ? connectSecure({ ...target, rejectUnauthorized: false }) : connect(target);
      clients.push(socket.on("error", () => {}));
      await once(socket, isSecure ? "secureConnect" : "connect");
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      return socket;
    };
    return { client, open, reports };
  }

  for (const isSecure of [false, true]) {
    const where = isSecure ? " over TLS" : "";
    for (const path of ["/large", "/whole"])
      test(`one that reads nothing of ${path}${where} is cut`, async () => {
        const { client, open } = await listen({}, { isSecure });
        await client(path);
        await eventually("it is connected", () => open.size === 1);
        await eventually("it is cut", () => open.size === 0);
      });

    test(`one that reads slowly${where}, and one that waits for an answer, are left alone`, async () => {
      const stalledMs = 1_500;
      const { client, open } = await listen({ stalledMs }, { isSecure });
      const slow = await client("/whole");
      await client("/held");
      const began = performance.now();
      let read = 0;
      let allowed = 0;
      slow.on("data", ({ length }: Buffer) => {
        read += length;
        if (read >= allowed) slow.pause();
      });
      // A part at a time, for twice as long as would have cut it.
      while (performance.now() - began < 2 * stalledMs) {
        allowed += LARGE.length / 40;
        slow.resume();
        await delay(stalledMs / 15);
      }
      assert.ok(read > 0 && read < LARGE.length);
      assert.equal(open.size, 2);
    });
  }

  test("beyond the total, and beyond an address's share, connections are refused; a proxy has no share", async () => {
    const { client, open, reports } = await listen({ total: 6, perAddress: 2 }, { exempt: ["127.0.0.4/31"] });
    const isRefused = async (address: string) => {
      const socket = await client("/small", address);
      socket.resume();
      const [event] = await Promise.race([
        once(socket, "data").then(() => ["answered"]),
        once(socket, "close").then(() => ["closed"]),
      ]);
      return event === "closed";
    };
    const ask = async (addresses: string[]) => {
      const refused: boolean[] = [];
      for (const address of addresses) refused.push(await isRefused(address));
      return refused;
    };
    assert.deepEqual(await ask(["127.0.0.1", "127.0.0.1", "127.0.0.1"]), [false, false, true]);
    assert.deepEqual(await ask(["127.0.0.2"]), [false], "another address");
    assert.deepEqual(
      await ask(["127.0.0.5", "127.0.0.5", "127.0.0.5", "127.0.0.5"]),
      [false, false, false, true],
      "the proxy, up to the total",
    );
    // A connection that ends gives its place back.
    for (const socket of clients.splice(0)) socket.destroy();
    await eventually("all are closed", () => open.size === 0);
    assert.deepEqual(await ask(["127.0.0.1", "127.0.0.1", "127.0.0.1"]), [false, false, true]);
    assert.deepEqual(reports, []);
  });

  test("what is cut is reported as numbers, once for many", async (context) => {
    context.mock.timers.enable({ apis: ["setInterval"] });
    const { client, reports } = await listen({ total: 1 });
    for (let count = 0; count < 4; count++) await client("/small");
    context.mock.timers.tick(10_000);
    context.mock.timers.tick(10_000);
    assert.deepEqual(reports, [{ tooMany: 3, unread: 0 }]);
  });
});

test("reads addresses and networks of both families", () => {
  const isListed = addressList(["127.0.0.1", "10.0.0.0/8", "fd00::/8"]);
  for (const address of ["127.0.0.1", "10.9.8.7", "fd00::1", "::ffff:10.0.0.1"])
    assert.ok(isListed(address), address);
  for (const address of ["127.0.0.2", "11.0.0.1", "::1", "2001:db8::1"])
    assert.ok(!isListed(address), address);
});

test("every listener of the service is bounded", async () => {
  const listeners = await testListeners();
  const service = await startTestService({
    databaseUrl: "sqlite::memory:",
    env: listeners.env,
    connectionBounds: { ...WIDE, total: 2 },
  });
  const sockets: Socket[] = [];
  try {
    for (const url of [service.baseUrl, listeners.proxyUrl, listeners.mtlsUrl]) {
      const { port, hostname } = new URL(url);
      const opened = [1, 2, 3].map(() => connect(Number(port), hostname).on("error", () => {}));
      sockets.push(...opened);
      await Promise.race(opened.map((socket) => once(socket.resume(), "close")));
      await eventually(`two are left of ${url}`, () => opened.filter(({ closed }) => !closed).length === 2);
    }
  } finally {
    for (const socket of sockets) socket.destroy();
    await service.close();
    await listeners.remove();
  }
});
