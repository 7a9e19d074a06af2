/**
 * A page of administrators or account holders: who may open it, how its route is registered, how it is answered.
 * Reading asks for a session of the organisation in the address; what recent-sign-in.ts says asks for one that was
 * authenticated within the last ten minutes, with a second factor if the user has one.
 */

import { isUuid } from "@signet/protocol/hash";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance } from "fastify";
import type { CoreDeps } from "../core/core-deps.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { portalActor } from "../core/portal-links/portal-link.ts";
import type { RefusedRequests } from "../core/refused-requests/refused-requests.ts";
import {
  type AuthenticationRequirement,
  missingAuthenticationRequirement,
} from "../core/second-factors/factor-status.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { StartedSession } from "../core/sessions/sessions.ts";
import type { ChangeFeed } from "../db/change-feed.ts";
import { type Html, render } from "../html/html.ts";
import type { PageFrame } from "../html/layout.ts";
import { PAGE_CHALLENGE } from "../http/challenge.ts";
import { type ErrorHandler, sendProblem } from "../http/error-handlers.ts";
import { NotFound } from "../http/errors.ts";
import { sanitizeQuery } from "../http/form-body.ts";
import { addressOf } from "../http/listeners/client-address.ts";
import { type InOrganisation, inOrganisation, type OrganisationRoute } from "../http/organisation-lookup.ts";
import { sendPage } from "../http/page.ts";
import { readsNoPage } from "../http/program.ts";
import { demandsRecentSignIn } from "./recent-sign-in.ts";

/** One browser request at one organisation. */
export type Visit = InOrganisation<Organisation>;

/** The browser's session, CSRF checks, and a sign-in that returns to the page: implemented by the authorize feature. */
export interface BrowserSessionPort {
  currentSession(visit: Visit): Promise<SignedIn | undefined>;
  /** Whoever has opened a portal link, on a page that it opens: see portal-visit.ts. @throws SeeOther on one that leads elsewhere */
  portalVisit(visit: Visit): Promise<SignedIn | undefined>;
  /** The cookie of such a visit. */
  readonly portalCookie: {
    write(visit: Visit, token: string, maxAgeSeconds: number): void;
    clear(visit: Visit): void;
  };
  /** The same for a page that polls: the session's idle timeout still runs. */
  peekSession(visit: Visit): Promise<SignedIn | undefined>;
  /** Whether the organisation requires a second factor that the session has not verified in this browser. */
  lacksRequiredFactor(visit: Visit, signedIn: SignedIn): Promise<boolean>;
  /** The browser's token and the CSRF token bound to it. */
  formBinding(visit: Visit): { browser: string; csrf: string };
  hasValidCsrfToken(visit: Visit, presented: string | undefined): boolean;
  /** Whether the request's headers say it comes from a page of this server, or say nothing. */
  isSameOrigin(visit: Visit): boolean;
  /** CSRF token of a form that waits while the browser signs in again, bound to `subject` instead of the session. */
  reauthenticationToken(visit: Visit, subject: string): string;
  isReauthenticationToken(visit: Visit, subject: string, presented: string | undefined): boolean;
  /** Starts the sign-in, which ends at the page. @param missing what the page requires besides a session */
  signIn(
    visit: Visit,
    page: { place: "account" | "console" | "devices"; path: string },
    missing?: AuthenticationRequirement,
  ): Promise<void>;
  writeSession(visit: Visit, started: StartedSession): void;
  /** What the last edit can be taken back to, for this session alone: see undo.ts. */
  readonly undo: {
    read(visit: Visit, sessionId: string): string | undefined;
    /** Nothing is kept of a text that is too large for a cookie. */
    write(visit: Visit, sessionId: string, text: string, maxAgeSeconds: number): void;
    clear(visit: Visit): void;
  };
  trustedBrowserToken(visit: Visit): string | undefined;
}

