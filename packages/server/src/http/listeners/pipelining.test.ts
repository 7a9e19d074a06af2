import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, suite, test } from "node:test";
import { eventually } from "../../testing/eventually.ts";
import { mtlsClient, testListeners } from "../../testing/test-listeners.ts";
import { startTestService } from "../../testing/test-service.ts";
import { pipelineLimit } from "./pipelining.ts";

const requests = (count: number, path = "/") => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(count);

suite("requests that wait behind another on one connection", () => {
  const admits = pipelineLimit(3);
  const held: ServerResponse[] = [];
  /** Listeners for the end of the connection, at its last request. */
  let listeners = 0;
  const server = createServer((request, response) => {
    listeners = request.socket.listenerCount("close");
    if (admits(request, response)) held.push(response);
  });
  let port: number;
  before(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    port = (server.address() as AddressInfo).port;
  });
  after(() => {
    server.closeAllConnections();
    server.close();
  });

  test("as many as are allowed are answered in order, again and again", async () => {
    const socket = connect(port, "127.0.0.1").setEncoding("utf8");
    let answers = "";
    socket.on("data", (text: string) => {
      answers += text;
    });
    const rounds = Array.from({ length: 12 }, (_, index) => index + 1);
    let atFirst = 0;
    for (const round of rounds) {
      socket.write(requests(4));
      await eventually("they have come", () => held.length === 4);
      if (round === 1) atFirst = listeners;
      for (const [index, response] of held.splice(0).entries()) response.end(`<${round}.${index}>`);
      await eventually("they are answered", () => answers.includes(`<${round}.3>`));
    }
    assert.deepEqual(
      answers.match(/<[\d.]+>/g),
      rounds.flatMap((round) => [0, 1, 2, 3].map((index) => `<${round}.${index}>`)),
    );
    assert.equal(listeners, atFirst, "nothing is left of those that were answered");
    socket.destroy();
  });

  test("one more cuts the connection, and none of the many behind it is handled", async () => {
    const socket = connect(port, "127.0.0.1").on("error", () => {});
    socket.resume().write(requests(500));
    await once(socket, "close");
    assert.equal(held.splice(0).length, 4);
  });
});

test("the service cuts a caller who sends many requests at once, on every listener", async () => {
  const listeners = await testListeners();
  const { baseUrl, lines, close } = await startTestService({
    databaseUrl: "sqlite::memory:",
    env: listeners.env,
  });
  const secure = mtlsClient(listeners);
  try {
    for (const url of [baseUrl, listeners.proxyUrl]) {
      const before = lines.length;
      const socket = connect(Number(new URL(url).port), "127.0.0.1").on("error", () => {});
      socket.resume().write(requests(300, "/healthz"));
      await once(socket, "close");
      assert.ok(lines.length - before <= 9, url);
    }
    assert.equal((await secure.get("/healthz")).status, 200);
  } finally {
    secure.close();
    await close();
    await listeners.remove();
  }
});
