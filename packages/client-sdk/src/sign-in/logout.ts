/** Signing out, here and at the provider. Other sites and links in emails must not sign users out (CSRF). */
import { withCookies } from "../cookies/cookie-header.ts";
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { builtInPage } from "./built-in-pages.ts";
import { readSession } from "./current-session.ts";
import { requestKind, requestSource } from "./request-kind.ts";
import { json, redirect, respond } from "./responses.ts";
import { filterPaths, type SignIn } from "./sign-in.ts";

export async function logOut<Session>(signIn: SignIn<Session>, request: Request): Promise<FilterResult> {
  const kind = requestKind(request);
  const source = requestSource(request, signIn.origin);
  const isScript = kind === "fetch" || kind === "prefetch";
  // GET must be a navigation: anyone can embed an image or have a page prefetched.
  const isIntended = request.method === "POST" ? kind !== "prefetch" : kind === "navigation";
  if (source === "same-origin" && isIntended) return signOut(signIn, request);
  const isRejected = request.method === "POST" || source === "cross-site" || isScript;
  const error = isRejected
    ? new SignetError("cross_site", "Only pages of the application may sign users out without confirmation.")
    : undefined;
  if (isScript)
    return respond(json(403, { error: "cross_site", error_description: error?.description ?? "" }), error);
  const action = { label: "Sign out", address: filterPaths(signIn.basePath).logout, method: "post" } as const;
  const page = builtInPage("confirm_logout", action, isRejected ? 403 : 200);
  return respond(await signIn.showPage(page, request), error);
}

async function signOut<Session>(signIn: SignIn<Session>, request: Request): Promise<FilterResult> {
  const session = await readSession(signIn, request);
  const url = session ? await endSession(signIn, session) : signIn.afterLogout;
  const cookies = signIn.session.clear(request);
  if (requestKind(request) === "fetch") return respond(withCookies(json(200, { logout_url: url }), cookies));
  return respond(redirect(url, cookies, request.method === "POST" ? 303 : 302));
}

/** The user is signed out here whatever fails elsewhere. @returns where to continue */
async function endSession<Session>(signIn: SignIn<Session>, session: Session): Promise<string> {
  const [url] = await Promise.all([
    signIn.endAtProvider(session),
    signIn.rememberEnd(session).catch((error: unknown) => signIn.onError(toError(error))),
  ]);
  return url;
}

const toError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)));
