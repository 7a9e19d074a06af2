/** Where the browser goes to be signed out at the provider too (OpenID Connect RP-Initiated Logout 1.0 §2). */
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import type { FederatedContext } from "./federated-context.ts";
import type { FederatedSession } from "./federated-session.ts";

/** The provider's page for it, or ours where it has none or cannot be asked. */
export async function logoutAddress(
  { provider, clientId, afterLogout, environment, onError }: FederatedContext,
  { idToken }: FederatedSession,
): Promise<string> {
  const metadata = await provider.metadata().catch((error: Error) => onError(error));
  const endpoint = metadata?.end_session_endpoint;
  if (endpoint === undefined || !isAcceptableAddress(endpoint, environment)) return afterLogout;
  const address = new URL(endpoint);
  address.searchParams.set("id_token_hint", idToken);
  address.searchParams.set("client_id", clientId);
  address.searchParams.set("post_logout_redirect_uri", afterLogout);
  return address.href;
}
