/** Scopes: what the token's holder may do here (RFC 6749 §3.3). */
import { SignetError } from "../errors.ts";
import type { Principal } from "../principal.ts";
import { challenge } from "./refusal.ts";

/**
 * For handlers that need more than the filter asks of every request. The adapters for Fetch and Hono answer the error with
 * 403 by themselves; with Express and Fastify their error handlers do, by its `status` and its `headers`.
 *
 * @param scopes all of them are needed
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
  const wanted = challenge("Bearer", { error: "insufficient_scope", scope: scopes.join(" ") });
  throw new SignetError("insufficient_scope", `The token lacks the scope ${missing.join(" ")}.`, {
    headers: { "www-authenticate": wanted },
  });
}
