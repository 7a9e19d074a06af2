/** One organisation's slow names and hosts, and what goes on beside them. */
import assert from "node:assert/strict";
import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import { after, before, suite, test } from "node:test";
import { eventually } from "../../testing/eventually.ts";
import { type NameServer, startNameServer } from "../../testing/fakes/name-server.ts";
import { nameResolver } from "./name-resolver.ts";
import { type Outbound, OutboundFailure, outbound } from "./outbound.ts";

const [TENANT, NEIGHBOUR] = ["0198c0de-0000-7000-8000-000000000001", "0198c0de-0000-7000-8000-000000000002"];
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "answered",
    (error: unknown) => (error instanceof OutboundFailure ? error.code : "another error"),
  );

suite("an organisation whose hosts are slow", () => {
  let names: NameServer;
  let port: number;
  let underWay = 0;
  const web = createServer((request, response) => {
    if (request.url !== "/hang") return void response.end("here");
    underWay++;
    response.on("close", () => underWay--);
  });
  before(async () => {
    names = await startNameServer();
    names.set("*.silent.example", "silent");
    names.set("neighbour.example", ["127.0.0.1"]);
    web.listen(0, "127.0.0.1");
    await once(web, "listening");
    port = (web.address() as AddressInfo).port;
  });
  after(async () => {
    web.closeAllConnections();
    web.close();
    await names.close();
  });

  const client = (timeoutMs: number): Outbound =>
    outbound({
      allow: ["127.0.0.0/8"],
      timeoutMs,
      resolve: nameResolver({ servers: [names.address], hostsFile: "/nowhere", lookupMs: 60_000 }),
    });

  test("forty names that nobody answers for hold up neither another organisation nor the service's own lookups", async () => {
    const by = client(60_000);
    const ends: string[] = [];
    for (let index = 0; index < 40; index++)
      void by.call(TENANT, `https://host-${index}.silent.example/`).catch(() => ends.push("tenant"));
    while (names.queries("host-0.silent.example") === 0) await new Promise(setImmediate);
    await Promise.all([
      by.call(NEIGHBOUR, `http://neighbour.example:${port}/`).then(() => ends.push("neighbour")),
      dns.promises.lookup("localhost").then(() => ends.push("lookup")),
    ]);
    assert.deepEqual(ends.sort(), ["lookup", "neighbour"]);
  });

  test("the resolver of the service's own connections is never asked for an organisation's name", async (context) => {
    const asked = [context.mock.method(dns, "lookup"), context.mock.method(dns.promises, "lookup")];
    syncBuiltinESMExports();
    try {
      const code = await codeOf(
        outbound({ allow: [], timeoutMs: 300 }).call(TENANT, "https://tenant.invalid/"),
      );
      assert.ok(["unreachable", "timeout"].includes(code), code);
      assert.deepEqual(
        asked.map(({ mock }) => mock.callCount()),
        [0, 0],
      );
    } finally {
      context.mock.restoreAll();
      syncBuiltinESMExports();
    }
  });

  test("has its share of the calls at once: more wait, many more are refused, the neighbour's go out", async (context) => {
    // However long the machine takes for a thousand calls, none of them ends before its time is told.
    const over = new AbortController();
    const timeout = context.mock.method(AbortSignal, "timeout", () => over.signal);
    const by = client(2_000);
    const calls = Array.from({ length: 1_100 }, () =>
      codeOf(by.call(TENANT, `http://127.0.0.1:${port}/hang`)),
    );
    await eventually("the share is used up", () => underWay >= 24);
    for (const _ of [1, 2, 3])
      assert.equal((await by.call(NEIGHBOUR, `http://127.0.0.1:${port}/`)).status, 200);
    assert.equal(underWay, 24);
    assert.deepEqual([...new Set(timeout.mock.calls.map((one) => one.arguments[0]))], [2_000]);
    timeout.mock.restore();
    over.abort();
    const codes = await Promise.all(calls);
    assert.equal(codes.filter((code) => code === "busy").length, 76);
    assert.equal(codes.filter((code) => code === "timeout").length, 1_024);
    // The places are given back.
    assert.equal((await by.call(TENANT, `http://127.0.0.1:${port}/`)).status, 200);
  });
});
