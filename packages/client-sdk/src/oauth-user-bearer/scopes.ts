/** Scope checks (RFC 6749 §3.3). */
import { SignetError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { challenge } from "./unauthorized-response.ts";

/**
 * For handlers that need more scopes than the filter requires of every request. The adapters for Fetch and Hono turn the error
 * into a 403 response; in Express and Fastify the default error handlers do, by its `status` and `headers`.
 *
 * @param scopes all of them are required
 * @throws SignetError `insufficient_scope`, status 403
 * @example
 * app.delete("/jobs/:id", (request, response) => {
 *   requireScopes(requirePrincipal(request), "jobs:write");
 *   response.sendStatus(204);
 * });
 */
export function requireScopes(principal: Pick<Principal, "scopes">, ...scopes: readonly string[]): void {
  const missing = scopes.filter((scope) => !principal.scopes.has(scope));
  if (missing.length === 0) return;
  const required = challenge("Bearer", { error: "insufficient_scope", scope: scopes.join(" ") });
  throw new SignetError("insufficient_scope", `The token lacks the scope ${missing.join(" ")}.`, {
    headers: { "www-authenticate": required },
  });
}
