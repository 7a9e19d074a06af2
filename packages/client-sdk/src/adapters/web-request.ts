/** What the adapters for platforms with a Web `Request` of their own have in common. */
import { cacheControlWithCookies } from "../cookies/cookie-header.ts";
import type { Filter, FilterResult } from "../filter.ts";

/**
 * Asks the filter about a copy of the request, so that the handler after it finds the body unread.
 *
 * @param clientCertificate DER
 */
export async function authenticateWebRequest(
  filter: Filter,
  request: Request,
  clientCertificate: Uint8Array | undefined,
): Promise<FilterResult> {
  const copy = copyOf(request);
  try {
    return await filter.authenticate(copy, { clientCertificate });
  } finally {
    // A copy that nobody reads would hold the whole body in memory while the handler reads it. The promise is that of
    // both copies together, which nobody may wait for here.
    if (copy !== request && !copy.bodyUsed) copy.body?.cancel().catch(() => {});
  }
}

function copyOf(request: Request): Request {
  if (request.body === null) return request;
  if (!request.bodyUsed && !request.body.locked) return request.clone();
  // Something before the filter took the body: it is not there for the filter either.
  return new Request(request.url, { method: request.method, headers: request.headers });
}

/**
 * The same answer with the filter's cookies, and then for no shared cache; an answer that was fetched from elsewhere cannot be
 * changed, a copy can.
 */
export function withCookies(response: Response, cookies: readonly string[]): Response {
  if (cookies.length === 0) return response;
  const copy = new Response(response.body, response);
  copy.headers.set("cache-control", cacheControlWithCookies(copy.headers.get("cache-control")));
  for (const cookie of cookies) copy.headers.append("set-cookie", cookie);
  return copy;
}
