/**
 * The filter as middleware of Hono, on every platform that Hono runs on.
 *
 * @module hono
 */
import { cacheControlWithCookies } from "../cookies/cookie-header.ts";
import type { Filter } from "../filter.ts";
import { handlerRefusal } from "../oauth-user-bearer/refusal.ts";
import type { Principal } from "../principal.ts";
import { authenticateWebRequest } from "./web-request.ts";

/** For `new Hono<{ Variables: SignetVariables }>()`: types `c.get("principal")`. */
export interface SignetVariables {
  /** Undefined for an anonymous request (`isOptional`, or the filter None). */
  principal: Principal | undefined;
}

/** What is used of Hono's context. */
export interface HonoContext {
  readonly req: { readonly raw: Request };
  readonly env: unknown;
  /** Of the handlers after this one. */
  readonly error?: Error | undefined;
  res: Response;
  /** Where handlers find it. */
  set(key: "principal", value: Principal | undefined): void;
  /** A field of the answer, beside others of that name. */
  header(name: string, value: string, options?: { append: boolean }): void;
}

/** What `honoMiddleware` may be told of the platform. */
export interface HonoAdapterOptions {
  /** DER of the certificate whose key the TLS connection has proven, where the platform tells it (`env` of the context). */
  readonly clientCertificate?: (context: HonoContext) => Uint8Array | undefined;
}

/**
 * The principal is `c.get("principal")`.
 *
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
    context.set("principal", result.kind === "authenticated" ? result.principal : undefined);
    await next();
    // Hono has handed the error of a handler to the application, which knows nothing of ours.
    const refused = handlerRefusal(context.error);
    if (refused !== undefined) context.res = refused;
    // Behind the handler: before it they would not reach an answer that is a Response of its own.
    if (result.cookies.length > 0)
      context.header("cache-control", cacheControlWithCookies(context.res.headers.get("cache-control")));
    for (const cookie of result.cookies) context.header("set-cookie", cookie, { append: true });
    return undefined;
  };
}
