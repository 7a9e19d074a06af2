import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { fewPlaces } from "../../testing/few-places.ts";
import { makeOrganisation, startTestService } from "../../testing/test-service.ts";
import { type AdmissionLimits, admissionLimitsOf, defaultAdmissionLimits } from "./admission-limits.ts";
import { boundedHandler, PAGES_PER_SECOND } from "./bounded-handler.ts";
import { latePlace, leavePlace, Overloaded } from "./places.ts";

const one = fewPlaces(1, { waiting: 1, waitMs: 100 });
const none = fewPlaces(0, { waiting: 0, waitMs: 100 });

/** A server that keeps its requests until the test answers them. */
async function serve(context: TestContext, limits: AdmissionLimits, now = () => performance.now()) {
  const held: ServerResponse[] = [];
  let refused = 0;
  const handler = boundedHandler((_request, response) => held.push(response), {
    ...{ limits, now },
    onRefused: () => refused++,
    headers: ["X-Every", "1"],
    refuseBrowser: (_request, response) => response.writeHead(503, { "content-type": "text/html" }).end(),
    idOf: () => "node-1",
    isStopping: () => false,
  });
  const server = createServer(handler.answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, url: `http://127.0.0.1:${port}`, held, refused: () => refused };
}

test("what has no place is refused with 503 and when to come back, and counted; the place is free after the answer", async (context) => {
  const { url, held, refused } = await serve(context, one);
  const first = fetch(`${url}/oauth/x/token`);
  await eventually("the first request is worked on", () => held.length === 1);
  const second = await fetch(`${url}/oauth/x/token`);
  assert.deepEqual([second.status, second.headers.get("retry-after")], [503, "1"]);
  assert.equal(second.headers.get("x-every"), "1");
  assert.equal(second.headers.get("content-type"), "application/json");
  assert.equal(second.headers.get("x-request-id"), "node-1");
  const { error, instance } = (await second.json()) as { error?: string; instance?: string };
  assert.deepEqual([error, instance], ["temporarily_unavailable", "node-1"]);
  assert.equal(refused(), 1);
  held[0]?.end("ok");
  assert.equal(await (await first).text(), "ok");
  const third = fetch(url);
  await eventually("its place is free", () => held.length === 2);
  held[1]?.end("ok");
  assert.equal((await third).status, 200);
});

test("whoever waits is begun as soon as the answer before it is sent", async (context) => {
  const { url, held } = await serve(context, { ...one, waitMs: 600_000 });
  const first = fetch(url);
  await eventually("the first request is worked on", () => held.length === 1);
  const second = fetch(url);
  held[0]?.end("ok");
  await first;
  await eventually("the second one is worked on", () => held.length === 2);
  held[1]?.end("ok");
  assert.equal((await second).status, 200);
});

test("a refused call of the APIs gets problem+json", async (context) => {
  const { url } = await serve(context, none);
  for (const path of ["/api/v1/organisations", "/legacy/api/oauth/clients"]) {
    const answer = await fetch(`${url}${path}`);
    assert.equal(answer.headers.get("content-type"), "application/problem+json", path);
    const { type, status, instance } = (await answer.json()) as Record<string, unknown>;
    assert.deepEqual([type, status, instance], ["urn:signet:error:unavailable", 503, "node-1"]);
  }
});

test("a flood of browsers gets so many pages a second, and then what programs get", async (context) => {
  let now = 0;
  const { url } = await serve(context, none, () => now);
  const isPage = async () => {
    const answer = await fetch(url, { headers: { accept: "text/html" } });
    await answer.body?.cancel();
    assert.equal(answer.status, 503);
    return answer.headers.get("content-type") === "text/html";
  };
  for (let count = 0; count < PAGES_PER_SECOND; count++) assert.ok(await isPage());
  assert.ok(!(await isPage()));
  now += 1_000;
  assert.ok(await isPage());
});

test("a client that hangs up gives its place back once the work for it is done", async (context) => {
  const { url, held } = await serve(context, one);
  const hangUp = new AbortController();
  const first = fetch(url, { signal: hangUp.signal });
  await eventually("the first request is worked on", () => held.length === 1);
  hangUp.abort();
  await assert.rejects(first);
  assert.equal((await fetch(url)).status, 503);
  held[0]?.end("nobody reads it");
  const next = fetch(url);
  await eventually("the next one is admitted", () => held.length === 2);
  held[1]?.end("ok");
  assert.equal((await next).status, 200);
});