export interface ConsoleDeps extends CoreDeps {
  readonly refusedRequests: Pick<RefusedRequests, "flush">;
  readonly baseUrl: string;
  /** Of the service, and of the programs that it offers (program-address.ts). */
  readonly version: string;
  readonly changes: ChangeFeed;
  readonly organisations: OrganisationDirectory;
  readonly browserSession: BrowserSessionPort;
  readonly showError: ErrorHandler;
  /** A fault that a page tells of by itself. */
  logFault(error: unknown, requestId: string): void;
}

/** Every page of the console but the devices' is below this address. */
export const CONSOLE = "/oauth/manage/:org";

/** @param rest begins with a slash; empty for the overview */
export const consolePath = ({ id }: Pick<Organisation, "id">, rest = ""): string =>
  `/oauth/manage/${id}${rest}`;

/** A query string without its empty members; nothing at all when none is left. */
export function queryString(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return present.length === 0 ? "" : `?${new URLSearchParams(present as [string, string][])}`;
}

/** The path parameters besides the organisation; UUIDs in lower case. */
export function pathParams({ request }: Pick<Visit, "request">): Readonly<Record<string, string>> {
  const { org: _, ...params } = request.params as Record<string, string>;
  const canonical = ([name, value]: [string, string]) => [name, isUuid(value) ? value.toLowerCase() : value];
  return Object.fromEntries(Object.entries(params).map(canonical));
}

/** A record's id in the path. @throws NotFound for what is no UUID */
export function requireId({ request }: Pick<Visit, "request">, name = "id"): string {
  const id = (request.params as Record<string, string>)[name] ?? "";
  if (!isUuid(id)) throw new NotFound("record");
  return id.toLowerCase();
}

/** The request's own path, rebuilt from its route: nothing else of the request is in it. */
export function requestPath({ organisation, request }: Pick<Visit, "organisation" | "request">): string {
  const params: Readonly<Record<string, string>> = { ...pathParams({ request }), org: organisation.id };
  const { url = "" } = request.routeOptions;
  return url.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** Thrown for a page that needs a sign-in, or a stronger or more recent one; its route shows that sign-in. */
export class SignInRequired extends Error {
  readonly returnTo: string;
  readonly missing: AuthenticationRequirement | undefined;
  /** @param returnTo where the browser goes after signing in */
  constructor(returnTo: string, missing?: AuthenticationRequirement) {
    super("the page needs a sign-in");
    this.name = "SignInRequired";
    this.returnTo = returnTo;
    this.missing = missing;
  }
}

/** Thrown for a page that has nothing to offer this user: its route redirects to another one. */
export class SeeOther extends Error {
  readonly path: string;
  constructor(path: string) {
    super("another page answers");
    this.name = "SeeOther";
    this.path = path;
  }
}

/** What the sign-in page says it leads to. */
const signInPlace = (path: string) =>
  path.startsWith("/devices/") ? "devices" : path.startsWith("/oauth/manage/") ? "console" : "account";

/** A route handler for browsers: the page, or the sign-in that it asks for. */
export function pageHandler<Deps extends Pick<ConsoleDeps, "organisations" | "browserSession">>(
  deps: Deps,
  handle: (deps: Deps, visit: Visit) => Promise<void>,
): OrganisationRoute {
  return inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
    try {
      await handle(deps, visit);
    } catch (error) {
      if (error instanceof SeeOther) await redirectTo(visit, error.path);
      else if (error instanceof SignInRequired)
        await (readsNoPage(visit.request) ? refuseProgram : signIn)(deps, visit, error);
      else throw error;
    }
    return visit.reply;
  });
}

const signIn = (
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  { returnTo, missing }: SignInRequired,
) => browserSession.signIn(visit, { place: signInPlace(returnTo), path: returnTo }, missing);

const notAuthenticated = {
  status: 401,
  code: "not-authenticated",
  title: "The request is not authenticated",
} as const;

/** It would take the sign-in page, with its status 200, for the answer. */
const refuseProgram = (_: unknown, { request, reply }: Visit): Promise<void> =>
  sendProblem(reply.headers(PAGE_CHALLENGE), notAuthenticated, request.id);

