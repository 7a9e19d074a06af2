/**
 * Plugin for Fastify 4 and 5.
 *
 * @module fastify
 */
import { privateCacheControl } from "../cookies/cookie-header.ts";
import { type Filter, principalOfResult } from "../filter.ts";
import { handlerErrorResponse } from "../oauth-user-bearer/unauthorized-response.ts";
import { authenticateNodeRequest, type NodeAdapterOptions, type NodeRequest } from "./node-request.ts";

/** The used part of Fastify's request. */
export interface FastifyRequestLike {
  readonly raw: NodeRequest;
  readonly originalUrl: string;
}

/** The used part of Fastify's reply. */
export interface FastifyReplyLike {
  /** Sets the status. */
  code(status: number): unknown;
  /** Sets a header; adds a `set-cookie`. */
  header(name: string, value: string): unknown;
  /** Sends the response. */
  send(body?: unknown): unknown;
}

/** The used part of a Fastify instance. */
export interface FastifyLike {
  /** Declares `request.principal`. */
  decorateRequest(name: "principal"): unknown;
  /** Whether it is already declared. */
  hasRequestDecorator(name: string): boolean;
  /** Runs the filter before everything else. */
  addHook(
    name: "onRequest",
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike) => Promise<unknown>,
  ): unknown;
  /** Sees errors that no error handler of the application has answered. */
  addHook(
    name: "onError",
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike, error: Error) => Promise<void>,
  ): unknown;
  /** Replaces their response. */
  addHook(
    name: "onSend",
    hook: (request: FastifyRequestLike, reply: FastifyReplyLike, payload: unknown) => Promise<unknown>,
  ): unknown;
}

/**
 * Protects every route of the instance it is registered on, and of its children: to protect a part, register it there. The
 * routes of OAuthFederated (callback, logout) need the root instance. The principal is `request.principal`: see `principalOf`
 * and `requirePrincipal`.
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
      if (result.kind === "answer") return sendResponse(result.response, reply);
      // Set before the handler, which may override it.
      if (result.cookies.length > 0) reply.header("cache-control", privateCacheControl(undefined));
      for (const cookie of result.cookies) reply.header("set-cookie", cookie);
      Object.assign(request, { principal: principalOfResult(result) });
      return undefined;
    });
    addErrorResponses(app);
  };
  // Applies the hook to the registering instance instead of a new child (as fastify-plugin does).
  return Object.assign(plugin, { [Symbol.for("skip-override")]: true });
}

/** Responses to errors of `requirePrincipal` and `requireScopes`, instead of Fastify's own, never of the application's. */
function addErrorResponses(app: FastifyLike): void {
  const failed = new WeakMap<FastifyRequestLike, { error: Error; response: Response }>();
  // Before any error handler: only the body tells which one has answered.
  app.addHook("onError", async (request, _reply, error) => {
    const response = handlerErrorResponse(error);
    if (response === undefined) failed.delete(request);
    else failed.set(request, { error, response });
  });
  app.addHook("onSend", async (request, reply, payload) => {
    const failure = failed.get(request);
    if (failure === undefined || !isDefaultAnswer(payload, failure.error)) return payload;
    for (const [name, value] of failure.response.headers) reply.header(name, value);
    return failure.response.text();
  });
}

/** Fastify's own body: `{"statusCode":403,"code":"insufficient_scope","error":"Forbidden","message":"…"}`, or part of it. */
function isDefaultAnswer(payload: unknown, { message }: Error): boolean {
  if (typeof payload !== "string" || !payload.startsWith('{"')) return false;
  const body = parseObject(payload);
  return body["message"] === message && Object.keys(body).every((name) => defaultMembers.has(name));
}

const defaultMembers: ReadonlySet<string> = new Set(["statusCode", "code", "error", "message"]);

function parseObject(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return {};
  }
}

async function sendResponse(response: Response, reply: FastifyReplyLike): Promise<FastifyReplyLike> {
  reply.code(response.status);
  for (const [name, value] of response.headers) if (name !== "set-cookie") reply.header(name, value);
  // Fastify sends each of these as a separate header.
  for (const cookie of response.headers.getSetCookie()) reply.header("set-cookie", cookie);
  const body = response.body === null ? undefined : new Uint8Array(await response.arrayBuffer());
  reply.send(body);
  return reply;
}
