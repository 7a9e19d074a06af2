import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import type { WaitStatus } from "./wait-status.ts";
import { KEEPALIVE_MS, statusStreams, type Watched } from "./wait-stream.ts";

const status = (changes: Partial<WaitStatus> = {}): WaitStatus => ({
  requestId: "r-1",
  status: "pending",
  seq: 1,
  expiresIn: 300,
  ...changes,
});

/** What `next` was asked for, and what it answers, one after the other; then it waits for the signal. */
const asked: Array<{ sinceSeq: number; ms: number }> = [];
let coming: Array<WaitStatus | undefined> = [];
let first = status();
let hasEnded = Promise.withResolvers<void>();
const watched = (): Watched => ({
  first,
  next: async (sinceSeq, ms, signal) => {
    asked.push({ sinceSeq, ms });
    if (coming.length > 0) return coming.shift();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
    hasEnded.resolve();
    return first;
  },
});

const streams = statusStreams();
let app: FastifyInstance;
let address: string;
before(async () => {
  app = Fastify();
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("strict-transport-security", "max-age=1");
  });
  app.get("/stream", async (request, reply) => {
    await streams.open(request, reply, watched());
    return reply;
  });
  address = `${await app.listen({ port: 0, host: "127.0.0.1" })}/stream`;
});
after(() => app.close());

const open = (headers: Record<string, string> = {}) => fetch(address, { headers });
function setUp(now: WaitStatus, then: Array<WaitStatus | undefined>): void {
  first = now;
  coming = then;
  asked.length = 0;
  hasEnded = Promise.withResolvers<void>();
}

test("sends an event with seq for each change, then ends", async () => {
  const signed = status({ status: "signed", seq: 3, expiresIn: 0, continueUrl: "/on" });
  setUp(status(), [status({ seq: 2 }), signed]);
  const response = await open();
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(response.headers.get("cache-control"), "no-store, no-transform");
  assert.equal(response.headers.get("connection"), "close");
  assert.equal(response.headers.get("strict-transport-security"), "max-age=1");
  assert.equal(
    await response.text(),
    [
      "retry: 2000",
      `event: pending\nid: 1\ndata: ${JSON.stringify(status())}`,
      `event: pending\nid: 2\ndata: ${JSON.stringify(status({ seq: 2 }))}`,
      `event: signed\nid: 3\ndata: ${JSON.stringify(signed)}`,
      "",
    ].join("\n\n"),
  );
  assert.deepEqual(
    asked.map(({ sinceSeq }) => sinceSeq),
    [1, 2],
  );
});

test("sends a comment every 15 seconds, sooner before an expiry, and an event for a change without a seq", async () => {
  const question = { challengeId: "c", type: "pin", prompt: "", expiresIn: 9 } as const;
  setUp(status(), [
    status({ expiresIn: 285 }),
    status({ expiresIn: 270, detail: "no_agent" }),
    status({ seq: 2, status: "challenge", challenge: question }),
    status({ seq: 3, expiresIn: 4 }),
    undefined,
  ]);
  const text = await (await open()).text();
  assert.match(
    text,
    /^retry: 2000\n\nevent: pending\n[^\n]*\n[^\n]*\n\n:\n\nevent: pending\nid: 1\n[^\n]*no_agent/,
  );
  assert.deepEqual(
    asked.map(({ ms }) => ms),
    [KEEPALIVE_MS, KEEPALIVE_MS, KEEPALIVE_MS, 9_000, 4_000],
  );
});

test("answers 204 only after the final event was received", async () => {
  setUp(status({ status: "failed", seq: 7, reason: "user_denied" }), []);
  const again = await open({ "last-event-id": "7" });
  assert.equal(again.status, 204);
  for (const headers of [{}, { "last-event-id": "6" }] as Record<string, string>[]) {
    const response = await open(headers);
    assert.equal(response.status, 200);
    assert.match(await response.text(), /event: failed\nid: 7\n/);
  }
  setUp(status({ seq: 7 }), [undefined]);
  assert.equal((await open({ "last-event-id": "7" })).status, 200, "not while it waits");
});

test("a disconnect ends the wait", async () => {
  setUp(status(), []);
  const controller = new AbortController();
  const response = await fetch(address, { signal: controller.signal });
  assert.equal(response.status, 200);
  controller.abort();
  await hasEnded.promise;
});

test("a shutdown ends the streams", async () => {
  setUp(status(), []);
  const response = await open();
  streams.endAll();
  assert.match(await response.text(), /^retry: 2000\n\nevent: pending\n/);
  assert.match(await (await open()).text(), /^retry: 2000\n\nevent: pending\n/, "late ones, too");
});
