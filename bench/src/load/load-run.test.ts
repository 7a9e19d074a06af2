import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { readForm, replyJson } from "../contestants/bare-http.ts";
import type { LoadPlan } from "./load-plan.ts";
import { runLoad } from "./load-run.ts";

async function serve(context: TestContext, handler: RequestListener): Promise<number> {
  const server = createServer(handler).listen(0, "127.0.0.1");
  context.after(() => server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const call = { method: "POST", path: "/token", form: { client_id: "app", code: "" } } as const;
const plan = (port: number, more: Partial<LoadPlan> = {}): LoadPlan => ({
  port,
  call,
  connections: 4,
  seconds: 0.2,
  expectedText: "ok",
  ...more,
});

test("each value of a list is sent once, and the run ends when they are used up", async (context) => {
  const seen: string[] = [];
  const port = await serve(context, (request, response) =>
    readForm(request, (form) => {
      seen.push(`${form["client_id"]} ${form["code"]}`);
      replyJson(response, { ok: true });
    }),
  );
  const values = Array.from({ length: 50 }, (_unused, index) => `code-${index}`);
  const result = await runLoad(plan(port, { seconds: 10, vary: { kind: "once", field: "code", values } }));
  assert.equal(result.errors, 0);
  assert.equal(result.requests, 50);
  assert.ok(result.seconds < 10);
  assert.deepEqual(seen.sort(), values.map((value) => `app ${value}`).sort());
});

test("in a chain every connection sends the token that it received last", async (context) => {
  const alive = new Map<string, number>([
    ["a-0", 0],
    ["b-0", 0],
  ]);
  const port = await serve(context, (request, response) =>
    readForm(request, (form) => {
      const token = String(form["refresh_token"]);
      const used = alive.get(token);
      if (!alive.delete(token) || used === undefined) return replyJson(response, undefined);
      const next = `${token.slice(0, 1)}-${used + 1}`;
      alive.set(next, used + 1);
      replyJson(response, { ok: true, refresh_token: next });
    }),
  );
  const vary = { kind: "chain", field: "refresh_token", values: ["a-0", "b-0"] } as const;
  const result = await runLoad(plan(port, { vary }));
  assert.equal(result.errors, 0);
  assert.ok(result.requests > 2);
  assert.equal(alive.size, 2);
  const used = [...alive.values()].reduce((sum, count) => sum + count, 0);
  // The last answer of a connection may come after the end: awaited, not counted.
  assert.ok(used >= result.requests && used <= result.requests + 2);
});

test("an answer with another status or without the expected text is an error, and the first one is told", async (context) => {
  const refused = await serve(context, (request, response) =>
    readForm(request, () => replyJson(response, undefined)),
  );
  const first = await runLoad(plan(refused));
  assert.equal(first.errors, 4);
  assert.equal(first.requests, 0);
  assert.match(first.firstError ?? "", /^400 .*invalid_grant/);
  const other = await serve(context, (request, response) =>
    readForm(request, () => replyJson(response, { active: false })),
  );
  assert.equal((await runLoad(plan(other))).errors, 4);
});

test("a server that hangs up is an error, and one that does not listen is refused", async (context) => {
  const port = await serve(context, (request) => request.socket.destroy());
  const result = await runLoad(plan(port));
  assert.equal(result.errors, 4);
  assert.match(result.firstError ?? "", /closed the connection|ECONNRESET/);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const gone = (server.address() as AddressInfo).port;
  server.close();
  await once(server, "close");
  await assert.rejects(runLoad(plan(gone)), /ECONNREFUSED/);
});

test("an answer that comes in several pieces is put together", async (context) => {
  const port = await serve(context, (request, response) => {
    readForm(request, () => {
      response.writeHead(200, { "Content-Length": 200_002 });
      response.write("x".repeat(200_000));
      setImmediate(() => response.end("ok"));
    });
  });
  const result = await runLoad(plan(port));
  assert.equal(result.errors, 0);
  assert.ok(result.requests > 0);
});

test("whole JSON bodies are sent once each, and another status than 200 can be the good one", async (context) => {
  const seen: string[] = [];
  const port = await serve(context, (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      seen.push(`${request.headers["content-type"]} ${Buffer.concat(chunks)}`);
      const body = "ok";
      response.writeHead(201, { "content-length": body.length }).end(body);
    });
  });
  const values = Array.from({ length: 20 }, (_unused, index) => JSON.stringify({ index }));
  const vary = { kind: "bodies", values } as const;
  const created = { vary, seconds: 10, call: { method: "POST", path: "/enroll" } } as const;
  const result = await runLoad(plan(port, { ...created, expectedStatus: 201 }));
  assert.deepEqual([result.errors, result.requests], [0, 20]);
  assert.deepEqual(seen.sort(), values.map((value) => `application/json ${value}`).sort());
  assert.ok((await runLoad(plan(port, created))).errors > 0);
});
