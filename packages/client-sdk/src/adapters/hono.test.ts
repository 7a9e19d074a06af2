import assert from "node:assert/strict";
import { test } from "node:test";
import { Hono } from "hono";
import { requireScopes } from "../oauth-user-bearer/unauthorized-response.ts";
import { stubFilter, uma } from "../testing/stub-filter.ts";
import { honoMiddleware, type SignetVariables } from "./hono.ts";

const filter = stubFilter();
const app = new Hono<{ Variables: SignetVariables }>();
app.use(honoMiddleware(filter, { clientCertificate: () => Uint8Array.of(1) }));
app.get("/cookies", (c) => {
  c.header("set-cookie", "own=5", { append: true });
  return c.json(c.get("principal")?.subject);
});
app.get("/shared", (c) => c.text("page", 200, { "cache-control": "public, max-age=60" }));
app.get("/elsewhere", () => Response.redirect("https://elsewhere.example/"));
app.get("/anonymous", (c) => c.json([c.get("principal") ?? null]));
app.get("/scope", (c) => {
  requireScopes(c.get("principal") ?? uma, "jobs:write");
  return c.text("written");
});
app.get("/fault", () => {
  throw new Error("the handler's own");
});
app.post("/echo", async (c) => c.json(await c.req.json()));

const get = (path: string, init?: RequestInit) => app.request(path, init);

test("sets the principal in the context, and adds the filter's cookies to every response", async () => {
  const response = await get("/cookies");
  assert.equal(await response.json(), "uma");
  assert.deepEqual(response.headers.getSetCookie().sort(), ["one=1; Path=/", "own=5", "two=2; Path=/"]);
  const elsewhere = await get("/elsewhere");
  assert.equal(elsewhere.headers.get("location"), "https://elsewhere.example/");
  assert.deepEqual(elsewhere.headers.getSetCookie(), ["one=1; Path=/", "two=2; Path=/"]);
  assert.deepEqual(filter.seen.at(0)?.context, { clientCertificate: Uint8Array.of(1) });
});

test("a response with the filter's cookies is kept out of shared caches", async () => {
  for (const path of ["/shared", "/cookies"])
    assert.equal((await get(path)).headers.get("cache-control"), "no-store");
});

test("sends the filter's own response", async () => {
  const response = await get("/refused");
  assert.equal(response.status, 302);
  assert.deepEqual(response.headers.getSetCookie(), ["three=3; Path=/", "four=4; Path=/"]);
  assert.equal(await response.text(), "go and sign in: æ");
});

test("an anonymous request has no principal", async () => {
  assert.deepEqual(await (await get("/anonymous")).json(), [null]);
});

test("a missing scope gets 403; other errors go to the application", async () => {
  const response = await get("/scope");
  assert.equal(response.status, 403);
  assert.match(response.headers.get("www-authenticate") ?? "", /scope="jobs:write"/);
  assert.match(response.headers.get("www-authenticate") ?? "", /^Bearer error="insufficient_scope"/);
  assert.equal((await get("/fault")).status, 500);
  assert.equal((await get("/broken")).status, 500);
});

test("a body read by the filter is available to the handler", async () => {
  const init = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };
  for (const path of ["/echo?read", "/echo"])
    assert.deepEqual(await (await get(path, init)).json(), { a: 1 }, path);
  assert.equal(filter.seen.at(-2)?.body, '{"a":1}');
});
