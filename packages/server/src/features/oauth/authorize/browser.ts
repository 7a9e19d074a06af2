/** What every step of the browser flow shares: route wrapper, session, page frame, CSRF check and the sealed flow. */

import { type Form, parseForm } from "@signet/protocol/form";
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { Activity } from "../../../core/activity/activity.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { ClientKeys } from "../../../core/applications/client-keys.ts";
import type { DetailTypeDirectory } from "../../../core/authorization-details/detail-types.ts";
import type { ClientDocuments } from "../../../core/client-metadata/client-documents.ts";
import type { PresentedDeviceDeps } from "../../../core/devices/presented-device.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { LedgerRecorder } from "../../../core/ledger/recorder.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { PasswordHasher } from "../../../core/passwords/password-hasher.ts";
import type { ProtectedResourceDirectory } from "../../../core/protected-resources/protected-resources.ts";
import type { GuessDeps } from "../../../core/rate-limits/attempts.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { RefusedRequests } from "../../../core/refused-requests/refused-requests.ts";
import type { EntitlementDirectory } from "../../../core/roles/entitlements.ts";
import type { CustomScopeDirectory } from "../../../core/scopes/custom-scopes.ts";
import type { PasskeyChallenges } from "../../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../../core/second-factors/passkeys/passkeys.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import type { SessionBindings } from "../../../core/sessions/session-bindings.ts";
import { findCurrentSession } from "../../../core/sessions/sessions.ts";
import type { SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import type { User } from "../../../core/users/user.ts";
import type { ChangeFeed } from "../../../db/change-feed.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import type {
  PostponedPasskeyCookies,
  RecognitionCookies,
  SessionCookies,
  SessionProofCookies,
  TrustedBrowserCookies,
} from "../../../http/cookies/browser-cookies.ts";
import type { Csrf } from "../../../http/csrf.ts";
import type { PageForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { inOrganisation, type OrganisationRoute } from "../../../http/organisation-lookup.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import { pageOrganisation } from "../../../page-kit/console-frame.ts";
import type { BusyDeps } from "../../../page-kit/full-queue.ts";
import { chosenLanguage, languageLinks } from "../../../page-kit/language-choice.ts";
import type { Visit } from "../../../page-kit/page.ts";
import { type Flow, type Flows, formParameters } from "./flow.ts";

export type { Visit } from "../../../page-kit/page.ts";

export interface BrowserDeps extends GuessDeps, BusyDeps {
  readonly clientKeys: ClientKeys;
  readonly deviceCa: PresentedDeviceDeps["deviceCa"];
  readonly baseUrl: string;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly protectedResources: ProtectedResourceDirectory;
  readonly detailTypes: Pick<DetailTypeDirectory, "list">;
  readonly clientDocuments: ClientDocuments;
  readonly entitlements: EntitlementDirectory;
  readonly keys: SigningKeys;
  readonly ledger: LedgerRecorder;
  readonly cookies: SessionCookies;
  readonly proofCookies: SessionProofCookies;
  readonly sessionBindings: SessionBindings;
  readonly csrf: Csrf;
  readonly flows: Flows;
  /** Encrypts what the database stores: TOTP secrets. */
  readonly encryption: Encryption;
  readonly rateLimits: RateLimits;
  readonly outbox: Outbox;
  readonly changes: ChangeFeed;
  /** Tells a known browser from a new one. */
  readonly recognition: RecognitionCookies;
  readonly activity: Pick<Activity, "count">;
  readonly refusedRequests: Pick<RefusedRequests, "note">;
  readonly secondFactors: SecondFactorDeps;
  readonly postponedPasskeys: PostponedPasskeyCookies;
  readonly poolSigning: PoolSigning;
  readonly signingPools: SigningPoolDirectory;
}

export interface PasswordDeps extends BrowserDeps {
  readonly passwords: PasswordHasher;
}

export interface SecondFactorDeps {
  /** Seals the state that browsers carry between two pages. */
  readonly seals: Encryption;
  readonly challenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
  readonly trustedBrowsers: TrustedBrowserCookies;
}

/** A route below `/oauth/{org}`: the handler sends the response. */
export function browserRoute<Deps extends BrowserDeps>(
  deps: Deps,
  handler: (deps: Deps, visit: Visit) => Promise<void>,
): OrganisationRoute {
  return inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
    await handler(deps, visit);
    return visit.reply;
  });
}

export function currentSession(
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  options: { readonly isBackground?: boolean } = {},
): Promise<SignedIn | undefined> {
  const { id } = organisation;
  const proof = deps.proofCookies.read(request, id);
  return findCurrentSession(deps, organisation, deps.cookies.read(request, id), { ...options, proof });
}

