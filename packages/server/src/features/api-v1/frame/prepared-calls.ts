/** Work before the transaction of a call, which must not be held while another server is waited for. */
import type { ApiAuthenticator, ApiRequest } from "../../../http/api/api-route.ts";

/**
 * @param prepare runs once the caller may call the operation; throwing refuses the call
 * @returns the authenticator for the route, and what `prepare` found for a request
 */
export function preparedCalls<C, W, P>(
  authenticator: ApiAuthenticator<C, W>,
  prepare: (caller: C, request: ApiRequest) => Promise<P>,
): { readonly authenticator: ApiAuthenticator<C, W>; prepared(request: ApiRequest): P } {
  const found = new WeakMap<ApiRequest, P>();
  return {
    authenticator: {
      ...authenticator,
      authorise: async (caller, request, body, operation) => {
        const known = authenticator.authorise
          ? await authenticator.authorise(caller, request, body, operation)
          : caller;
        found.set(request, await prepare(known, request));
        return known;
      },
    },
    prepared: (request) => found.get(request) as P,
  };
}
