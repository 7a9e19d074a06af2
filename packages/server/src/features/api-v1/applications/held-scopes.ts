/** What a caller may not do to applications: hand out more than it has (api-v1.md, "No more than you have"), or lock itself out. */
import { isApiScope } from "../../../core/scopes/api-scopes.ts";
import { ApiError } from "../../../http/api/api-error.ts";
import { type ApiCaller, requireHeld } from "../access.ts";

/**
 * Of a client that the caller gives a secret, a key or an address: who may change how a client authenticates has what it has.
 * @throws ApiError 403 exceeds-caller
 */
export function requireHeldScopes(caller: ApiCaller, ...scopes: ReadonlyArray<readonly string[]>): void {
  for (const scope of scopes.flat()) if (isApiScope(scope)) requireHeld(caller, scope);
}

/** To delete or disable its own would lock the caller out. @throws ApiError 409 */
export function requireOther({ client }: Pick<ApiCaller, "client">, id: string): void {
  if (client.id !== id) return;
  throw new ApiError(409, "own-application", "The access token is of this application", {
    detail: "Use the token of another application.",
  });
}

/** A copy of another organisation's application changes at its home alone. */
export const foreignApplication = () =>
  new ApiError(409, "foreign-application", "The application is another organisation's", {
    detail: "That organisation alone can change it. Its scopes here are set by shared-applications.",
  });
