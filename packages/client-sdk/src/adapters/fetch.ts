/**
 * The filter around a handler that takes a Web `Request`: Deno.serve, Bun.serve, workers, route handlers of frameworks.
 * The request's address is only read for its path there: where the application lives is `baseUrl` of the configuration.
 */
import type { Filter } from "../filter.ts";
import { handlerRefusal } from "../oauth-user-bearer/refusal.ts";
import type { Principal } from "../principal.ts";
import { known } from "./request-principal.ts";
import { authenticateWebRequest, withCookies } from "./web-request.ts";

/** What `protect` and `identify` may be told of the platform. */
export interface FetchAdapterOptions<Rest extends readonly unknown[] = readonly unknown[]> {
  /**
   * DER of the certificate whose key the TLS connection has proven, where the platform tells it; never from a header that a
   * caller can write. Gets what the handler gets.
   */
  readonly clientCertificate?: (request: Request, ...rest: Rest) => Uint8Array | undefined;
}

/**
 * A handler that somebody must be known for. Behind a filter that lets anonymous requests through (`isOptional`, None)
 * these get 401: use `identify` to have them.
 *
 * @param handler what the platform hands on beside the request comes after the principal
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
    (request, principal, ...rest: Rest) => handler(request, known(principal), ...rest),
    options,
  );
}

/**
 * A handler that is told who the request comes from, or undefined for an anonymous one.
 *
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
  return async (request, ...rest) => {
    const clientCertificate = options.clientCertificate?.(request, ...rest);
    const result = await authenticateWebRequest(filter, request, clientCertificate);
    if (result.kind === "answer") return result.response;
    const principal = result.kind === "authenticated" ? result.principal : undefined;
    const response = await answerOf(async () => handler(request, principal, ...rest));
    return withCookies(response, result.cookies);
  };
}

async function answerOf(handle: () => Promise<Response>): Promise<Response> {
  try {
    return await handle();
  } catch (error) {
    const refused = handlerRefusal(error);
    if (refused === undefined) throw error;
    return refused;
  }
}
