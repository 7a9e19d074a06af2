/** What every browser step shares: who is there, the page's frame, and the form's seal. */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Activity } from "../../../core/activity/activity.ts";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Encryption } from "../../../core/encryption/encryption.ts";
import type { Outbox } from "../../../core/mail/outbox.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { RateLimits } from "../../../core/rate-limits/rate-limits.ts";
import type { CustomScopeDirectory } from "../../../core/scopes/custom-scopes.ts";
import type { PasskeyChallenges } from "../../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../../core/second-factors/passkeys/passkey.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findSignedIn } from "../../../core/sessions/sessions.ts";
import type { SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import type { SigningPoolDirectory } from "../../../core/signing-pools/directory.ts";
import type { PoolSigning } from "../../../core/tokens/pool-signing.ts";
import type { User } from "../../../core/users/user.ts";
import type { Database } from "../../../db/open.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import type { RecognitionCookies } from "../../../http/cookies/recognition-cookie.ts";
import type { SessionCookies } from "../../../http/cookies/session-cookie.ts";
import type { DeviceCookies } from "../../../http/cookies/trusted-browser-cookie.ts";
import type { Csrf } from "../../../http/csrf.ts";
import type { PageForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import type { Flow, Flows } from "./flow.ts";

export interface BrowserDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly customScopes: CustomScopeDirectory;
  readonly keys: SigningKeys;
  readonly cookies: SessionCookies;
  readonly csrf: Csrf;
  readonly flows: Flows;
  /** What is kept under the master key: the secrets of authenticator apps. */
  readonly encryption: Encryption;
  readonly rateLimits: RateLimits;
  /** Takes the notices of what happens to an account. */
  readonly outbox: Outbox;
  /** Tells a browser that was here before from a new one. */
  readonly recognition: RecognitionCookies;
  readonly activity: Pick<Activity, "count">;
  readonly secondFactors: SecondFactorMeans;
  /** For the applications whose tokens an agent signs. */
  readonly poolSigning: PoolSigning;
  readonly signingPools: SigningPoolDirectory;
}

export interface SecondFactorMeans {
  /** Seals what browsers carry for us between two pages. */
  readonly seals: Encryption;
  readonly challenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
  readonly devices: DeviceCookies;
}

/** One browser request at one organisation. */
export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function whoIsThere(
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  looking: { readonly isWatching?: boolean } = {},
): Promise<SignedIn | undefined> {
  return findSignedIn(deps, organisation, deps.cookies.read(request, organisation.id), looking);
}

export function csrfToken(deps: BrowserDeps, { organisation, request, reply }: Visit): string {
  return deps.csrf.token(organisation.id, deps.cookies.ensure(request, reply, organisation.id));
}

/** The browser's token and the form's, of one cookie: a browser that had none gets it with this answer. */
export function formBinding(
  deps: BrowserDeps,
  { organisation, request, reply }: Visit,
): { browser: string; csrf: string } {
  const browser = deps.cookies.ensure(request, reply, organisation.id);
  return { browser, csrf: deps.csrf.token(organisation.id, browser) };
}

/**
 * Whether a page of ours made the form for this browser, and it came as browsers send what our pages hold: nothing twice,
 * and all of it text. What is not is shown once more with what was typed, and nothing is done with it.
 */
export function isOwnForm(deps: BrowserDeps, visit: Visit, form: PageForm): boolean {
  return (
    form.repeated.size === 0 && form.isMended !== true && isOwnToken(deps, visit, form.values.get("csrf"))
  );
}

/** A route of such forms. */
export const ownForm = { config: { mendsForms: true } } as const;

export function isOwnToken(
  deps: BrowserDeps,
  { organisation, request }: Pick<Visit, "organisation" | "request">,
  presented: string | undefined,
): boolean {
  return deps.csrf.isOwn(request, organisation.id, deps.cookies.read(request, organisation.id), presented);
}

/** @throws OAuthError for a page, when the seal is broken or too old */
export function openFlow(deps: BrowserDeps, { organisation }: Visit, sealed: string | undefined): Flow {
  const flow = deps.flows.open(sealed, organisation.id, deps.clock());
  if (flow) return flow;
  throw new OAuthError(
    "invalid_request",
    "This page is too old. Go back to the application and start again.",
    { reason: "page-too-old" },
  );
}

/**
 * The page in the reader's language: what the application asks for, else what the user has chosen for their account, else
 * what the browser says, else the organisation's.
 * @param user once it is known who it is
 */
export function pageFrame(
  { request, organisation }: Visit,
  uiLocales?: string,
  user?: Pick<User, "locale">,
): PageFrame {
  const wishes = preferredLocales(
    [uiLocales, user?.locale].filter((wish) => wish).join(" "),
    request.headers["accept-language"],
    organisation.settings.defaultLocale,
  );
  return {
    messages: messages(wishes),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
}

/** Where an act comes from, for sessions and notices, and the language of the page that it happened on. */
export function originOf(
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

/** @param options.leadsAway the page's form may end at an application */
export async function show(
  { reply }: Visit,
  frame: PageFrame,
  page: Html,
  options: { status?: number; leadsAway?: boolean } = {},
): Promise<void> {
  await sendPage(reply, render(page), {
    nonce: frame.nonce,
    ...(options.status === undefined ? {} : { status: options.status }),
    ...(options.leadsAway === undefined ? {} : { leadsAway: options.leadsAway }),
  });
}

export function pageOrganisation({ name, settings }: Organisation): PageOrganisation {
  return { name, accentColor: settings.branding.accentColor, logoUri: settings.branding.logoUri };
}

export function pageApplication({ name, settings }: Application): PageApplication {
  return { name, homepageUri: settings.homepageUri, logoUri: settings.logoUri };
}

export function orgPath(organisation: Organisation, rest: string): string {
  return `/oauth/${organisation.id}/${rest}`;
}

/** What comes next is decided on a request of its own, which can be reloaded. */
export async function goTo({ reply }: Visit, address: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(address, 303);
}
