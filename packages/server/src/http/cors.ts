/** CORS: which web origins may read a response. Credentials are never allowed: these endpoints use no cookies. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";

/** Whether the origin belongs to a redirect URI of a client of the organisation. */
export type IsClientOrigin = (orgId: string, origin: string) => Promise<boolean>;

const PREFLIGHT_MAX_AGE_SECONDS = "600";

/** Answers preflight requests of documents that every origin may read; a client may send headers that make it ask. */
export function publicCors(scope: FastifyInstance, paths: readonly string[]): void {
  for (const path of paths)
    scope.options(path, async (_request, reply) =>
      reply
        .headers({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": "GET, HEAD",
          "access-control-allow-headers": "*",
          "access-control-max-age": PREFLIGHT_MAX_AGE_SECONDS,
        })
        .code(204)
        .send(),
    );
}

/** Answers preflight requests of the paths and adds the headers to their responses, errors included. */
export function clientCors(
  scope: FastifyInstance,
  paths: readonly string[],
  isClientOrigin: IsClientOrigin,
): void {
  const allow = async (request: FastifyRequest, reply: FastifyReply) => {
    const { origin } = request.headers;
    if (origin === undefined || origin.length > 300) return false;
    reply.header("vary", "Origin");
    const { org = "" } = request.params as { org?: string };
    if (!(await isClientOrigin(org.toLowerCase(), origin))) return false;
    reply.headers({
      "access-control-allow-origin": origin,
      "access-control-expose-headers": "WWW-Authenticate, Retry-After, DPoP-Nonce",
    });
    return true;
  };
  scope.addHook("onRequest", (request, reply, done) => {
    const { url } = request.routeOptions;
    // Most requests come from servers and have no Origin: they skip the promise.
    if (!request.headers.origin || request.method === "OPTIONS" || !paths.includes(url ?? "")) return done();
    allow(request, reply).then(
      () => done(),
      (error: Error) => done(error),
    );
  });
  for (const path of paths) {
    scope.options(path, async (request, reply) => {
      if (await allow(request, reply)) {
        reply.headers({
          "access-control-allow-methods": "GET, POST",
          "access-control-allow-headers": "Authorization, Content-Type, DPoP",
          "access-control-max-age": PREFLIGHT_MAX_AGE_SECONDS,
        });
      }
      return reply.code(204).send();
    });
  }
}

/** For endpoints that any page may call with a token of its own: preflight requests, and the headers of their responses, errors included. */
export function openCors(scope: FastifyInstance, routes: Readonly<Record<string, string>>): void {
  scope.addHook("onRequest", async (request, reply) => {
    if (!request.headers.origin || routes[request.routeOptions.url ?? ""] === undefined) return;
    reply.headers({
      "access-control-allow-origin": "*",
      "access-control-expose-headers": "WWW-Authenticate, Retry-After",
    });
  });
  for (const [path, methods] of Object.entries(routes))
    scope.options(path, async (_request, reply) =>
      reply
        .headers({
          "access-control-allow-origin": "*",
          "access-control-allow-methods": methods,
          "access-control-allow-headers": "Authorization, Content-Type",
          "access-control-max-age": PREFLIGHT_MAX_AGE_SECONDS,
        })
        .code(204)
        .send(),
    );
}