test("requests that stand behind another one give their places back once they are answered, though their connection is gone", async (context) => {
  const three: AdmissionLimits = { ...one, all: 3, each: 3 };
  const { url, port, held } = await serve(context, three);
  const socket = connect(port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".repeat(3));
  await eventually("all three are worked on", () => held.length === 3);
  socket.destroy();
  assert.equal((await fetch(url)).status, 503);
  for (const response of held) response.end("nobody reads it");
  const next = fetch(url);
  await eventually("another one is admitted", () => held.length === 4);
  held[3]?.end("ok");
  assert.equal((await next).status, 200);
});

test("a body that is long in coming holds no place, and takes one when it is there", async (context) => {
  const { url, port, held } = await serve(context, one);
  const slow = connect(port, "127.0.0.1");
  slow.resume();
  const head = "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n";
  slow.write(head);
  await eventually("its handler reads", () => held.length === 1);
  const [reading] = held as [ServerResponse];
  const beside = fetch(url);
  await eventually("another one has the place", () => held.length === 2);
  await assert.rejects(latePlace(reading) ?? Promise.resolve(), Overloaded);
  held[1]?.end("ok");
  assert.equal((await beside).status, 200);
  await eventually("its place is free", () => held[1]?.closed === true);
  slow.write(`ok${head}`);
  reading.end();
  await eventually("a second one on that connection", () => held.length === 3);
  const [, , again] = held as [ServerResponse, ServerResponse, ServerResponse];
  await latePlace(again);
  assert.equal(latePlace(again), undefined);
  assert.equal((await fetch(url)).status, 503);
  again.end();
  slow.destroy();
});

test("a handler that leaves its place at once has none, and a HEAD request gives it back", async (context) => {
  const limits = { ...one };
  const handler = boundedHandler(
    (request, response) => {
      leavePlace(response);
      if (request.method === "HEAD") response.end();
    },
    {
      ...{ limits, onRefused: assert.fail, headers: [], refuseBrowser: () => assert.fail() },
      ...{ idOf: () => "node-1", isStopping: () => false },
    },
  );
  const server = createServer(handler.answer).listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => server.close());
  context.after(() => server.closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const hangUp = new AbortController();
  const first = fetch(url, { signal: hangUp.signal }).catch(() => undefined);
  for (let count = 0; count < 3; count++) assert.equal((await fetch(url, { method: "HEAD" })).status, 200);
  hangUp.abort();
  await first;
});

test("a name whose requests were cut before their answer stays unknown", async (context) => {
  const two: AdmissionLimits = { ...one, all: 10 };
  const { url, held } = await serve(context, two);
  const made = `${url}/oauth/01998d6e-0000-7000-8000-00000000000a/token`;
  const hangUp = new AbortController();
  const cut = fetch(made, { signal: hangUp.signal }).catch(() => undefined);
  await eventually("it is worked on", () => held.length === 1);
  hangUp.abort();
  await cut;
  const closed = held[0] as ServerResponse;
  await eventually("it is closed", () => closed.closed);
  closed.end();
  const first = fetch(url);
  await eventually("one of nobody's", () => held.length === 2);
  // In the same lane as any other that is not known.
  assert.equal((await fetch(made)).status, 503);
  held[1]?.end();
  await first;
});

test("a call that is held gives its place to others", async (context) => {
  const { url, held } = await serve(context, one);
  const first = fetch(url);
  await eventually("the first request is worked on", () => held.length === 1);
  const [response] = held;
  assert.ok(response);
  leavePlace(response);
  const second = fetch(url);
  await eventually("the second one too", () => held.length === 2);
  for (const each of held) each.end("ok");
  assert.deepEqual([(await first).status, (await second).status], [200, 200]);
});

forEachDatabase((databases) => {
  test("a service without places refuses everything but its health checks", async () => {
    const running = await startTestService({ databaseUrl: await databases.fresh(), admission: none });
    try {
      const { organisation: org } = await makeOrganisation(running.service);
      const ask = async (path: string, method = "GET") => {
        const { status, headers } = await fetch(`${running.baseUrl}${path}`, { method });
        return [status, headers.get("retry-after")];
      };
      for (const path of ["/livez", "/healthz", "/readyz", "/readyz?require=database"])
        assert.deepEqual(await ask(path), [200, null], path);
      assert.deepEqual(await ask(`/oauth/${org.id}/token`, "POST"), [503, "1"]);
      assert.deepEqual(await ask(`/oauth/manage/${org.id}`), [503, "1"]);
      for (const method of ["GET", "POST"]) {
        const page = await fetch(`${running.baseUrl}/oauth/manage/${org.id}`, {
          method,
          headers: { accept: "text/html" },
        });
        assert.deepEqual([page.status, page.headers.get("retry-after")], [503, "1"]);
        assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
        assert.match(await page.text(), /<!doctype html>/i);
      }
    } finally {
      await running.close();
    }
  });
});

test("the service's own limits leave an organisation less than all, and refuse within a quarter of a second", () => {
  const { all, each, waitMs } = defaultAdmissionLimits;
  assert.ok(each < all);
  assert.ok(waitMs * 1.1 < 250);
  assert.equal(admissionLimitsOf(1).all, all);
  const { all: half, each: halfOfEach } = admissionLimitsOf(2);
  assert.deepEqual([half, halfOfEach], [all / 2, each / 2]);
});
