/** `requireScopes` and `requirePrincipal` in a handler: one response on every framework (RFC 9457, RFC 6750 §3). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import express, { type ErrorRequestHandler } from "express";
import Fastify from "fastify";
import { Hono } from "hono";
import { requireScopes } from "../oauth-user-bearer/unauthorized-response.ts";
import { authenticated, requirePrincipal } from "../principal.ts";
import { stubFilter } from "../testing/stub-filter.ts";
import { expressErrorHandler, expressMiddleware } from "./express.ts";
import { fastifyPlugin } from "./fastify.ts";
import { identify } from "./fetch.ts";
import { honoMiddleware, type SignetVariables } from "./hono.ts";

type Ask = (path: string) => Promise<Response>;
const closers: (() => unknown)[] = [];
after(async () => {
  for (const close of closers) await close();
});

const filter = stubFilter();

async function expressApp(ownHandler?: ErrorRequestHandler): Promise<Ask> {
  const app = express();
  app.set("env", "test");
  app.use(expressMiddleware(filter));
  const router = express.Router();
  router.get("/scope", (request) => requireScopes(requirePrincipal(request), "jobs:write"));
  router.get("/anonymous", (request, response) => void response.json(requirePrincipal(request)));
  router.get("/fault", () => {
    throw new Error("the handler's own");
  });
  app.use(router);
  if (ownHandler) app.use(ownHandler);
  const server = app.listen(0, "127.0.0.1");
  closers.push(() => server.close());
  await once(server, "listening");
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return (path) => fetch(`http://127.0.0.1:${address.port}${path}`);
}

async function fastifyApp(): Promise<Ask> {
  const app = Fastify();
  await app.register(fastifyPlugin(filter));
  app.get("/scope", async (request) => requireScopes(requirePrincipal(request), "jobs:write"));
  app.get("/anonymous", async (request) => requirePrincipal(request));
  app.get("/fault", async () => {
    throw new Error("the handler's own");
  });
  closers.push(() => app.close());
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return (path) => fetch(base + path);
}

function honoApp(): Ask {
  const app = new Hono<{ Variables: SignetVariables }>();
  app.use(honoMiddleware(filter));
  app.get("/scope", (c) => {
    requireScopes(authenticated(c.get("principal")), "jobs:write");
    return c.text("written");
  });
  app.get("/anonymous", (c) => c.json(authenticated(c.get("principal")).subject));
  app.get("/fault", () => {
    throw new Error("the handler's own");
  });
  return async (path) => app.request(path);
}

function fetchApp(): Ask {
  const handler = identify(filter, (request, principal) => {
    if (new URL(request.url).pathname === "/fault") throw new Error("the handler's own");
    requireScopes(authenticated(principal), "jobs:write");
    return new Response();
  });
  return async (path) =>
    handler(new Request(`https://app.example${path}`)).catch(() => new Response(null, { status: 500 }));
}

test("a missing scope, and a missing principal, get the same response on every framework", async () => {
  const asks = [await expressApp(), await fastifyApp(), honoApp(), fetchApp()];
  for (const [path, status, challenge, code, error] of [
    [
      "/scope",
      403,
      'Bearer error="insufficient_scope", scope="jobs:write"',
      "insufficient-scope",
      "insufficient_scope",
    ],
    ["/anonymous", 401, "Bearer", "token-missing", "unauthorized"],
  ] as const)
    for (const [index, ask] of asks.entries()) {
      const response = await ask(path);
      const about = `${path} ${index}`;
      assert.equal(response.status, status, about);
      assert.equal(response.headers.get("content-type"), "application/problem+json", about);
      assert.equal(response.headers.get("www-authenticate"), challenge, about);
      const { detail, title, ...body } = (await response.json()) as Record<string, string>;
      assert.ok(title !== undefined && detail !== undefined, about);
      assert.deepEqual(
        body,
        { type: `urn:signet:error:${code}`, status, error, error_description: detail },
        about,
      );
    }
  for (const ask of asks) {
    const fault = await ask("/fault");
    assert.equal(fault.status, 500);
    assert.notEqual(fault.headers.get("content-type"), "application/problem+json");
  }
});

test("the application's own error handler in Express comes first, and Connect can add ours", async () => {
  const own: ErrorRequestHandler = (error, _request, response, next) => {
    if (error.code === "insufficient_scope") response.status(403).send("no");
    else next(error);
  };
  const ask = await expressApp(own);
  assert.equal(await (await ask("/scope")).text(), "no");
  assert.equal((await ask("/anonymous")).headers.get("content-type"), "application/problem+json");
  const passed: unknown[] = [];
  const fault = new Error("the handler's own");
  expressErrorHandler(fault, {} as never, {} as never, (error) => passed.push(error));
  assert.deepEqual(passed, [fault]);
});
