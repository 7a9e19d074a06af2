/**
 * Signing out, here and at the provider (OpenID Connect RP-Initiated Logout 1.0). Only a page of the application itself does it
 * without a question: another site, or a link in a mail, must not sign anybody out (RFC 6749 §10.12 is about the same).
 */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import { answered, frontPage, json, redirect, withCookies } from "./answers.ts";
import { rememberEnd } from "./current-session.ts";
import { type FederatedContext, ownPathsOf } from "./federated-context.ts";
import { type FederatedSession, sessionOf } from "./federated-session.ts";
import { requestKind, senderOf } from "./request-kind.ts";
import { revokeRefreshToken } from "./token-endpoint.ts";

export async function logOut(context: FederatedContext, request: Request): Promise<FilterResult> {
  const kind = requestKind(request);
  const sender = senderOf(request, context.origin);
  const isScript = kind === "call" || kind === "prefetch";
  // An image or a page that is loaded ahead can be anybody's idea; a form or a script's POST is ours.
  const isMeant = request.method === "POST" ? kind !== "prefetch" : kind === "navigation";
  if (sender === "own" && isMeant) return signOut(context, request);
  const isRefused = request.method === "POST" || sender === "elsewhere" || isScript;
  const error = isRefused
    ? new SignetError("cross_site", "Only the application itself signs its users out without a question.")
    : undefined;
  if (isScript)
    return answered(json(403, { error: "cross_site", error_description: error?.message ?? "" }), error);
  const action = { label: "Sign out", address: ownPathsOf(context.basePath).logout, method: "post" } as const;
  const page = frontPage("confirm_logout", action, isRefused ? 403 : 200);
  return answered(await context.showPage(page, request), error);
}

async function signOut(context: FederatedContext, request: Request): Promise<FilterResult> {
  const session = sessionOf(await context.session.read(request), context.party);
  if (session) await endSession(context, session);
  const address = session ? await logoutAddress(context, session) : context.afterLogout;
  const cookies = context.session.clear(request);
  if (requestKind(request) === "call")
    return answered(withCookies(json(200, { logout_url: address }), cookies));
  return answered(redirect(address, cookies, request.method === "POST" ? 303 : 302));
}

/** Each part as well as it can be done: whoever signs out is signed out here, whatever does not work elsewhere. */
async function endSession(context: FederatedContext, session: FederatedSession): Promise<void> {
  const { onError } = context;
  const revoke = async () => {
    if (session.refreshToken !== undefined) await revokeRefreshToken(context, session.refreshToken);
  };
  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)));
  await Promise.all([rememberEnd(context, session).catch(tell), revoke().catch(tell)]);
}

/** The provider's page for it, or ours where it has none or cannot be asked. */
async function logoutAddress(
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