/** The browser's token and the CSRF token bound to it. A browser without the cookie gets one with this response. */
export function formBinding(
  deps: BrowserDeps,
  { organisation, request, reply }: Visit,
): { browser: string; csrf: string } {
  const browser = deps.cookies.ensure(request, reply, organisation.id);
  return { browser, csrf: deps.csrf.token(organisation.id, browser) };
}

/**
 * Whether the form comes from a page of this server, rendered for this browser, with no field repeated or sanitized. Any
 * other form is shown again with its input, and has no effect.
 */
export function hasValidCsrfToken(deps: BrowserDeps, visit: Visit, form: PageForm): boolean {
  return (
    form.repeated.size === 0 &&
    form.isSanitized !== true &&
    isValidCsrfToken(deps, visit, form.values.get("csrf"))
  );
}

export const pageFormOptions = { config: { sanitizesForms: true } } as const;

export function isValidCsrfToken(
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  presented: string | undefined,
): boolean {
  return deps.csrf.isOwn(request, organisation.id, deps.cookies.read(request, organisation.id), presented);
}

/** @throws OAuthError shown on a page, when the seal is invalid or expired */
export function openFlow(deps: BrowserDeps, { organisation }: Visit, sealed: string | undefined): Flow {
  const flow = deps.flows.open(sealed, organisation.id, deps.clock());
  if (flow) return flow;
  throw new OAuthError(
    "invalid_request",
    "This page has expired. Return to the application and start again.",
    { reason: "page-too-old" },
  );
}

/**
 * The language is the first available of: `ui_locales`, the user's setting, `Accept-Language`, the organisation's default.
 * @param again of `languageLinks`
 */
export function pageFrame(
  { request, organisation }: Visit,
  uiLocales?: string,
  user?: Pick<User, "locale">,
  again?: string,
): PageFrame & { readonly organisation: PageOrganisation } {
  const locales = preferredLocales(
    [chosenLanguage(request), uiLocales, user?.locale].filter((locale) => locale).join(" "),
    request.headers["accept-language"],
    organisation.settings.defaultLocale,
  );
  return {
    messages: messages(locales),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
    languages: languageLinks(request, again),
    organisation: pageOrganisation(organisation),
  };
}

/** Where a request comes from, and the page's language: for sessions and notices. */
export function requestOrigin(
  visit: Visit,
  uiLocales: string | undefined,
): { address: string; userAgent: string; locale: string } {
  const { request } = visit;
  return {
    address: addressOf(request),
    userAgent: request.headers["user-agent"] ?? "",
    locale: pageFrame(visit, uiLocales).messages.locale,
  };
}

interface ShownPage {
  readonly status?: number;
  /** The page is a step of an application's request: see `SentPage`. */
  readonly redirectsElsewhere?: boolean;
  readonly leadsUpstream?: boolean;
}

export async function show(
  { reply }: Visit,
  { nonce, redirectsElsewhere = false }: Pick<PageFrame, "nonce"> & Pick<ShownPage, "redirectsElsewhere">,
  page: Html,
  options: ShownPage = {},
): Promise<void> {
  await sendPage(reply, render(page), { nonce, redirectsElsewhere, ...options });
}

export function pageApplication({ name, settings }: Application): PageApplication {
  return { name, homepageUri: settings.homepageUri, logoUri: settings.logoUri };
}

export function orgPath(organisation: Organisation, rest: string): string {
  return `/oauth/${organisation.id}/${rest}`;
}

/** A path of the organisation that carries the flow in its query. */
export function flowPath(deps: BrowserDeps, { organisation }: Visit, rest: string, flow?: Flow): string {
  const path = orgPath(organisation, rest);
  return flow ? `${path}?flow=${deps.flows.seal(flow)}` : path;
}

/** Characters; with the browser's own headers it must fit into the 16 KiB of a request's head. */
const MAX_QUERY = 12_000;

/**
 * A cross-site POST arrives without Lax cookies: the browser repeats the request by GET, with them.
 * @throws OAuthError 414 if the form doesn't fit into a query
 */
export async function redirectToGet(
  visit: Visit,
  endpoint: "authorize" | "end_session",
  form: Form,
): Promise<void> {
  const query = new URLSearchParams(formParameters(form).map(([...pair]) => pair)).toString();
  if (query.length > MAX_QUERY)
    throw new OAuthError("invalid_request", "The request is too long.", { status: 414 });
  parseForm(query);
  await redirectTo(visit, `${orgPath(visit.organisation, endpoint)}?${query}`);
}

/** Post/redirect/get: the next page has its own address and can be reloaded. */
export async function redirectTo({ reply }: Visit, address: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(address, 303);
}

export const continueFlow = (deps: BrowserDeps, visit: Visit, flow: Flow): Promise<void> =>
  redirectTo(visit, flowPath(deps, visit, "authorize", flow));
