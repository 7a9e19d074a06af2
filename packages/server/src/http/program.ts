/** Whether a program asks, where one address answers browsers with a page and programs with JSON. */
import type { FastifyRequest } from "fastify";

/** Browsers name it; programs name JSON, anything or nothing. */
export const acceptsPage = ({ headers }: Pick<FastifyRequest, "headers">): boolean =>
  headers.accept?.includes("text/html") === true;

/**
 * Programs authenticate by a header, or accept JSON. One that accepts anything, but has no cookie and wants no language, reads
 * no page either: it gets 401, never a sign-in page.
 */
export function isProgram(request: Pick<FastifyRequest, "headers">): boolean {
  const { accept, authorization, cookie } = request.headers;
  if (authorization !== undefined) return true;
  if (accept === undefined || acceptsPage(request)) return false;
  if (accept.includes("application/json")) return true;
  return cookie === undefined && request.headers["accept-language"] === undefined;
}
