/** What is refused before node:http reads it: however the bytes come, each request gets one answer, in its turn, and it is its own. */
import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type RequestListener, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { eventually } from "../../testing/eventually.ts";
import { fewPlaces } from "../../testing/few-places.ts";
import { serverBounds } from "../listeners/server-bounds.ts";
import { boundedHandler } from "./bounded-handler.ts";
import { type GuardOptions, guardConnection, noteRequest } from "./connection-guard.ts";
import { latePlace } from "./places.ts";

/** Nothing has a place, and once something was refused there is too much for the rest of the test. */
const full = { ...fewPlaces(0, { waiting: 0, waitMs: 100 }), calmMs: 600_000 };
const ORG = "01998d6e-0000-7000-8000-00000000000a";

/** A server that refuses everything but health checks, which it answers with their query. */
async function serve(context: TestContext, limits = full) {
  const state = { read: 0, refused: 0, isStopping: false };
  const held: ServerResponse[] = [];
  const handler: RequestListener = (request, response) => {
    if (request.method === "GET") return response.end(request.url);
    request.resume().once("end", async () => {
      await latePlace(response);
      held.push(response);
    });
  };
  const bounded = boundedHandler(handler, {
    limits,
    onRefused: () => state.refused++,
    headers: ["X-Every", "1"],
    refuseBrowser: (_request, response) => response.writeHead(503, { "content-length": 4 }).end("page"),
    idOf: ({ headers }) => `${headers["x-request-id"] ?? "new"}`,
    isStopping: () => state.isStopping,
  });
  const server = createServer({ ...serverBounds }, (request, response) => {
    state.read++;
    noteRequest(request, response);
    bounded.answer(request, response);
  });
  server.on("connection", bounded.connected);
  await once(server.listen(0, "127.0.0.1"), "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const open = async () => {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    context.after(() => socket.destroy());
    await once(socket, "connect");
    return { socket, answers: answersOf(socket) };
  };
  return { state, held, open, url: `http://127.0.0.1:${port}` };
}

/** What came so far, told apart by Content-Length: "503", or the body of any other answer. */
function answersOf(socket: Socket): () => string[] {
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
  });
  return () => {
    const found: string[] = [];
    for (let at = 0; at < text.length; ) {
      const [, status = "", fields = ""] =
        /^HTTP\/1\.1 (\d+) [^\r]*\r\n(.*?\r\n)\r\n/s.exec(text.slice(at)) ?? [];
      const length = Number(/content-length: (\d+)/i.exec(fields)?.[1] ?? 0);
      const start = text.indexOf("\r\n\r\n", at) + 4;
      if (status === "" || text.length < start + length) return [...found, "..."];
      const body = text.slice(start, start + length);
      found.push(status === "200" || body === "page" ? body : status);
      at = start + length;
    }
    return found;
  };
}

const post = (body = "a=b", fields = "") =>
  `POST /oauth/${ORG}/token HTTP/1.1\r\nHost: a\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`;
const healthy = (query: string) => `GET /livez?${query} HTTP/1.1\r\nHost: a\r\n\r\n`;

async function ask(
  { socket, answers }: Awaited<ReturnType<Awaited<ReturnType<typeof serve>>["open"]>>,
  text: string,
) {
  const before = answers().length;
  socket.write(text);
  await eventually("it is answered", () => answers().length > before && answers().at(-1) !== "...");
  return answers().at(-1);
}

test("on a connection that was refused the next request but one is refused before node:http reads it, as any other is", async (context) => {
  const { state, open, url } = await serve(context);
  const ordinary = await fetch(`${url}/oauth/${ORG}/token`, { method: "POST", body: "a=b" });
  const connection = await open();
  // The connection was opened while there was too much.
  assert.equal(await ask(connection, post()), "503");
  assert.deepEqual([state.read, state.refused], [1, 2]);
  const kept = await fetch(`${url}/oauth/${ORG}/token`, { method: "POST", body: "a=b" });
  const again = await fetch(`${url}/oauth/${ORG}/token`, { method: "POST", body: "a=b" });
  assert.equal(state.refused, 4);
  assert.equal(
    state.read,
    2,
    "the first of its connection after the refusal proves where its requests begin",
  );
  const [first, second] = [ordinary, again].map(({ status, headers }) => [
    status,
    Object.fromEntries([...headers].filter(([name]) => name !== "date")),
  ]);
  assert.deepEqual(second, first);
  assert.equal(await again.text(), await kept.text());
});

