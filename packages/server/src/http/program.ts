/** Whether a program asks, where one address answers browsers with a page and programs with JSON. */
import type { FastifyRequest } from "fastify";

/** Browsers name it; programs name JSON, anything or nothing. */
export const acceptsPage = ({ headers }: Pick<FastifyRequest, "headers">): boolean =>
  headers.accept?.includes("text/html") === true;

/**
 * What a browser sends for the proxy in front of us that asked for a password (RFC 7617, 7616, 4559), or whose network signs in:
 * none of it is ours.
 */
const BROWSERS_OWN = /^(?:basic|digest|negotiate|ntlm)(?: |$)/i;

/**
 * Programs authenticate by a header, or accept JSON. One that accepts anything or does not say (as Go's and Java's clients), but
 * has no cookie and wants no language, reads no page either: it gets 401, never a sign-in page.
 */
export function isProgram(request: Pick<FastifyRequest, "headers">): boolean {
  const { accept, authorization, cookie } = request.headers;
  if (authorization !== undefined) return !(acceptsPage(request) && BROWSERS_OWN.test(authorization));
  if (acceptsPage(request)) return false;
  if (accept?.includes("application/json")) return true;
  return cookie === undefined && request.headers["accept-language"] === undefined;
}

/** At an address that has nothing but a page: whoever reads pages gets it, also behind a proxy that adds a token of its own. */
export const readsNoPage = (request: Pick<FastifyRequest, "headers">): boolean =>
  isProgram(request) && !acceptsPage(request);
