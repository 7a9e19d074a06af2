/**
 * GET and POST end_session (OpenID Connect RP-Initiated Logout 1.0). A genuine ID token as the hint signs out and goes
 * back to a registered address; without one nobody is signed out before they say so, and nobody is sent anywhere.
 */

import { type Form, requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { signOut, signOutRunOut } from "../../../core/sessions/sessions.ts";
import { readIdTokenHint } from "../../../core/tokens/id-token-hint.ts";
import { formOf, queryOf } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation } from "../../../http/organisation-lookup.ts";
import {
  type BrowserDeps,
  csrfToken,
  isOwnToken,
  orgPath,
  pageApplication,
  pageFrame,
  pageOrganisation,
  show,
  type Visit,
  whoIsThere,
} from "../authorize/browser.ts";
import { repeatByGet } from "../authorize/request/repeat-by-get.ts";
import { endSessionPage, signedOutPage } from "./end-session.page.ts";

interface LogoutRequest {
  /** Whose ID token the hint is; undefined without a genuine one. */
  readonly hint:
    | { readonly sub: string; readonly sid: string | undefined; readonly application: Application }
    | undefined;
  readonly application: Application | undefined;
  /** Verified: registered for the hint's application, byte by byte. */
  readonly redirectUri: string | undefined;
  readonly state: string | undefined;
}

/** What the confirmation page carries along. */
const CARRIED = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"] as const;

export function endSessionRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get(
    "/oauth/:org/end_session",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await processLogout(deps, visit, queryOf(visit.request));
      return visit.reply;
    }),
  );
  app.post(
    "/oauth/:org/end_session",
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      const form = formOf(visit.request);
      if (isWithoutCookie(deps, visit)) await repeatByGet(visit, "end_session", form);
      else await processLogout(deps, visit, form);
      return visit.reply;
    }),
  );
}

/** Another site's POST: whoever is signed in cannot be seen in it. */
function isWithoutCookie(deps: BrowserDeps, { organisation, request }: Visit): boolean {
  return deps.cookies.read(request, organisation.id) === undefined && !deps.csrf.isSameOrigin(request);
}

async function processLogout(deps: BrowserDeps, visit: Visit, form: Form): Promise<void> {
  requireSingle(form);
  const logout = await readLogout(deps, visit.organisation, form);
  const signedIn = await whoIsThere(deps, visit);
  const confirmed = visit.request.method === "POST" && isOwnToken(deps, visit, form.values.get("csrf"));
  if (signedIn && !confirmed && !isTheirs(logout, signedIn))
    return askFirst(deps, visit, form, logout, signedIn);
  if (signedIn) {
    await signOut(deps, signedIn, addressOf(visit.request));
    deps.cookies.clear(visit.reply, visit.organisation.id);
  }
  await endRunOut(deps, visit, logout);
  if (logout.redirectUri !== undefined) return goBack(visit, logout.redirectUri, logout.state);
  return showSignedOut(visit, form, logout);
}

/** The session of the hint may have run out long ago; the applications that it was used for have not heard of an end. */
async function endRunOut(deps: BrowserDeps, visit: Visit, { hint }: LogoutRequest): Promise<void> {
  if (hint?.sid === undefined) return;
  const actor = `client:${hint.application.id}`;
  const which = { sessionId: hint.sid, userId: hint.sub, actor, address: addressOf(visit.request) };
  await signOutRunOut(deps, visit.organisation, which);
}

/** The hint names this browser's session, or at least its user: the application speaks for who is here. */
function isTheirs({ hint }: LogoutRequest, { session, user }: SignedIn): boolean {
  return hint !== undefined && (hint.sid === session.id || hint.sub === user.id);
}

async function readLogout(deps: BrowserDeps, organisation: Organisation, form: Form): Promise<LogoutRequest> {
  const hint = await readHint(deps, organisation, form.values.get("id_token_hint"));
  const clientId = form.values.get("client_id");
  const named =
    clientId !== undefined && isUuid(clientId)
      ? await deps.applications.find(organisation.id, clientId)
      : undefined;
  // A client_id that contradicts the hint makes the request nobody's.
  const agrees = clientId === undefined || named?.id === hint?.application.id;
  const trusted = agrees ? hint : undefined;
  const asked = form.values.get("post_logout_redirect_uri");
  const registered = trusted?.application.settings.postLogoutRedirectUris ?? [];
  return {
    hint: trusted,
    application: trusted?.application ?? named,
    redirectUri: asked !== undefined && registered.includes(asked) ? asked : undefined,
    state: form.values.get("state"),
  };
}

/** An ID token of ours, expired or not: signature, issuer, and an application that is still there. */
async function readHint(
  deps: BrowserDeps,
  organisation: Organisation,
  hint: string | undefined,
): Promise<LogoutRequest["hint"]> {
  if (hint === undefined) return undefined;
  const { aud, sub, sid } = (await readIdTokenHint(deps, organisation, hint)) ?? {};
  if (typeof aud !== "string" || typeof sub !== "string") return undefined;
  const application = await deps.applications.find(organisation.id, aud);
  return application && { sub, sid: typeof sid === "string" ? sid : undefined, application };
}

async function askFirst(
  deps: BrowserDeps,
  visit: Visit,
  form: Form,
  { application, redirectUri }: LogoutRequest,
  { user }: SignedIn,
): Promise<void> {
  const frame = pageFrame(visit, form.values.get("ui_locales"), user);
  const fields = CARRIED.flatMap((name) => {
    const value = form.values.get(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const page = endSessionPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    ...(application ? { application: pageApplication(application) } : {}),
    user: { email: user.email },
    action: orgPath(visit.organisation, "end_session"),
    csrf: csrfToken(deps, visit),
    fields,
    ...(application?.settings.homepageUri === undefined ? {} : { stayUri: application.settings.homepageUri }),
  });
  return show(visit, frame, page, { leadsAway: redirectUri !== undefined });
}

async function goBack(
  { reply, request }: Visit,
  redirectUri: string,
  state: string | undefined,
): Promise<void> {
  const address = state === undefined ? redirectUri : buildRedirect(redirectUri, "query", [["state", state]]);
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  await reply.redirect(address, request.method === "GET" ? 302 : 303);
}

async function showSignedOut(visit: Visit, form: Form, { application }: LogoutRequest): Promise<void> {
  const frame = pageFrame(visit, form.values.get("ui_locales"));
  const page = signedOutPage({
    ...frame,
    organisation: pageOrganisation(visit.organisation),
    ...(application ? { application: pageApplication(application) } : {}),
  });
  return show(visit, frame, page);
}
