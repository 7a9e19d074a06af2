/**
 * GET federation/Login (specification, "Legacy federation"; wire-contract.md §4): signs the browser in at the
 * application's organisation and goes back to the application with a session key. Signed in already, by OAuth or by an
 * earlier federation, it goes back at once. A POST is turned into the same request by GET, so that the browser sends its
 * Lax cookies along.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { matchReturnUrl, withoutParameter, withParameter } from "@signet/protocol/return-url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Application } from "../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../core/applications/applications.ts";
import type { Clock } from "../../core/clock.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { issueSessionKey } from "../../core/session-keys/session-keys.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import { noteSessionUse } from "../../core/sessions/sessions.store.ts";
import type { Database } from "../../db/open.ts";
import { formOf, queryOf } from "../../http/form-body.ts";
import { addressOf } from "../../http/listeners/client-address.ts";

const PATH = "/federation/Login";

export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What the sign-in gives to the federation. */
export interface FederationDoor {
  /**
   * Who is signed in, proven enough; undefined when what that lacks has been shown.
   * @throws OAuthError where there is nothing to show, or nothing may be shown
   */
  signedInFor(
    visit: Visit,
    page: { readonly place: "application"; readonly path: string; readonly applicationId: string },
    wish: { readonly prompt?: Prompt; readonly requiredAcr?: string; readonly uiLocales?: string },
  ): Promise<SignedIn | undefined>;
}

export interface FederationDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly door: FederationDoor;
}

const prompts = ["login", "select_account", "none"] as const;
type Prompt = (typeof prompts)[number];

/** What is read of a request; all else in it is ignored. */
const parameters = ["appId", "returnUrl", "prompt", "ui_locales"] as const;

export function federationLoginRoutes(app: FastifyInstance, deps: FederationDeps): void {
  app.get(PATH, async (request, reply) => {
    await login(deps, request, reply, queryOf(request));
    return reply;
  });
  app.post(PATH, async (request, reply) => {
    const form = formOf(request);
    requireSingle(form);
    // Checked before it goes into an address of ours, which bounds it too.
    const again = pathOf(await readLogin(deps, form), { withPrompt: true });
    return reply.header("cache-control", "no-store").redirect(again, 303);
  });
}

interface LoginRequest {
  readonly organisation: Organisation;
  readonly application: Application;
  /** One of the application's own. */
  readonly returnUrl: string;
  readonly prompt: Prompt | undefined;
  readonly uiLocales: string | undefined;
}

/** @throws OAuthError for a page: there is no address that may be trusted with it */
async function readLogin(deps: FederationDeps, form: Form): Promise<LoginRequest> {
  requireSingle(form, parameters);
  const appId = form.values.get("appId");
  if (appId === undefined)
    throw untold("app-id-missing", "The link names no application (appId is missing).");
  const application = isUuid(appId) ? await deps.applications.ofPublicId(appId) : undefined;
  const organisation = application && (await deps.organisations.find(application.orgId));
  if (!application || !organisation)
    throw untold("app-unknown", "The application (appId) is not known here.");
  const returnUrl = form.values.get("returnUrl");
  if (returnUrl === undefined)
    throw untold("return-url-missing", "The link does not say where to go back to (returnUrl is missing).");
  if (!matchReturnUrl(returnUrl, application.settings.returnUrls))
    throw untold(
      "return-url-unregistered",
      "The address to go back to (returnUrl) is not registered for this application.",
    );
  const asked = form.values.get("prompt");
  const prompt = prompts.find((one) => one === asked);
  if (asked !== undefined && prompt === undefined) throw invalid("prompt has an unknown value");
  const uiLocales = form.values.get("ui_locales")?.slice(0, 200);
  return { organisation, application, returnUrl, prompt, uiLocales };
}

const untold = (reason: string, description: string) =>
  new OAuthError("invalid_request", description, { reason });

const invalid = (description: string) => new OAuthError("invalid_request", description);

function pathOf(
  { application, returnUrl, prompt, uiLocales }: LoginRequest,
  { withPrompt }: { withPrompt: boolean },
): string {
  const query = new URLSearchParams({ appId: application.id, returnUrl });
  if (withPrompt && prompt !== undefined) query.set("prompt", prompt);
  if (uiLocales !== undefined) query.set("ui_locales", uiLocales);
  return `${PATH}?${query}`;
}

async function login(
  deps: FederationDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  query: Form,
): Promise<void> {
  const asked = await readLogin(deps, query);
  const { organisation, application, returnUrl, prompt, uiLocales } = asked;
  const { requiredAcr } = application.settings;
  // What was asked is done when the browser comes back here: a sign-in is not asked for twice.
  const page = {
    place: "application",
    path: pathOf(asked, { withPrompt: false }),
    applicationId: application.id,
  } as const;
  const wish = {
    ...(prompt === undefined ? {} : { prompt }),
    ...(requiredAcr === undefined ? {} : { requiredAcr }),
    ...(uiLocales === undefined ? {} : { uiLocales }),
  };
  try {
    const signedIn = await deps.door.signedInFor({ organisation, request, reply }, page, wish);
    if (signedIn) await goBackWithKey(deps, request, reply, asked, signedIn);
  } catch (error) {
    // Nothing may be shown: the application hears why it gets no key.
    if (!(error instanceof OAuthError) || prompt !== "none") throw error;
    await goBack(reply, withParameter(withoutParameter(returnUrl, "service_key"), "error", error.code));
  }
}

async function goBackWithKey(
  { database, clock }: FederationDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { organisation: { id: orgId }, application: { id: applicationId }, returnUrl }: LoginRequest,
  { session, user }: SignedIn,
): Promise<void> {
  const now = clock();
  const { secret } = await database.transaction(async (tx) => {
    const { id: sessionId, authTime, amr, acr } = session;
    await noteSessionUse(tx, { orgId, sessionId, applicationId, now });
    const proven = { sessionId, authTime, amr, acr, address: addressOf(request) };
    return issueSessionKey(tx, { orgId, applicationId, userId: user.id, ...proven, now });
  });
  await goBack(reply, withParameter(returnUrl, "service_key", secret));
}

/** The address may hold a key: no cache keeps it, and no page's address is told to where it leads. */
async function goBack(reply: FastifyReply, address: string): Promise<void> {
  await reply
    .headers({ "cache-control": "no-store", "referrer-policy": "no-referrer" })
    .redirect(address, 302);
}
