/** For handlers of Web `Request`s (Deno.serve, Bun.serve, workers). The origin is the configured `baseUrl`, not the URL's. */
import { withCookies } from "../cookies/cookie-header.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { handlerErrorResponse } from "../oauth-user-bearer/unauthorized-response.ts";
import { authenticated, type Principal, principalOfResult } from "../principal.ts";

/** Options of `protect` and `identify`. */
export interface FetchAdapterOptions<Rest extends readonly unknown[] = readonly unknown[]> {
  /**
   * DER of the client certificate proven in the TLS handshake, if the platform provides it; never from a header that clients can
   * set. Receives the handler's arguments.
   */
  readonly clientCertificate?: (request: Request, ...rest: Rest) => Uint8Array | undefined;
}

/**
 * A handler that requires a principal. Anonymous requests (`isOptional`, None) get 401; use `identify` to accept them.
 * @param handler the platform's further arguments follow the principal
 * @example
 * const filter = createFilter(configuration);
 * Deno.serve(protect(filter, (request, principal) => Response.json(principal.user)));
 */
export function protect<Rest extends readonly unknown[]>(
  filter: Filter,
  handler: (request: Request, principal: Principal, ...rest: Rest) => Response | Promise<Response>,
  options: FetchAdapterOptions<Rest> = {},
): (request: Request, ...rest: Rest) => Promise<Response> {
  return identify(
    filter,
    (request, principal, ...rest: Rest) => handler(request, authenticated(principal), ...rest),
    options,
  );
}

/**
 * A handler that gets the principal, or undefined for an anonymous request.
 * @example
 * const handler = identify(filter, (request, principal) => new Response(principal?.user?.firstname ?? "stranger"));
 */
export function identify<Rest extends readonly unknown[]>(
  filter: Filter,
  handler: (
    request: Request,
    principal: Principal | undefined,
    ...rest: Rest
  ) => Response | Promise<Response>,
  options: FetchAdapterOptions<Rest> = {},
): (request: Request, ...rest: Rest) => Promise<Response> {
  const respond = async (request: Request, principal: Principal | undefined, rest: Rest) => {
    try {
      return await handler(request, principal, ...rest);
    } catch (error) {
      const response = handlerErrorResponse(error);
      if (response === undefined) throw error;
      return response;
    }
  };
  return async (request, ...rest) => {
    const clientCertificate = options.clientCertificate?.(request, ...rest);
    const result = await authenticateWebRequest(filter, request, clientCertificate);
    if (result.kind === "answer") return result.response;
    return withCookies(await respond(request, principalOfResult(result), rest), result.cookies);
  };
}

/** Authenticates a copy of the request, so that the handler can still read the body. @param clientCertificate DER */
export async function authenticateWebRequest(
  filter: Filter,
  request: Request,
  clientCertificate: Uint8Array | undefined,
): Promise<FilterResult> {
  const copy = copyRequest(request);
  try {
    return await filter.authenticate(copy, { clientCertificate });
  } finally {
    // An unread copy would buffer the whole body while the handler reads it. The promise settles with both copies, so it isn't
    // awaited.
    if (copy !== request && !copy.bodyUsed) copy.body?.cancel().catch(() => {});
  }
}

function copyRequest(request: Request): Request {
  if (request.body === null) return request;
  if (!request.bodyUsed && !request.body.locked) return request.clone();
  // The body was taken before the filter, so the filter can't have it either.
  return new Request(request.url, { method: request.method, headers: request.headers });
}
