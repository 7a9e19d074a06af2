/** A caller hands out only the scopes of this API that it has itself (api-v1.md, "No more than you have"). */
import { isApiScope } from "../../../core/scopes/api-scopes.ts";
import { type ApiCaller, requireHeld } from "../access.ts";

/**
 * Of a client that the caller gives a secret, a key or an address: who may change how a client authenticates has what it has.
 * @throws ApiError 403 exceeds-caller
 */
export function requireHeldScopes(caller: ApiCaller, ...scopes: ReadonlyArray<readonly string[]>): void {
  for (const scope of scopes.flat()) if (isApiScope(scope)) requireHeld(caller, scope);
}
