/** What a caller may not do to pools: sign for clients that have more than it has (api-v1.md, "No more than you have"). */
import type { ApiCaller } from "../access.ts";
import { scopesOfApiClients } from "../applications/api-clients.store.ts";
import { requireHeldScopes } from "../applications/held-scopes.ts";
import type { ApiDeps } from "../frame/api-deps.ts";

export const heldByPool =
  "The scopes of the API that the pool's applications have are needed too: whoever has the key can sign their tokens.";

/**
 * Whoever has an agent's key can sign a token of each of the pool's clients.
 * @throws ApiError 403 exceeds-caller
 */
export async function requireHeldByPool(
  { database }: ApiDeps,
  caller: ApiCaller,
  poolId: string,
): Promise<void> {
  const isOfPool = ({ signingPoolId }: { readonly signingPoolId?: string }) =>
    signingPoolId?.toLowerCase() === poolId;
  requireHeldScopes(caller, await scopesOfApiClients(database.query, caller.organisation.id, isOfPool));
}
