/**
 * Middleware for Express 4 and 5, Connect, and anything else that takes `(request, response, next)`.
 *
 * @module express
 */
import type { Filter } from "../filter.ts";
import { principalOfResult } from "../principal.ts";
import {
  addCookies,
  authenticateNodeRequest,
  type NodeAdapterOptions,
  type NodeRequest,
  type NodeResponse,
  sendWebResponse,
} from "./node-request.ts";

/** The used part of Express's request. */
export interface ExpressRequest extends NodeRequest {
  readonly originalUrl?: string;
}

/**
 * Mount it before body parsers and protected routes: the filter reads bodies and puts them back. Mount it without a path, so
 * that the filter's own routes (callback, logout) reach it too. The principal is `request.principal`: see `principalOf` and
 * `requirePrincipal`.
 * @param options `baseUrl` as in the configuration
 * @example
 * app.use(expressMiddleware(createFilter(configuration)));
 * app.get("/", (request, response) => response.send(requirePrincipal(request).user?.email));
 */
export function expressMiddleware(
  filter: Filter,
  options: NodeAdapterOptions = {},
): (request: ExpressRequest, response: NodeResponse, next: (error?: unknown) => void) => void {
  const shouldContinue = async (request: ExpressRequest, response: NodeResponse): Promise<boolean> => {
    const result = await authenticateNodeRequest(filter, request, options, request.originalUrl);
    if (result.kind === "answer") {
      await sendWebResponse(result.response, response);
      return false;
    }
    addCookies(response, result.cookies);
    Object.assign(request, { principal: principalOfResult(result) });
    return true;
  };
  return (request, response, next) => {
    shouldContinue(request, response).then((continues) => {
      if (continues) next();
    }, next);
  };
}
