/**
 * Signing out, here and where the session was made. Only a page of the application itself does it without a question: another
 * site, or a link in a mail, must not sign anybody out (RFC 6749 §10.12 is about the same).
 */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { answered, frontPage, json, redirect, withCookies } from "./answers.ts";
import type { SignInMechanism } from "./mechanism.ts";
import { requestKind, senderOf } from "./request-kind.ts";
import { ownPathsOf, type SignInContext } from "./sign-in-context.ts";

export async function logOut<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  const kind = requestKind(request);
  const sender = senderOf(request, context.origin);
  const isScript = kind === "call" || kind === "prefetch";
  // An image or a page that is loaded ahead can be anybody's idea; a form or a script's POST is ours.
  const isMeant = request.method === "POST" ? kind !== "prefetch" : kind === "navigation";
  if (sender === "own" && isMeant) return signOut(context, mechanism, request);
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

async function signOut<Session>(
  context: SignInContext,
  mechanism: SignInMechanism<Session>,
  request: Request,
): Promise<FilterResult> {
  const session = mechanism.sessionOf(await context.session.read(request));
  if (session) await endSession(context, mechanism, session);
  const address = session ? await mechanism.afterLogoutOf(session) : context.afterLogout;
  const cookies = context.session.clear(request);
  if (requestKind(request) === "call")
    return answered(withCookies(json(200, { logout_url: address }), cookies));
  return answered(redirect(address, cookies, request.method === "POST" ? 303 : 302));
}

/** Each part as well as it can be done: whoever signs out is signed out here, whatever does not work elsewhere. */
async function endSession<Session>(
  { onError }: SignInContext,
  mechanism: SignInMechanism<Session>,
  session: Session,
): Promise<void> {
  const tell = (error: unknown) => onError(error instanceof Error ? error : new Error(String(error)));
  const parts = [mechanism.rememberEnd(session), mechanism.endElsewhere(session)];
  await Promise.all(parts.map((part) => part.catch(tell)));
}
