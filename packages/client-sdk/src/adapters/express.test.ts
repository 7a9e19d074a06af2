import assert from "node:assert/strict";
import { once } from "node:events";
import type { Server } from "node:http";
import { after, before, test } from "node:test";
import express, { type ErrorRequestHandler } from "express";
import { requireScopes } from "../oauth-user-bearer/unauthorized-response.ts";
import { principalOf, requirePrincipal } from "../principal.ts";
import { stubFilter } from "../testing/stub-filter.ts";
import { expressMiddleware } from "./express.ts";

const filter = stubFilter();
const faults: unknown[] = [];
let server: Server;
let base: string;

before(async () => {
  const app = express();
  app.use((_request, response, next) => {
    response.setHeader("set-cookie", "before=0");
    response.setHeader("access-control-allow-origin", "https://spa.example");
    next();
  });
  app.use(expressMiddleware(filter, { baseUrl: "https://app.example" }));
  app.get("/anonymous", (request, response) => void response.json([principalOf(request) ?? null]));
  app.get("/needed/anonymous", (request, response) => void response.json(requirePrincipal(request)));
  app.get("/scope", (request, response) => {
    requireScopes(requirePrincipal(request), "jobs:write");
    response.end();
  });
  app.get("/cookies", (request, response) => void response.cookie("own", "5").json(principalOf(request)));
  const inner = express.Router();
  inner.use(expressMiddleware(filter));
  inner.get("/deep", (_request, response) => void response.end());
  app.use("/mounted", inner);
  app.post("/echo", express.json(), (request, response) => void response.json(request.body));
  const tell: ErrorRequestHandler = (error, _request, response, next) => {
    faults.push(error);
    if (error.status === undefined) response.status(500).end();
    else next(error);
  };
  app.use(tell);
  app.set("env", "test");
  server = app.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  base = `http://127.0.0.1:${address.port}`;
});
after(() => server.close());

const get = (path: string, init: RequestInit = {}) => fetch(base + path, { redirect: "manual", ...init });

test("sets the principal on the request and adds the filter's cookies to existing ones", async () => {
  const response = await get("/cookies");
  assert.equal(((await response.json()) as { subject: string }).subject, "uma");
  assert.equal(response.headers.get("cache-control"), "no-store", "cookies are for no shared cache");
  const cookies = response.headers.getSetCookie();
  assert.deepEqual(cookies, ["before=0", "one=1; Path=/", "two=2; Path=/", "own=5; Path=/"]);
});

test("sends the filter's own response with headers set by earlier middleware", async () => {
  const response = await get("/refused");
  assert.equal(response.status, 302);
  assert.equal(response.headers.get("location"), "/login");
  assert.equal(response.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(response.headers.get("access-control-allow-origin"), "https://spa.example");
  assert.deepEqual(response.headers.getSetCookie(), ["before=0", "three=3; Path=/", "four=4; Path=/"]);
  assert.equal(await response.text(), "go and sign in: æ");
  assert.equal(await (await get("/refused", { method: "HEAD" })).text(), "");
});

test("anonymous: `principalOf` is undefined, and `requirePrincipal` leads to 401", async () => {
  const response = await get("/anonymous");
  assert.deepEqual(await response.json(), [null]);
  assert.deepEqual(response.headers.getSetCookie(), ["before=0", "gone=; Max-Age=0"]);
  assert.equal((await get("/needed/anonymous")).status, 401);
});

test("a missing scope leads to 403 with a challenge", async () => {
  const response = await get("/scope");
  assert.equal(response.status, 403);
  const challenge = 'Bearer error="insufficient_scope", scope="jobs:write"';
  assert.equal(response.headers.get("www-authenticate"), challenge);
});

test("the filter gets the configured origin and the full path, even in a mounted router", async () => {
  filter.seen.length = 0;
  await get("/mounted/deep?x=1", { headers: { "x-test": "1" } });
  const [outer, inner] = filter.seen;
  assert.equal(outer?.url, "https://app.example/mounted/deep?x=1");
  assert.equal(inner?.url, "http://application.invalid/mounted/deep?x=1");
  assert.equal(outer?.headers.get("x-test"), "1");
  assert.equal(outer?.context?.clientCertificate, undefined);
});

test("a body read by the filter is available to the body parser", async () => {
  filter.seen.length = 0;
  const init = { method: "POST", body: '{"a":1}', headers: { "content-type": "application/json" } };
  for (const path of ["/echo?read", "/echo"])
    assert.deepEqual(await (await get(path, init)).json(), { a: 1 }, path);
  assert.deepEqual(
    filter.seen.map(({ body }) => body),
    ['{"a":1}', undefined],
  );
});

test("a programming error goes to the error handler, and nobody is let in", async () => {
  faults.length = 0;
  assert.equal((await get("/broken")).status, 500);
  assert.match(String(faults[0]), /a fault of the program/);
});
