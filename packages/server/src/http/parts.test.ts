import assert from "node:assert/strict";
import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { checkAddresses, isAmong, openParts, type Part, type Parts } from "./parts.ts";

let server: Server | undefined;
let parts: Parts | undefined;
const opened: string[] = [];
const ended: string[] = [];

afterEach(async () => {
  await parts?.close();
  await new Promise((resolve) => server?.close(resolve) ?? resolve(undefined));
  opened.length = 0;
  ended.length = 0;
});

/** Its routes answer with its name to a body that came whole. */
function part(name: string, prefixes: readonly string[], after: readonly Part[] = []): Part {
  return {
    prefixes,
    after,
    open: async () => {
      opened.push(name);
      const app = Fastify({ serverFactory: () => createServer() }) as unknown as FastifyInstance;
      checkAddresses(app, isAmong(prefixes));
      for (const prefix of prefixes)
        app.post(`${prefix}/:id`, async ({ body }) => (body === "whole" ? name : "cut"));
      app.addHook("onClose", async () => void ended.push(name));
      return app;
    },
  };
}

async function serve(list: readonly Part[]): Promise<number> {
  const all = openParts(list, (error, _request, response) => response.writeHead(500).end(String(error)));
  parts = all;
  const listening = createServer((request, response) => {
    if (!all.answer(request, response)) response.end("the service");
  });
  server = listening;
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return (listening.address() as AddressInfo).port;
}

/** With the address as it is written: `fetch` would mend it. */
function ask(port: number, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, path, method: "POST", agent: false as const };
    const headers = { "content-type": "text/plain" };
    const sent = httpRequest({ ...options, headers }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (piece: string) => {
        text += piece;
      });
      answer.on("end", () => resolve(text));
    });
    sent.on("error", reject).end("whole");
  });
}

describe("parts", () => {
  test("a part is opened by the first request for its addresses, and once for all that come together", async () => {
    const port = await serve([part("console", ["/oauth/manage", "/portal"]), part("api", ["/api/v1"])]);
    assert.equal(await ask(port, "/oauth/token"), "the service");
    assert.deepEqual(opened, []);
    const together = ["/oauth/manage/1", "/portal/2", "/oauth/manage/3?x=/api/v1"];
    assert.deepEqual(await Promise.all(together.map((path) => ask(port, path))), Array(3).fill("console"));
    assert.equal(await ask(port, "/portal/4"), "console");
    assert.deepEqual(opened, ["console"]);
  });

  test("a name that only begins like a part's is the service's", async () => {
    const port = await serve([part("api", ["/api/v1"])]);
    for (const path of ["/api/v10/1", "/api", "/", "/x/api/v1/1", "/API/v1/1", "/api/v1%2F1", "/%"])
      assert.equal(await ask(port, path), "the service", path);
    assert.deepEqual(opened, []);
  });

  test("other spellings of an address reach the same part, as the router reads them", async () => {
    const port = await serve([part("console", ["/oauth/manage"])]);
    const spellings = ["/oauth/%6Danage/1", "http://other.example/oauth/manage/1", "/oauth/manage/%2F"];
    for (const path of [...spellings, "/oauth/%6Danage/1?next=%", "/oauth/%6Danage/1?next=%E0%A4#%"])
      assert.equal(await ask(port, path), "console", path);
  });

  test("what a part needs is opened before it", async () => {
    const first = part("first", ["/first"]);
    const port = await serve([part("last", ["/last"], [first]), first]);
    assert.equal(await ask(port, "/last/1"), "last");
    assert.deepEqual(opened, ["first", "last"]);
  });

  test("a part that does not open is a fault of its requests alone, and is tried again", async () => {
    const good = part("api", ["/api/v1"]);
    let isBroken = true;
    const open = () => (isBroken ? Promise.reject(new Error("away")) : good.open());
    const port = await serve([{ ...good, open }, part("scim", ["/scim/v2"])]);
    assert.equal(await ask(port, "/api/v1/1"), "Error: away");
    assert.equal(await ask(port, "/scim/v2/1"), "scim");
    isBroken = false;
    assert.equal(await ask(port, "/api/v1/1"), "api");
  });

  test("all can be opened at once, and those that are open are closed", async () => {
    await serve([part("api", ["/api/v1"]), part("scim", ["/scim/v2"])]);
    await parts?.openAll();
    assert.deepEqual(opened, ["api", "scim"]);
    await parts?.close();
    assert.deepEqual(ended, ["api", "scim"]);
  });

  test("a route that no request would reach is refused", async () => {
    const app = Fastify();
    checkAddresses(app as unknown as FastifyInstance, isAmong(["/api/v1"]));
    assert.throws(() => app.get("/api/v2/users", async () => ""), /No request would reach \/api\/v2\/users/);
    await app.close();
  });
});
