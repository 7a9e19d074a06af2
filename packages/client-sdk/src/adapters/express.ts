/**
 * The filter as middleware of Express 4 and 5, and of Connect and everything else that takes `(request, response, next)`.
 *
 * @module express
 */
import type { Filter } from "../filter.ts";
import {
  addCookies,
  authenticateNodeRequest,
  type NodeAdapterOptions,
  type NodeRequest,
  type NodeResponse,
  sendWebResponse,
} from "./node-request.ts";

/** What is used of Express's request. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string;
}

/**
 * Stands before the body parsers and the routes to protect: the filter reads bodies as they came, and puts them back.
 * Mount it without a path, so that the filter's own paths (callback, logout) reach it too. The principal is
 * `request.principal`: see `principalOf` and `requirePrincipal`.
 *
 * @param options `baseUrl` as in the configuration
 * @example
 * app.use(expressMiddleware(createFilter(configuration)));
 * app.get("/", (request, response) => response.send(requirePrincipal(request).user?.email));
 */
export function expressMiddleware(
  filter: Filter,
  options: NodeAdapterOptions = {},
): (request: ExpressRequest, response: NodeResponse, next: (error?: unknown) => void) => void {
  const mayGoOn = async (request: ExpressRequest, response: NodeResponse): Promise<boolean> => {
    const result = await authenticateNodeRequest(filter, request, options, request.originalUrl);
    if (result.kind === "answer") {
      await sendWebResponse(result.response, response);
      return false;
    }
    addCookies(response, result.cookies);
    const principal = result.kind === "authenticated" ? result.principal : undefined;
    Object.assign(request, { principal });
    return true;
  };
  return (request, response, next) => {
    mayGoOn(request, response).then((goesOn) => {
      if (goesOn) next();
    }, next);
  };
}
