/** Where the adapters for Express and Fastify leave the principal: as the member `principal` of the framework's request. */
import { SignetError } from "../errors.ts";
import type { Principal } from "../principal.ts";

/** Whom the filter has let in; undefined for an anonymous request (`isOptional`, or the filter None). */
export function principalOf(request: object): Principal | undefined {
  return (request as { readonly principal?: Principal | undefined }).principal;
}

/**
 * For handlers that need somebody, also behind a filter that lets anonymous requests through.
 *
 * @throws SignetError `token_missing`, status 401, when nobody is known
 * @example
 * app.get("/me", (request, response) => response.json(requirePrincipal(request).user));
 */
export function requirePrincipal(request: object): Principal {
  return known(principalOf(request));
}

/** @throws SignetError `token_missing` */
export function known(principal: Principal | undefined): Principal {
  if (principal === undefined)
    throw new SignetError("token_missing", "Sign in first.", { headers: { "www-authenticate": "Bearer" } });
  return principal;
}
