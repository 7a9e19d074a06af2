import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, suite, test } from "node:test";
import Fastify from "fastify";
import { endWithBytes, sendBytes } from "./send-bytes.ts";

/** Beyond what the system's own buffers take. */
const LARGE = Buffer.from("0123456789abcdef".repeat(2 * 1024 * 1024));

suite("answers from bytes that exist once", () => {
  let held = () => 0;
  const plain = createServer((request, response) => {
    held = () => response.writableLength + (response.socket?.writableLength ?? 0);
    const length = Number(request.url?.slice(1));
    response.setHeader("content-length", length);
    endWithBytes(response, LARGE.subarray(0, length));
  });
  const app = Fastify();
  app.get("/:length", { exposeHeadRoute: true }, async (request, reply) => {
    held = () => reply.raw.writableLength + (reply.raw.socket?.writableLength ?? 0);
    await sendBytes(reply, LARGE.subarray(0, Number((request.params as { length: string }).length)));
    return reply;
  });
  const servers: Server[] = [plain, app.server];
  before(async () => {
    await app.ready();
    for (const server of servers) await once(server.listen(0, "127.0.0.1"), "listening");
  });
  after(async () => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  const portOf = (server: Server) => (server.address() as AddressInfo).port;

  for (const [name, server] of [
    ["node:http", plain],
    ["a route", app.server],
  ] as const) {
    test(`${name}: every length arrives whole, with its length in the head`, async () => {
      for (const length of [0, 1, 32 * 1024, 32 * 1024 + 1, 300_000, LARGE.length]) {
        const answer = await fetch(`http://127.0.0.1:${portOf(server)}/${length}`);
        assert.equal(answer.headers.get("content-length"), String(length));
        assert.ok(Buffer.from(await answer.arrayBuffer()).equals(LARGE.subarray(0, length)), String(length));
      }
    });

    test(`${name}: a caller who does not read holds a piece or two, not the whole`, async () => {
      const socket = connect(portOf(server), "127.0.0.1").pause();
      socket.write(`GET /${LARGE.length} HTTP/1.1\r\nHost: a\r\n\r\n`);
      // Until nothing has moved for a while: the system's buffers are full.
      let sent = -1;
      for (let same = 0; same < 20; ) {
        await new Promise((resolve) => setTimeout(resolve, 10));
        const now = held();
        same = now === sent && now > 0 ? same + 1 : 0;
        sent = now;
      }
      assert.ok(sent <= 192 * 1024, `${sent} bytes`);
      socket.destroy();
    });
  }

  test("a HEAD has the length and no body", async () => {
    const answer = await fetch(`http://127.0.0.1:${portOf(app.server)}/300000`, { method: "HEAD" });
    assert.equal(answer.headers.get("content-length"), "300000");
    assert.equal(await answer.text(), "");
  });
});
