/**
 * The filter as a plugin of Fastify 4 and 5.
 *
 * @module fastify
 */
import { cacheControlWithCookies } from "../cookies/cookie-header.ts";
import type { Filter } from "../filter.ts";
import { authenticateNodeRequest, type NodeAdapterOptions, type NodeRequest } from "./node-request.ts";

/** What is used of Fastify's request. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest;
  readonly originalUrl: string;
}

/** What is used of Fastify's reply. */
export interface FastifyReplyLike {
  /** The status of the answer. */
  code(status: number): unknown;
  /** A field of the answer; `set-cookie` each time anew. */
  header(name: string, value: string): unknown;
  /** Answers. */
  send(body?: unknown): unknown;
}

/** What is used of a Fastify instance. */
export interface FastifyLike {
  /** Makes room for `request.principal`. */
  decorateRequest(name: "principal"): unknown;
  /** Whether there is room already. */
  hasRequestDecorator(name: string): boolean;
  /** Runs the filter before everything else. */
  addHook(
    name: "onRequest",
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
}

/**
 * Protects every route of the instance that it is registered on, and of those below it: to protect a part, register it
 * inside that part. What OAuthFederated answers itself (callback, logout) needs the root instance. The principal is
 * `request.principal`: see `principalOf` and `requirePrincipal`.
 *
 * @param options `baseUrl` as in the configuration
 * @example
 * app.register(fastifyPlugin(createFilter(configuration)));
 * app.get("/", (request) => requirePrincipal(request).user);
 */
export function fastifyPlugin(
  filter: Filter,
  options: NodeAdapterOptions = {},
): (app: FastifyLike) => Promise<void> {
  const plugin = async (app: FastifyLike): Promise<void> => {
    if (!app.hasRequestDecorator("principal")) app.decorateRequest("principal");
    app.addHook("onRequest", async (request, reply) => {
      const result = await authenticateNodeRequest(filter, request.raw, options, request.originalUrl);
      if (result.kind === "answer") return answer(result.response, reply);
      // Before the handler, which may still say otherwise.
      if (result.cookies.length > 0) reply.header("cache-control", cacheControlWithCookies(undefined));
      for (const cookie of result.cookies) reply.header("set-cookie", cookie);
      const principal = result.kind === "authenticated" ? result.principal : undefined;
      Object.assign(request, { principal });
      return undefined;
    });
  };
  // Fastify's own sign that hooks are meant for the instance that registers the plugin, not for the plugin alone.
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}

async function answer(response: Response, reply: FastifyReplyLike): Promise<FastifyReplyLike> {
  reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== "set-cookie") reply.header(name, value);
  // Fastify collects what comes under this name, each a field of its own.
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
  const body = response.body === null ? undefined : new Uint8Array(await response.arrayBuffer());
  reply.send(body);
  return reply;
}
