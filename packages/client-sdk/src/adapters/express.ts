/**
 * Middleware for Express 4 and 5, Connect, and anything else that takes `(request, response, next)`.
 *
 * @module express
 */
import { type Filter, principalOfResult } from "../filter.ts";
import { handlerErrorResponse } from "../oauth-user-bearer/unauthorized-response.ts";
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
  readonly app?: ExpressApplication;
}

/** The used part of an Express application. */
export interface ExpressApplication {
  /** Adds an error handler. */
  use(handler: ExpressErrorHandler): unknown;
}

/** As Express expects it: recognised by its four parameters. */
export type ExpressErrorHandler = (
  error: unknown,
  request: ExpressRequest,
  response: NodeResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Turns errors of `requirePrincipal` and `requireScopes` into their responses, and passes on any other. `expressMiddleware` adds
 * it behind the application's own handlers; only Connect, and routers outside an Express application, need it explicitly.
 * @example
 * app.use(expressErrorHandler);
 */
export const expressErrorHandler: ExpressErrorHandler = (error, _request, response, next) => {
  const answer = handlerErrorResponse(error);
  if (answer === undefined || response.headersSent) return next(error);
  sendWebResponse(answer, response).catch(next);
};

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
    if (typeof request.app?.use === "function") addLastErrorHandler(request.app);
    shouldContinue(request, response).then((continues) => {
      if (continues) next();
    }, next);
  };
}

/** What Express keeps beside its documented members. */
interface ExpressInternals extends ExpressApplication {
  /** Of an application that is mounted in another one. */
  readonly parent?: ExpressInternals;
  /** Express 5. In Express 4 reading it throws. */
  readonly router?: ExpressRouter;
  /** Express 4. */
  readonly _router?: ExpressRouter;
}
interface ExpressRouter {
  readonly stack?: readonly { readonly handle?: object }[];
}

/** The handler that answers; earlier ones of the same application pass on. */
const lastHandlers = new WeakMap<object, ExpressErrorHandler>();
/** The same for every copy of this package in a process. */
const mark = Symbol.for("@signet/client-sdk/express-error-handler");

/**
 * Keeps ours behind everything that the application has added, which comes first: at the first request, and again when routes or
 * error handlers were added since.
 */
function addLastErrorHandler(mounted: ExpressInternals): void {
  let application = mounted;
  while (application.parent !== undefined) application = application.parent;
  const router = application._router ?? application.router;
  const last = router?.stack?.at(-1)?.handle;
  if (last === undefined ? lastHandlers.has(application) : mark in last) return;
  const handler: ExpressErrorHandler = (error, request, response, next) =>
    lastHandlers.get(application) === handler
      ? expressErrorHandler(error, request, response, next)
      : next(error);
  lastHandlers.set(application, Object.assign(handler, { [mark]: true }));
  application.use(handler);
}
