/**
 * Shared by the account pages: access, frame and route registration. Viewing needs a session. Changing needs
 * authentication within the last ten minutes, with a second factor if the user has one: an unlocked screen or a stolen
 * password isn't enough to change how an account is protected.
 */

import type { FastifyInstance } from "fastify";
import type { Activity } from "../../core/activity/activity.ts";
import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { PasswordHasher } from "../../core/passwords/password-hasher.ts";
import { type RateLimited, type RateLimits, rateLimitHeaders } from "../../core/rate-limits/rate-limits.ts";
import type { FactorChange } from "../../core/second-factors/changes.ts";
import { missingAuthenticationRequirement } from "../../core/second-factors/factor-status.ts";
import type { PasskeyChallenges } from "../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../core/second-factors/passkeys/passkeys.ts";
import { type SignedIn, toAssurance } from "../../core/sessions/session.ts";
import type { User } from "../../core/users/user.ts";
import type { Database } from "../../db/open.ts";
import type { ConsoleFrame } from "../../html/components/console-layout.ts";
import type { PageOrganisation } from "../../html/layout.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { consoleStylesheet } from "../../html/stylesheet.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { newNonce } from "../../http/page.ts";
import { wasAlready } from "../../page-kit/console-frame.ts";
import {
  type BrowserSessionPort,
  consolePath,
  pageHandler,
  SeeOther,
  SignInRequired,
  type Visit,
} from "../../page-kit/page.ts";
import { readerMessages } from "../../page-kit/reader-language.ts";

export interface AccountDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly encryption: Encryption;
  readonly outbox: Outbox;
  readonly browserSession: BrowserSessionPort;
  /** Encrypts state that browsers carry between two pages. */
  readonly seals: Encryption;
  readonly challenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
  readonly baseUrl: string;
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly activity: Pick<Activity, "count">;
}

export const accountPath = ({ id }: Organisation, rest: string): string => `/oauth/${id}/account/${rest}`;

/** @param returnTo where the browser returns after signing in. @throws SignInRequired */
export async function requireSignedIn(deps: AccountDeps, visit: Visit, returnTo: string): Promise<SignedIn> {
  const signedIn = await deps.browserSession.currentSession(visit);
  if (!signedIn) throw new SignInRequired(returnTo);
  return signedIn;
}

/** Who may make a change, and when it is available. */
export interface ChangePolicy {
  /** For changes within this organisation; the account itself is changed at its home organisation. */
  readonly allowsGuests?: boolean;
  /** Where to redirect if the change isn't available. */
  redirectIfUnavailable?(signedIn: SignedIn): string | undefined | Promise<string | undefined>;
}

/** @throws SignInRequired; SeeOther for guests, unless the policy allows them */
async function requireOwner(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  { allowsGuests }: ChangePolicy,
): Promise<SignedIn> {
  const signedIn = await requireSignedIn(deps, visit, returnTo);
  if (allowsGuests !== true && !isHomeUser(visit.organisation, signedIn.user))
    throw new SeeOther(accountPath(visit.organisation, "security"));
  return signedIn;
}

/** @throws SeeOther */
async function requireAvailable(signedIn: SignedIn, { redirectIfUnavailable }: ChangePolicy): Promise<void> {
  const location = await redirectIfUnavailable?.(signedIn);
  if (location !== undefined) throw new SeeOther(location);
}

/** Headers of a rate-limited response (RFC 9110 §10.2.3). */
export function setRetryAfter({ reply }: Visit, error: RateLimited): void {
  reply.headers({ ...rateLimitHeaders(error), "retry-after": String(error.retryAfterSeconds) });
}

/** Requires a user who may make the change, without recent authentication. @throws SignInRequired, SeeOther */
export async function requireChangeAllowed(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  change: ChangePolicy,
): Promise<SignedIn> {
  const signedIn = await requireOwner(deps, visit, returnTo, change);
  await requireAvailable(signedIn, change);
  return signedIn;
}

/** Requires a user who may make the change and has authenticated recently. @throws SignInRequired, SeeOther */
export async function requireRecentSignIn(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  change: ChangePolicy = {},
): Promise<SignedIn> {
  const signedIn = await requireOwner(deps, visit, returnTo, change);
  const missing = await missingAuthenticationRequirement(deps.database.query, signedIn, deps.clock());
  if (missing !== undefined) throw new SignInRequired(returnTo, missing);
  await requireAvailable(signedIn, change);
  return signedIn;
}

export function factorChange(visit: Visit, { session, user }: SignedIn): FactorChange {
  const { organisation } = visit;
  const actor = `user:${user.id}`;
  return { organisation, user, actor, origin: requestOrigin(visit, user), reached: toAssurance(session.acr) };
}

/** IP address, user agent and page language, for notices and sessions. */
export const requestOrigin = ({ organisation, request }: Visit, user: User) => ({
  address: addressOf(request),
  userAgent: request.headers["user-agent"] ?? "",
  locale: readerMessages(request, user, organisation).locale,
});

/** An entry of the navigation. */
export type AccountPage = keyof Messages["console"]["frame"]["accountPages"];

const pages: ReadonlyArray<readonly [page: AccountPage, path: string]> = [
  ["profile", "account/profile"],
  ["security", "account/security"],
  ["sessions", "account/sessions"],
  ["consents", "user/consents"],
  ["activity", "account/activity"],
  ["data", "account/data"],
];

/** @param current the navigation entry to highlight, if any */
export function accountFrame(visit: Visit, user: User, current: AccountPage | undefined): ConsoleFrame {
  const { organisation, request } = visit;
  const messages = readerMessages(request, user, organisation);
  const { frame } = messages.console;
  const isAdministrator = user.role === "Administrator";
  return {
    messages,
    nonce: newNonce(),
    stylesheet: consoleStylesheet.path,
    organisation: pageOrganisation(organisation),
    homeUri: accountPath(organisation, "profile"),
    consoleUri: (rest) => consolePath(organisation, rest),
    wasAlready: wasAlready(visit),
    navigation: {
      label: frame.account,
      sections: [
        {
          links: pages.map(([page, path]) => ({
            id: page,
            label: frame.accountPages[page],
            uri: `/oauth/${organisation.id}/${path}`,
            isCurrent: page === current,
          })),
        },
      ],
    },
    user: { email: user.email },
    elsewhere: isAdministrator
      ? [{ id: "nav-console", label: frame.console, uri: consolePath(organisation) }]
      : [],
    signOutUri: `/oauth/${organisation.id}/end_session`,
    otherOrganisations: [],
  };
}

export function pageOrganisation({ name, settings }: Organisation): PageOrganisation {
  return { name, accentColor: settings.branding.accentColor, logoUri: settings.branding.logoUri };
}

/** False for guests: their account is changed at its home organisation. */
export const isHomeUser = (organisation: Organisation, user: User): boolean =>
  user.homeOrgId === organisation.id;

/** Registers the page and its form; POST handlers start with `acceptAccountForm`. */
export function accountRoute(
  app: FastifyInstance,
  deps: AccountDeps,
  url: `/oauth/:org/account/${string}`,
  handlers: { get(visit: Visit): Promise<void>; post?(visit: Visit): Promise<void> },
): void {
  const handler = (handle: (visit: Visit) => Promise<void>) => pageHandler(deps, (_, visit) => handle(visit));
  app.get(url, handler(handlers.get));
  // Rejected input is shown again even if it isn't valid text (page-kit/accept-form.ts).
  const options = { config: { sanitizesForms: true } };
  if (handlers.post) app.post(url, options, handler(handlers.post));
}
