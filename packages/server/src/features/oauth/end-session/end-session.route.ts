/**
 * GET and POST end_session (OpenID Connect RP-Initiated Logout 1.0). With a valid ID token hint it signs out and redirects
 * to a registered URI; without one the user confirms, and there is no redirect.
 */

import { type Form, requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { buildRedirect } from "@signet/protocol/oauth/authorization-response";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { findConnection } from "../../../core/connections/connections.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { RefusalReason } from "../../../core/refused-requests/refused-request.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { signOut, signOutHintedSession } from "../../../core/sessions/sessions.ts";
import { readIdTokenHint } from "../../../core/tokens/id-token-hint.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import {
  type BrowserDeps,
  browserRoute,
  currentSession,
  formBinding,
  isValidCsrfToken,
  orgPath,
  pageApplication,
  pageFrame,
  redirectToGet,
  show,
  type Visit,
} from "../authorize/browser.ts";
import type { ConnectionDeps } from "../connections/connection-visit.ts";
import { readReturn, upstreamLogoutAddress } from "../connections/upstream-logout.ts";
import { endSessionPage, signedOutPage, upstreamSignOutPage } from "./end-session.page.ts";

interface LogoutRequest {
  /** Undefined without a valid ID token. */
  readonly hint:
    | { readonly sub: string; readonly sid: string | undefined; readonly application: Application }
    | undefined;
  /** A hint came that is no ID token of ours for this application. */
  readonly isHintInvalid: boolean;
  readonly application: Application | undefined;
  /** Registered for the hint's application. */
  readonly redirectUri: string | undefined;
  /** The application is known, and the requested URI is not among its own. */
  readonly isUnregistered: boolean;
  readonly state: string | undefined;
}

/** The parameters that the confirmation form repeats. */
const PARAMETERS = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "ui_locales"] as const;

export function endSessionRoutes(app: FastifyInstance, deps: ConnectionDeps): void {
  app.get("/oauth/:org/end_session", browserRoute(deps, endSession));
  app.post("/oauth/:org/end_session", browserRoute(deps, endSessionOrRepeat));
  app.get("/oauth/:org/connections/:id/logged-out", browserRoute(deps, comeBack));
}

const endSession = (deps: ConnectionDeps, visit: Visit): Promise<void> =>
  processLogout(deps, visit, parseQuery(visit.request));

async function endSessionOrRepeat(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const { organisation, request } = visit;
  const form = parsedForm(request);
  // A POST from another site comes without the session cookie.
  const isCrossSite =
    deps.cookies.read(request, organisation.id) === undefined && !deps.csrf.isSameOrigin(request);
  return isCrossSite ? redirectToGet(visit, "end_session", form) : processLogout(deps, visit, form);
}

async function processLogout(deps: ConnectionDeps, visit: Visit, form: Form): Promise<void> {
  requireSingle(form);
  const logout = await readLogout(deps, visit.organisation, form);
  const signedIn = await currentSession(deps, visit);
  const confirmed = visit.request.method === "POST" && isValidCsrfToken(deps, visit, form.values.get("csrf"));
  if (!confirmed) noteFaults(deps, logout, form.values.get("post_logout_redirect_uri"));
  if (signedIn && !confirmed && !isHintedUser(logout, signedIn))
    return showConfirmation(deps, visit, form, logout, signedIn);
  const after = { redirectUri: logout.redirectUri, state: logout.state };
  const upstream = signedIn && (await upstreamLogoutAddress(deps, visit, signedIn, after));
  if (signedIn) {
    await signOut(deps, signedIn, addressOf(visit.request));
    deps.cookies.clear(visit.reply, visit.organisation.id);
    deps.proofCookies.clear(visit.reply, visit.organisation.id);
  }
  await endHintedSession(deps, visit, logout);
  if (upstream) return leaveForUpstream(visit, form, upstream);
  if (logout.redirectUri !== undefined) return redirectBack(visit, logout.redirectUri, logout.state);
  return showSignedOut(visit, form, logout);
}

/** From the provider: to where the sign-out leads, as it was checked when it began. */
async function comeBack(deps: ConnectionDeps, visit: Visit): Promise<void> {
  const { id = "" } = visit.request.params as { id?: string };
  const connection = { orgId: visit.organisation.id, id: id.toLowerCase() };
  if (!isUuid(id) || !(await findConnection(deps.database.query, connection)))
    throw new NotFound("connection");
  const state = parseQuery(visit.request).values.get("state");
  const after = readReturn(deps, connection, state);
  if (after?.redirectUri !== undefined) return redirectBack(visit, after.redirectUri, after.state);
  const frame = pageFrame(visit, undefined);
  return show(visit, frame, signedOutPage(frame));
}

