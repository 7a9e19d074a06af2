/**
 * Middleware for Hono, on every platform that Hono supports.
 *
 * @module hono
 */
import { privateCacheControl } from "../cookies/cookie-header.ts";
import { type Filter, principalOfResult } from "../filter.ts";
import { handlerErrorResponse } from "../oauth-user-bearer/unauthorized-response.ts";
import type { Principal } from "../principal.ts";
import { authenticateWebRequest } from "./fetch.ts";

/** For `new Hono<{ Variables: SignetVariables }>()`: types `c.get("principal")`. */
export interface SignetVariables {
  /** Undefined for an anonymous request (`isOptional`, or the filter None). */
  principal: Principal | undefined;
}

/** The used part of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
  /** Of later handlers. */
  readonly error?: Error | undefined;
  res: Response;
  /** Stores the principal for handlers. */
  set(key: "principal", value: Principal | undefined): void;
  /** Adds a response header. */
  header(name: string, value: string, options?: { append: boolean }): void;
}

/** Options of `honoMiddleware`. */
export interface HonoAdapterOptions {
  /** DER of the client certificate proven in the TLS handshake, if the platform provides it (the context's `env`). */
  readonly clientCertificate?: (context: HonoContext) => Uint8Array | undefined;
}

/**
 * Sets the principal as `c.get("principal")`.
 * @example
 * const app = new Hono<{ Variables: SignetVariables }>();
 * app.use(honoMiddleware(createFilter(configuration)));
 * app.get("/", (c) => c.text(c.get("principal")?.user?.email ?? "nobody"));
 */
export function honoMiddleware(
  filter: Filter,
  options: HonoAdapterOptions = {},
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  return async (context, next) => {
    const clientCertificate = options.clientCertificate?.(context);
    const result = await authenticateWebRequest(filter, context.req.raw, clientCertificate);
    if (result.kind === "answer") return result.response;
    context.set("principal", principalOfResult(result));
    await next();
    const response = handlerErrorResponse(context.error);
    if (response !== undefined && (await isDefaultAnswer(context.res))) context.res = response;
    // Set after the handler: earlier headers don't reach a handler's own Response.
    if (result.cookies.length > 0)
      context.header("cache-control", privateCacheControl(context.res.headers.get("cache-control")));
    for (const cookie of result.cookies) context.header("set-cookie", cookie, { append: true });
    return undefined;
  };
}

/** Hono has already passed the error to an error handler: an answer of the application's own one stays. */
async function isDefaultAnswer(response: Response): Promise<boolean> {
  return response.status === 500 && (await response.clone().text()) === "Internal Server Error";
}
