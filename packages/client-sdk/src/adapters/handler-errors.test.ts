/** `requireScopes` and `requirePrincipal` in a handler: one response on every framework (RFC 9457, RFC 6750 §3). */
import assert from "node:assert/strict";
import { once } from "node:events";
import { after, test } from "node:test";
import express, { type ErrorRequestHandler, type Express } from "express";
import Fastify, { type FastifyInstance } from "fastify";
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
  return listen(app);
}

async function listen(app: Express): Promise<Ask> {
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

test("Express: also handlers that are added later, and those of the outer application, come first", async () => {
  const outer = express();
  const app = express();
  outer.use("/app", app);
  for (const one of [outer, app]) one.set("env", "test");
  // Two filters must not go on outdoing each other.
  for (const one of [filter, stubFilter()]) app.use(expressMiddleware(one));
  app.get("/early", (request) => requireScopes(requirePrincipal(request), "jobs:write"));
  const ask = await listen(outer);
  const problem = async (path: string) => (await ask(path)).headers.get("content-type");
  assert.equal(await problem("/app/early"), "application/problem+json");
  app.get("/late", (request) => requireScopes(requirePrincipal(request), "jobs:write"));
  assert.equal(await problem("/app/late"), "application/problem+json");
  const size = outer.router.stack.length;
  for (let count = 0; count < 5; count++) await ask("/app/early");
  assert.equal(outer.router.stack.length, size, "nothing is added again and again");
  const own: ErrorRequestHandler = (error, _request, response, _next) =>
    void response.status(403).send(`own ${error.code}`);
  outer.use(own);
  for (const path of ["/app/early", "/app/late"])
    assert.equal(await (await ask(path)).text(), "own insufficient_scope", path);
});

/** What the error says in the log, with the setting to check. */
const lacksScope =
  "The token lacks the scope jobs:write. The application that calls requests it, e.g. by oauthScopes (SIGNET_OAUTH_SCOPES), " +
  "and must be allowed to.";

test("Fastify: an answer of the application's own error handler stays as it is", async () => {
  const app = Fastify();
  await app.register(fastifyPlugin(filter));
  type Handler = Parameters<FastifyInstance["setErrorHandler"]>[0];
  const handlers: Record<string, Handler> = {
    own: (error, _request, reply) => reply.code(409).send({ message: (error as Error).message, own: true }),
    recovers: () => ({ recovered: true }),
    page: (_error, _request, reply) => reply.code(403).type("text/html").send("<p>No."),
    other: () => {
      throw new Error("the handler's own");
    },
    again: (error) => {
      throw error;
    },
    sends: (error, _request, reply) => reply.code(403).send(error),
  };
  for (const [name, handler] of Object.entries(handlers))
    await app.register(async (part) => {
      part.setErrorHandler(handler);
      part.get(`/${name}`, async (request) => requireScopes(requirePrincipal(request), "jobs:write"));
    });
  closers.push(() => app.close());
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const answers = async (name: string) => {
    const response = await fetch(`${base}/${name}`);
    return [response.status, response.headers.get("content-type")?.split(";")[0], await response.text()];
  };
  assert.deepEqual(await answers("own"), [
    409,
    "application/json",
    JSON.stringify({ message: lacksScope, own: true }),
  ]);
  assert.deepEqual(await answers("recovers"), [200, "application/json", '{"recovered":true}']);
  assert.deepEqual(await answers("page"), [403, "text/html", "<p>No."]);
  assert.equal((await answers("other"))[1], "application/json");
  for (const name of ["again", "sends"])
    assert.deepEqual((await answers(name)).slice(0, 2), [403, "application/problem+json"], name);
});

test("Hono: an answer of the application's own error handler stays as it is", async () => {
  const app = new Hono<{ Variables: SignetVariables }>();
  app.use(honoMiddleware(filter));
  app.get("/scope", (c) => {
    requireScopes(authenticated(c.get("principal")), "jobs:write");
    return c.text("written");
  });
  app.onError((error, c) => c.text(`own: ${error.message}`, 418));
  const response = await app.request("/scope");
  assert.equal(response.status, 418);
  assert.equal(await response.text(), `own: ${lacksScope}`);
  assert.ok(response.headers.getSetCookie().includes("one=1; Path=/"), "the filter's cookies are there too");
});