/**
 * Any administrator of the organisation who is signed in, however long ago; or the visitor of a portal link that opens the page.
 * @throws SignInRequired, OAuthError 403 for every other user
 */
export async function requireAdministrator(
  deps: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  returnTo = requestPath(visit),
): Promise<SignedIn> {
  const signedIn = await deps.browserSession.currentSession(visit);
  if (signedIn?.user.role !== "Administrator") {
    const portal = await deps.browserSession.portalVisit(visit);
    if (portal) return portal;
  }
  if (!signedIn) throw new SignInRequired(returnTo);
  if (signedIn.user.role !== "Administrator")
    throw new OAuthError("access_denied", "Only administrators of the organisation can open this page.", {
      status: 403,
      reason: "administrators-only",
    });
  if (await failsLoginPolicy(deps, visit, signedIn)) throw new SignInRequired(returnTo);
  return signedIn;
}

/** An administrator whose sign-in is recent and strong enough for what the page's form changes. @throws as `requireAdministrator` */
export async function requireRecentAuthentication(
  deps: Pick<ConsoleDeps, "browserSession" | "database" | "clock">,
  visit: Visit,
  returnTo = requestPath(visit),
): Promise<SignedIn> {
  const signedIn = await requireAdministrator(deps, visit, returnTo);
  // A portal link is opened for an hour, and can't be opened again.
  if (signedIn.portal || !demandsRecentSignIn(visit.request)) return signedIn;
  const missing = await missingAuthenticationRequirement(deps.database.query, signedIn, deps.clock());
  if (missing !== undefined) throw new SignInRequired(returnTo, missing);
  return signedIn;
}

/**
 * What the organisation requires of every sign-in, also of sessions that began before it did: a verified email address
 * and a second factor. The console is no way around either.
 */
export const failsLoginPolicy = async (
  { browserSession }: Pick<ConsoleDeps, "browserSession">,
  visit: Visit,
  signedIn: SignedIn,
): Promise<boolean> =>
  (visit.organisation.settings.requireVerifiedEmail && !signedIn.user.emailVerified) ||
  (await browserSession.lacksRequiredFactor(visit, signedIn));

/** Who acts, and from where, as the audit log records it. */
export const auditContext = ({ organisation, request }: Visit, { user, portal }: SignedIn) => ({
  orgId: organisation.id,
  actor: portal ? portalActor(portal) : `user:${user.id}`,
  address: addressOf(request),
});

export async function show(
  { reply }: Visit,
  { nonce, hasFrame = false }: Pick<PageFrame, "nonce"> & { readonly hasFrame?: boolean },
  page: Html,
  status = 200,
): Promise<void> {
  await sendPage(reply, render(page), { nonce, status, hasFrame, hasFont: true });
}

export async function redirectTo({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}

/**
 * A form of the largest record that an API call of 64 KiB can make: percent-encoding triples a byte, pretty-printed JSON
 * has more lines, and a list of a hundred is a hundred boxes.
 */
const MAX_FORM_BYTES = 512 * 1024;
const MAX_FORM_FIELDS = 300;

type PageHandler<Deps> = (deps: Deps, visit: Visit) => Promise<void>;

/** One address of the console: its page for GET, and what the page's form does for POST. */
export function consoleRoute<
  Deps extends Pick<ConsoleDeps, "organisations" | "browserSession" | "showError">,
>(
  app: FastifyInstance,
  deps: Deps,
  url: `${typeof CONSOLE}${string}`,
  {
    get,
    post,
    maxBytes = MAX_FORM_BYTES,
  }: { get?: PageHandler<Deps>; post?: PageHandler<Deps>; maxBytes?: number },
): void {
  const config = { sanitizesForms: true, maxFields: MAX_FORM_FIELDS };
  const options = { errorHandler: deps.showError, bodyLimit: maxBytes, config };
  const handler = (handle: PageHandler<Deps>) =>
    pageHandler(deps, (_, visit) => {
      sanitizeQuery(visit.request);
      return handle(deps, visit);
    });
  if (get) app.get(url, options, handler(get));
  if (post) app.post(url, options, handler(post));
}
