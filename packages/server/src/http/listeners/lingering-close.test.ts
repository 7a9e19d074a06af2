/** A body that is refused: its client hears so, however it writes, and the connection ends. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { after, before, test } from "node:test";
import { type LingerBounds, lingerAfter } from "./lingering-close.ts";

const MIB = 1024 * 1024;

let servers: Server[] = [];
const serve = async (bounds?: LingerBounds): Promise<number> => {
  const server = createServer((incoming, response) => {
    lingerAfter(incoming, bounds);
    response.writeHead(413, { connection: "close", "content-length": 9 }).end("too large");
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

let port: number;
before(async () => {
  port = await serve();
});
after(() => {
  for (const server of servers) server.close();
  servers = [];
});

const head = (length: number) => `POST / HTTP/1.1\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n`;

/** Writes all of it, whatever comes back meanwhile. @returns what came back, and the error of the connection */
async function writeAll(to: number, length: number) {
  const socket = connect(to, "127.0.0.1");
  let [said, error] = ["", ""];
  socket.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  socket.on("error", (cause: NodeJS.ErrnoException) => {
    error = cause.code ?? cause.message;
  });
  socket.write(head(length));
  const chunk = Buffer.alloc(64 * 1024);
  for (let left = length; left > 0 && !socket.destroyed; left -= chunk.length)
    if (!socket.write(chunk.subarray(0, Math.min(chunk.length, left))))
      await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => undefined);
  socket.end();
  if (!socket.closed) await once(socket, "close").catch(() => undefined);
  return { said, error };
}

test("who writes a large body to its end gets the answer, and no broken pipe", async () => {
  for (let count = 0; count < 5; count++) {
    const { said, error } = await writeAll(port, 10 * MIB);
    assert.match(said, /^HTTP\/1\.1 413 /);
    assert.equal(error, "");
  }
});

test("Node's own clients get it as well", async () => {
  const body = Buffer.alloc(10 * MIB);
  for (let count = 0; count < 5; count++) {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: "POST", body });
    assert.deepEqual([answer.status, await answer.text()], [413, "too large"]);
    const asked = request({ port, method: "POST", headers: { "content-length": body.length } });
    // Once the answer is there, what is left of the body may meet a closed connection. An error before it fails `once`.
    asked.on("error", () => undefined);
    asked.end(body);
    const [incoming] = await once(asked, "response");
    assert.equal(incoming.statusCode, 413);
    incoming.resume();
    await once(incoming, "end");
  }
});

test("nobody is read on without end", async () => {
  const few = await serve({ maxBytes: MIB, maxMs: 60_000 });
  assert.match((await writeAll(few, 64 * MIB)).error, /EPIPE|ECONNRESET/);
  const short = await serve({ maxBytes: 64 * MIB, maxMs: 50 });
  const socket = connect(short, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write(head(10));
  socket.resume();
  // Nothing of the body comes: the server ends it by itself.
  await once(socket, "close");
});

test("a request behind it is not answered", async () => {
  const socket = connect(port, "127.0.0.1");
  let said = "";
  socket.on("data", (bytes: Buffer) => {
    said += bytes.toString();
  });
  socket.write(head(10));
  await once(socket, "data");
  socket.end(`0123456789${head(0)}`);
  await once(socket, "close");
  assert.equal(said.match(/HTTP\/1\.1/g)?.length, 1);
});
