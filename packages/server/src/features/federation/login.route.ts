/**
 * GET federation/Login (specification, "Legacy federation"; wire-contract.md §4): signs in at the application's organisation
 * and returns to the application with a session key, immediately if the browser has a session. A POST is repeated by GET, so
 * that the browser sends its Lax cookies.
 */

import { type Form, requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { matchReturnUrl, withoutParameter, withParameter } from "@signet/protocol/return-url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import { noteCaller } from "../../core/audit/audited-request.ts";
import type { CoreDeps } from "../../core/core-deps.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { RefusedRequests } from "../../core/refused-requests/refused-requests.ts";
import { issueSessionKey } from "../../core/session-keys/session-keys.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { recordSessionUse } from "../../core/sessions/sessions.store.ts";
import { parsedForm, parseQuery } from "../../http/form-body.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import type { Visit } from "../../page-kit/page.ts";

/** Implemented by the sign-in (oauth/authorize). */
export interface FederationSignIn {
  /**
   * The authenticated user; undefined when a sign-in step has been shown instead.
   * @throws OAuthError when no step can be shown, or `prompt=none` forbids it
   */
  ensureSignedIn(
    visit: Visit,
    page: { readonly place: "application"; readonly path: string; readonly applicationId: string },
    wish: { prompt: Prompt | undefined; requiredAcr: string | undefined; uiLocales: string | undefined },
  ): Promise<SignedIn | undefined>;
}

export interface FederationDeps extends CoreDeps {
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly browserSession: FederationSignIn;
  readonly refusedRequests: Pick<RefusedRequests, "note">;
}

const prompts = ["login", "select_account", "none"] as const;
type Prompt = (typeof prompts)[number];

const parameters = ["appId", "returnUrl", "prompt", "ui_locales", "error"] as const;

export function federationLoginRoutes(app: FastifyInstance, deps: FederationDeps): void {
  app.get("/federation/Login", async (request, reply) => {
    await login(deps, request, reply, parseQuery(request));
    return reply;
  });
  app.post("/federation/Login", async (request, reply) => {
    const form = parsedForm(request);
    requireSingle(form);
    // Validated first, which also bounds the length of the query.
    const path = loginPath(await readLogin(deps, form), { withPrompt: true });
    return reply.header("cache-control", "no-store").redirect(path, 303);
  });
}

interface LoginRequest {
  readonly organisation: Organisation;
  readonly application: Application;
  /** Registered for the application. */
  readonly returnUrl: string;
  readonly prompt: Prompt | undefined;
  readonly uiLocales: string | undefined;
  /** The user has declined what the sign-in asked: a page of the sign-in sends the browser here with it. */
  readonly isDeclined: boolean;
}

/** @throws OAuthError shown on a page: there is no verified return URL */
async function readLogin(deps: FederationDeps, form: Form): Promise<LoginRequest> {
  requireSingle(form, parameters);
  const appId = form.values.get("appId");
  if (appId === undefined) throw pageError("app-id-missing", "The appId parameter is missing.");
  const application = isUuid(appId) ? await deps.applications.findByClientId(appId) : undefined;
  const organisation = application && (await deps.organisations.find(application.orgId));
  if (!application || !organisation) throw pageError("app-unknown", "The appId is unknown.");
  noteCaller(organisation.id, application.id);
  const returnUrl = form.values.get("returnUrl");
  if (returnUrl === undefined) throw pageError("return-url-missing", "The returnUrl parameter is missing.");
  if (!matchReturnUrl(returnUrl, application.settings.returnUrls)) {
    const error = pageError(
      "return-url-unregistered",
      "The returnUrl is not registered for this application.",
    );
    deps.refusedRequests.note(application, "federation/Login", error);
    throw error;
  }
  const requestedPrompt = form.values.get("prompt");
  const prompt = prompts.find((known) => known === requestedPrompt);
  if (requestedPrompt !== undefined && prompt === undefined)
    throw new OAuthError("invalid_request", "prompt has an unknown value");
  const uiLocales = form.values.get("ui_locales")?.slice(0, 200);
  const isDeclined = form.values.get("error") === DECLINED;
  return { organisation, application, returnUrl, prompt, uiLocales, isDeclined };
}

const DECLINED = "access_denied";

const pageError = (reason: string, description: string) =>
  new OAuthError("invalid_request", description, { reason });

function loginPath(
  { application, returnUrl, prompt, uiLocales }: LoginRequest,
  { withPrompt }: { withPrompt: boolean },
): string {
  const query = new URLSearchParams({ appId: application.id, returnUrl });
  if (withPrompt && prompt !== undefined) query.set("prompt", prompt);
  if (uiLocales !== undefined) query.set("ui_locales", uiLocales);
  return `/federation/Login?${query}`;
}

async function login(
  deps: FederationDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Form,
): Promise<void> {
  const loginRequest = await readLogin(deps, query);
  const { organisation, application, returnUrl, prompt, uiLocales } = loginRequest;
  if (loginRequest.isDeclined) return redirectBack(reply, errorAddress(returnUrl, DECLINED));
  const { requiredAcr } = application.settings;
  // Without the prompt: it is satisfied when the browser returns here.
  const page = {
    place: "application",
    path: loginPath(loginRequest, { withPrompt: false }),
    applicationId: application.id,
  } as const;
  try {
    const signedIn = await deps.browserSession.ensureSignedIn({ organisation, request, reply }, page, {
      prompt,
      requiredAcr,
      uiLocales,
    });
    if (signedIn) await returnWithKey(deps, request, reply, loginRequest, signedIn);
  } catch (error) {
    // With prompt=none the application receives the error.
    if (!(error instanceof OAuthError) || prompt !== "none") throw error;
    await redirectBack(reply, errorAddress(returnUrl, error.code));
  }
}

const errorAddress = (returnUrl: string, code: string): string =>
  withParameter(withoutParameter(returnUrl, "service_key"), "error", code);

async function returnWithKey(
  { database, clock }: FederationDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { organisation: { id: orgId }, application: { id: applicationId }, returnUrl }: LoginRequest,
  { session, user }: SignedIn,
): Promise<void> {
  const now = clock();
  const { secret } = await database.transaction(async (tx) => {
    const { id: sessionId, authTime, amr, acr } = session;
    await recordSessionUse(tx, { orgId, sessionId, applicationId, now });
    const proven = { sessionId, authTime, amr, acr, address: addressOf(request) };
    return issueSessionKey(tx, { orgId, applicationId, userId: user.id, ...proven, now });
  });
  await redirectBack(reply, withParameter(returnUrl, "service_key", secret));
}

/** The URL may hold a session key: it is not cached, and no referrer is sent. */
async function redirectBack(reply: FastifyReply, address: string): Promise<void> {
  await reply
    .headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" })
    .redirect(address, 302);
}
