import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import Fastify, { type FastifyInstance } from "fastify";
import { requireScopes } from "../oauth-user-bearer/unauthorized-response.ts";
import { principalOf, requirePrincipal } from "../principal.ts";
import { stubFilter } from "../testing/stub-filter.ts";
import { fastifyPlugin } from "./fastify.ts";

const filter = stubFilter();
const partFilter = stubFilter();
let app: FastifyInstance;
let partly: FastifyInstance;
let base: string;
let partBase: string;

before(async () => {
  app = Fastify();
  app.addHook("onRequest", async (_request, reply) => {
    reply.header("access-control-allow-origin", "https://spa.example");
  });
  app.register(fastifyPlugin(filter, { baseUrl: "https://app.example" }));
  app.register(async (part) => {
    part.get("/cookies", async (request, reply) => {
      reply.header("set-cookie", "own=5");
      return principalOf(request);
    });
    part.get("/anonymous", async (request) => [principalOf(request) ?? null]);
    part.get("/needed/anonymous", async (request) => requirePrincipal(request));
    part.get("/scope", async (request) => requireScopes(requirePrincipal(request), "jobs:write"));
    part.post("/echo", async (request) => request.body);
  });
  base = await app.listen({ host: "127.0.0.1", port: 0 });

  partly = Fastify();
  partly.get("/open", async (request) => [principalOf(request) ?? null]);
  partly.register(async (part) => {
    part.register(fastifyPlugin(partFilter));
    part.get("/closed", async (request) => principalOf(request));
  });
  partBase = await partly.listen({ host: "127.0.0.1", port: 0 });
});
after(async () => {
  await app.close();
  await partly.close();
});

const get = (path: string, init: RequestInit = {}) => fetch(base + path, { redirect: "manual", ...init });

test("sets the principal on the request, in child instances too, and adds the filter's cookies", async () => {
  const response = await get("/cookies");
  assert.equal(((await response.json()) as { subject: string }).subject, "uma");
  assert.deepEqual(response.headers.getSetCookie(), ["one=1; Path=/", "two=2; Path=/", "own=5"]);
  assert.equal(response.headers.get("cache-control"), "no-store", "cookies are for no shared cache");
});

test("sends the filter's own response, even without a route, as for the callback", async () => {
  const response = await get("/refused");
  assert.equal(response.status, 302);
  assert.equal(response.headers.get("location"), "/login");
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(response.headers.get("access-control-allow-origin"), "https://spa.example");
  assert.deepEqual(response.headers.getSetCookie(), ["three=3; Path=/", "four=4; Path=/"]);
  assert.equal(await response.text(), "go and sign in: æ");
  assert.equal((await get("/refused", { method: "HEAD" })).status, 302);
});

test("anonymous: `principalOf` is undefined, and `requirePrincipal` leads to 401", async () => {
  const response = await get("/anonymous");
  assert.deepEqual(await response.json(), [null]);
  assert.deepEqual(response.headers.getSetCookie(), ["gone=; Max-Age=0"]);
  assert.equal((await get("/needed/anonymous")).status, 401);
});

test("a missing scope leads to 403 with a challenge", async () => {
  const response = await get("/scope");
  assert.equal(response.status, 403);
  const challenge = 'Bearer error="insufficient_scope", scope="jobs:write"';
  assert.equal(response.headers.get("www-authenticate"), challenge);
});

test("registered in a part, the plugin protects only that part", async () => {
  assert.deepEqual(await (await fetch(`${partBase}/open`)).json(), [null]);
  assert.equal(partFilter.seen.length, 0);
  const closed = await fetch(`${partBase}/closed`);
  assert.equal(((await closed.json()) as { subject: string }).subject, "uma");
  assert.equal(partFilter.seen.at(0)?.url, "http://application.invalid/closed");
});

test("a body read by the filter is available to Fastify's parser", async () => {
  filter.seen.length = 0;
  const init = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };
  for (const path of ["/echo?read", "/echo"])
    assert.deepEqual(await (await get(path, init)).json(), { a: 1 }, path);
  const read = filter.seen.map(({ url, body }) => [url, body]);
  assert.deepEqual(read, [
    ["https://app.example/echo?read", '{"a":1}'],
    ["https://app.example/echo", undefined],
  ]);
});

test("a programming error is a server error, and nobody is let in", async () => {
  assert.equal((await get("/broken")).status, 500);
});