/** A page after a form: browsers hold where its redirects lead against what the page of the form allowed. */
async function leaveForUpstream(
  visit: Visit,
  form: Form,
  { address, name }: { readonly address: string; readonly name: string },
): Promise<void> {
  const { reply, request } = visit;
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  if (request.method === "GET") return void (await reply.redirect(address, 302));
  reply.header("refresh", `0;url=${address}`);
  const frame = pageFrame(visit, form.values.get("ui_locales"));
  return show(visit, frame, upstreamSignOutPage({ ...frame, connection: { name }, address }));
}

function noteFaults(
  { refusedRequests }: BrowserDeps,
  { application, isHintInvalid }: LogoutRequest,
  requestedUri: string | undefined,
): void {
  if (!application) return;
  const note = (reason: RefusalReason, description: string) =>
    refusedRequests.note(
      application,
      "end_session",
      new OAuthError("invalid_request", description, { reason }),
    );
  if (isHintInvalid) note("hint-invalid", "id_token_hint is no ID token of this application");
  if (requestedUri !== undefined && !application.settings.postLogoutRedirectUris.includes(requestedUri))
    note("post-logout-redirect-uri-unregistered", "post_logout_redirect_uri is not registered");
}

/** Of another browser, or expired with its tokens and the applications' own sessions still alive: no answer claims more. */
async function endHintedSession(deps: BrowserDeps, visit: Visit, { hint }: LogoutRequest): Promise<void> {
  if (hint?.sid === undefined) return;
  const actor = `client:${hint.application.id}`;
  const session = { sessionId: hint.sid, userId: hint.sub, actor, address: addressOf(visit.request) };
  await signOutHintedSession(deps, visit.organisation, session);
}

function isHintedUser({ hint }: LogoutRequest, { session, user }: SignedIn): boolean {
  return hint !== undefined && (hint.sid === session.id || hint.sub === user.id);
}

async function readLogout(deps: BrowserDeps, organisation: Organisation, form: Form): Promise<LogoutRequest> {
  const hint = await readHint(deps, organisation, form.values.get("id_token_hint"));
  const clientId = form.values.get("client_id");
  const client =
    clientId !== undefined && isUuid(clientId)
      ? await deps.applications.find(organisation.id, clientId)
      : undefined;
  // A client_id that contradicts the hint invalidates it.
  const matches = clientId === undefined || client?.id === hint?.application.id;
  const trusted = matches ? hint : undefined;
  const requestedUri = form.values.get("post_logout_redirect_uri");
  const application = trusted?.application ?? client;
  const registered = application?.settings.postLogoutRedirectUris ?? [];
  const isRegistered = requestedUri !== undefined && registered.includes(requestedUri);
  return {
    hint: trusted,
    isHintInvalid: trusted === undefined && (form.values.get("id_token_hint") ?? "") !== "",
    application,
    redirectUri: trusted && isRegistered ? requestedUri : undefined,
    isUnregistered: application !== undefined && requestedUri !== undefined && !isRegistered,
    state: form.values.get("state"),
  };
}

/** A valid ID token of this server, expired or not, whose application exists. */
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

async function showConfirmation(
  deps: BrowserDeps,
  visit: Visit,
  form: Form,
  { application, redirectUri, isUnregistered, isHintInvalid }: LogoutRequest,
  { user }: SignedIn,
): Promise<void> {
  const frame = pageFrame(visit, form.values.get("ui_locales"), user);
  const fields = PARAMETERS.flatMap((name) => {
    const value = form.values.get(name);
    return value === undefined ? [] : [{ name, value }];
  });
  const page = endSessionPage({
    ...frame,
    application: application && pageApplication(application),
    isUnregistered,
    isHintInvalid,
    user: { email: user.email },
    action: orgPath(visit.organisation, "end_session"),
    csrf: formBinding(deps, visit).csrf,
    fields,
    stayUri: application?.settings.homepageUri,
  });
  return show(visit, frame, page, { redirectsElsewhere: redirectUri !== undefined });
}

async function redirectBack(
  { reply, request }: Visit,
  redirectUri: string,
  state: string | undefined,
): Promise<void> {
  const address = state === undefined ? redirectUri : buildRedirect(redirectUri, "query", [["state", state]]);
  reply.headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" });
  await reply.redirect(address, request.method === "GET" ? 302 : 303);
}

async function showSignedOut(
  visit: Visit,
  form: Form,
  { application, isUnregistered, isHintInvalid }: LogoutRequest,
): Promise<void> {
  const frame = pageFrame(visit, form.values.get("ui_locales"));
  const page = signedOutPage({
    ...frame,
    application: application && pageApplication(application),
    isUnregistered,
    isHintInvalid,
  });
  return show(visit, frame, page);
}