test("however the bytes of requests come, each has one answer, in order", async (context) => {
  const { state, open, url } = await serve(context);
  await fetch(url, { method: "POST" });
  const request = fc.oneof(
    { weight: 4, arbitrary: fc.constant({ text: post(), answer: "503" }) },
    fc.nat(99).map((id) => ({ text: healthy(`n=${id}`), answer: `/livez?n=${id}` })),
    // Bodies that are requests themselves.
    fc.constant({ text: post(post()), answer: "503" }),
    fc.constant({ text: post(healthy("inner")), answer: "503" }),
  );
  const exchange = fc.record({
    requests: fc.array(request, { minLength: 1, maxLength: 12 }),
    cuts: fc.array(fc.nat(2_000), { maxLength: 12 }),
    isApart: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(exchange, async ({ requests, cuts, isApart }) => {
      const { socket, answers } = await open();
      // Each on its own, so that most are seen as a whole; or all together, cut anywhere.
      const whole = requests.map(({ text }) => text);
      const pieces = isApart
        ? whole.flatMap((text, at) => cut(text, cuts.slice(at, at + 1)))
        : cut(whole.join(""), cuts);
      for (const piece of pieces) {
        socket.write(piece);
        await turn();
        await turn();
      }
      await eventually(
        "all are answered",
        () => answers().length >= requests.length && answers().at(-1) !== "...",
      );
      assert.deepEqual(
        answers(),
        requests.map(({ answer }) => answer),
      );
      socket.destroy();
    }),
    { numRuns: 60 },
  );
  assert.ok(state.refused > 0 && state.read > 0);
});

function cut(text: string, cuts: readonly number[]): string[] {
  const places = [...new Set(cuts.map((at) => at % text.length))].sort((one, other) => one - other);
  return [0, ...places]
    .map((at, index) => text.slice(at, places[index] ?? text.length))
    .filter((part) => part !== "");
}

test("a body that looks like a request is no request, and is not answered", async (context) => {
  const { open } = await serve(context);
  const connection = await open();
  for (let count = 0; count < 3; count++) assert.equal(await ask(connection, post()), "503");
  const inner = post();
  connection.socket.write(post(inner).slice(0, -inner.length));
  await turn();
  await turn();
  connection.socket.write(inner);
  await turn();
  await turn();
  assert.equal(await ask(connection, healthy("after")), "/livez?after");
  assert.deepEqual(connection.answers(), ["503", "503", "503", "503", "/livez?after"]);
});

test("a service that stops lets node:http refuse, which says that the connection ends", async (context) => {
  const { state, open } = await serve(context);
  const connection = await open();
  for (let count = 0; count < 4; count++) await ask(connection, post());
  const { read } = state;
  state.isStopping = true;
  await ask(connection, post());
  assert.equal(state.read, read + 1);
});

test("it has the id of its request", async (context) => {
  const { open } = await serve(context);
  const { socket, answers } = await open();
  let text = "";
  socket.on("data", (bytes) => {
    text += bytes.toString();
  });
  for (const id of ["one", "two", "three", "four"])
    await ask({ socket, answers }, post("a=b", `X-Request-Id: ${id}\r\n`));
  assert.deepEqual(
    [...text.matchAll(/x-request-id: (\w+)/gi)].map(([, id]) => id),
    ["one", "two", "three", "four"],
  );
  assert.deepEqual(
    [...text.matchAll(/"instance":"(\w+)"/g)].map(([, id]) => id),
    ["one", "two", "three", "four"],
  );
});

test("a refusal waits for the answers before it", async (context) => {
  const { held, open } = await serve(context, {
    ...fewPlaces(1, { waiting: 0, waitMs: 100 }),
    calmMs: 600_000,
  });
  const [other, connection] = [await open(), await open()];
  other.socket.write(post());
  await eventually("the other one has the place", () => held.length === 1);
  for (let count = 0; count < 3; count++) assert.equal(await ask(connection, post()), "503");
  held[0]?.end("first");
  await eventually("the place is free", () => other.answers().at(0) === "first");
  connection.socket.write(post());
  await eventually("this one has it", () => held.length === 2);
  connection.socket.write(post());
  await turn();
  await turn();
  assert.equal(connection.answers().length, 3);
  held[1]?.end("second");
  await eventually("both are answered", () => connection.answers().length === 5);
  assert.deepEqual(connection.answers().slice(3), ["second", "503"]);
});

test("a refusal that is still to be sent is sent before what comes next is read", () => {
  const [log, due]: [string[], Array<() => void>] = [[], []];
  const socket = Object.assign(new EventEmitter(), {
    writableLength: 0,
    write: (text: string) => log.push(text),
  });
  socket.on("data", (bytes: Buffer) => log.push(`read ${bytes.toString().slice(0, 10)}`));
  const options: GuardOptions = {
    ...{ isBusy: () => true, refuses: () => true, idOf: () => "id", refusal: (id) => `refused ${id}` },
    refusals: { add: (send) => due.push(send) },
  };
  guardConnection(socket as unknown as Socket, options, true);
  socket.emit("data", Buffer.from(post()));
  assert.deepEqual(log, []);
  socket.emit("data", Buffer.from(healthy("next")));
  assert.deepEqual(log, ["refused id", "read GET /livez"]);
  for (const send of due) send();
  assert.equal(log.length, 2);
});

test("a browser gets its page", async (context) => {
  const { open } = await serve(context);
  const connection = await open();
  for (let count = 0; count < 3; count++) assert.equal(await ask(connection, post()), "503");
  assert.equal(await ask(connection, post("a=b", "Accept: text/html\r\n")), "page");
});

test("what node:http reads as another request than the bytes were proves nothing", async (context) => {
  const { state, open } = await serve(context);
  const connection = await open();
  for (let count = 0; count < 3; count++) assert.equal(await ask(connection, post()), "503");
  const { read } = state;
  connection.socket.write("GET /livez?odd HTTP/1.1\r\nHost: a\r\nX: ");
  await turn();
  await turn();
  // The rest of that request: its line is the field's value.
  assert.equal(await ask(connection, post()), "/livez?odd");
  assert.equal(await ask(connection, post()), "503");
  assert.equal(state.read, read + 2);
  assert.equal(await ask(connection, post()), "503");
  assert.equal(state.read, read + 2);
});
