/**
 * Signing out, here and at the service. Only a page of the application itself does it without a question: another site, or a
 * link in a mail, must not sign anybody out.
 */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { answered, frontPage, json, redirect, withCookies } from "../oauth-federated/answers.ts";
import { requestKind, senderOf } from "../oauth-federated/request-kind.ts";
import { rememberEnd } from "./current-session.ts";
import { type FederationContext, ownPathsOf } from "./federation-context.ts";
import { type LegacySession, sessionOf } from "./legacy-session.ts";

export async function logOut(context: FederationContext, request: Request): Promise<FilterResult> {
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

async function signOut(context: FederationContext, request: Request): Promise<FilterResult> {
  const session = sessionOf(await context.session.read(request), context.party);
  if (session) await endSession(context, session);
  const cookies = context.session.clear(request);
  const { afterLogout } = context;
  if (requestKind(request) === "call")
    return answered(withCookies(json(200, { logout_url: afterLogout }), cookies));
  return answered(redirect(afterLogout, cookies, request.method === "POST" ? 303 : 302));
}

/** Each part as well as it can be done: whoever signs out is signed out here, whatever does not work elsewhere. */
async function endSession(context: FederationContext, session: LegacySession): Promise<void> {
  const { calls, onError } = context;
  const end = async () => {
    const body = { Key: session.sessionKey };
    await calls.call("POST /legacy/api/Authentication/User/Logout", { body });
  };
  const tell = (error: unknown) => {
    // The key had ended before: that is what was wanted.
    if (error instanceof SignetError && error.problem?.status === 401) return;
    onError(error instanceof Error ? error : new Error(String(error)));
  };
  await Promise.all([rememberEnd(context, session).catch(tell), end().catch(tell)]);
}
