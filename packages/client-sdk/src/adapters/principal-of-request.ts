/** The principal as a member of the framework's request, for Express and Fastify. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import type { Principal } from "../principal.ts";

/** The authenticated principal; undefined for an anonymous request (`isOptional`, or the filter None). */
export function principalOf(request: object): Principal | undefined {
  return (request as { readonly principal?: Principal | undefined }).principal;
}

/**
 * For handlers that need a principal behind a filter that lets anonymous requests through.
 * @throws SignetError `token_missing`, status 401, for an anonymous request
 * @example
 * app.get("/me", (request, response) => response.json(requirePrincipal(request).user));
 */
export function requirePrincipal(request: object): Principal {
  return authenticated(principalOf(request));
}

/** @throws SignetError `token_missing` */
export function authenticated(principal: Principal | undefined): Principal {
  if (principal === undefined)
    throw new SignetError("token_missing", "Sign in first.", { headers: { "www-authenticate": "Bearer" } });
  return principal;
}

export const principalOfResult = (result: FilterResult): Principal | undefined =>
  result.kind === "authenticated" ? result.principal : undefined;
