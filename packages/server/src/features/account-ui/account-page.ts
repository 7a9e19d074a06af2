/**
 * What the account pages share. Looking asks for a session; changing asks for one whose user proved themselves within ten
 * minutes, and with a second factor if they have one: neither an unlocked screen nor a password that somebody learned is
 * enough to change what an account is protected by.
 */

import type { FastifyInstance } from "fastify";
import type { Activity } from "../../core/activity/activity.ts";
import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { PasswordHasher } from "../../core/passwords/password-hasher.ts";
import type { RateLimits } from "../../core/rate-limits/rate-limits.ts";
import type { FactorChange } from "../../core/second-factors/changes.ts";
import { lackingProof } from "../../core/second-factors/fresh-proof.ts";
import type { PasskeyChallenges } from "../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../core/second-factors/passkeys/passkey.ts";
import { assuranceOf } from "../../core/sessions/assurance.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
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
  /** Seals what browsers carry for us between two pages. */
  readonly seals: Encryption;
  readonly challenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
  readonly baseUrl: string;
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly activity: Pick<Activity, "count">;
}

export const accountPath = ({ id }: Organisation, rest: string): string => `/oauth/${id}/account/${rest}`;

/** Anyone who is signed in. @param returnTo where the browser goes after signing in. @throws SignInRequired */
export async function requireSignedIn(deps: AccountDeps, visit: Visit, returnTo: string): Promise<SignedIn> {
  const signedIn = await deps.browserSession.whoIsThere(visit);
  if (!signedIn) throw new SignInRequired(returnTo);
  return signedIn;
}

/** What a change asks of who makes it, besides a recent sign-in. */
export interface Change {
  /** What belongs to the organisation visited, and not to the account: guests may change that too. */
  readonly byGuests?: boolean;
  /** The page that answers instead when there is nothing to change. */
  redirectIfClosed?(signedIn: SignedIn): string | undefined | Promise<string | undefined>;
}

/** @throws SignInRequired; SeeOther for guests whose account is changed at home */
async function requireOwner(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  { byGuests }: Change,
): Promise<SignedIn> {
  const signedIn = await requireSignedIn(deps, visit, returnTo);
  if (byGuests !== true && !isAtHome(visit.organisation, signedIn.user))
    throw new SeeOther(accountPath(visit.organisation, "security"));
  return signedIn;
}

/** @throws SeeOther */
async function requireOpen(signedIn: SignedIn, { redirectIfClosed }: Change): Promise<void> {
  const elsewhere = await redirectIfClosed?.(signedIn);
  if (elsewhere !== undefined) throw new SeeOther(elsewhere);
}

/** Whoever may make the change, however long ago they signed in. @throws SignInRequired, SeeOther */
export async function requireChanger(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  change: Change,
): Promise<SignedIn> {
  const signedIn = await requireOwner(deps, visit, returnTo, change);
  await requireOpen(signedIn, change);
  return signedIn;
}

/** Whoever may see the form of a change: the sign-in is as recent as the change asks for. @throws SignInRequired, SeeOther */
export async function requireRecentChanger(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
  change: Change = {},
): Promise<SignedIn> {
  const signedIn = await requireOwner(deps, visit, returnTo, change);
  const missing = await lackingProof(deps.database.query, signedIn, deps.clock());
  if (missing !== undefined) throw new SignInRequired(returnTo, missing);
  await requireOpen(signedIn, change);
  return signedIn;
}

export function changeOf(visit: Visit, { session, user }: SignedIn): FactorChange {
  const { organisation } = visit;
  const actor = `user:${user.id}`;
  return { organisation, user, actor, origin: originOf(visit, user), reached: assuranceOf(session.acr) };
}

/** Where an act comes from, for notices and sessions, and the language of the page that it happened on. */
export const originOf = ({ organisation, request }: Visit, user: User) => ({
  address: addressOf(request),
  userAgent: request.headers["user-agent"] ?? "",
  locale: readerMessages(request, user, organisation).locale,
});

/** The pages of the navigation. */
export type AccountPage = keyof Messages["console"]["frame"]["accountPages"];

const pages: ReadonlyArray<readonly [page: AccountPage, path: (organisation: Organisation) => string]> = [
  ["profile", (organisation) => accountPath(organisation, "profile")],
  ["security", (organisation) => accountPath(organisation, "security")],
  ["sessions", (organisation) => accountPath(organisation, "sessions")],
  ["consents", (organisation) => `/oauth/${organisation.id}/user/consents`],
  ["activity", (organisation) => accountPath(organisation, "activity")],
  ["data", (organisation) => accountPath(organisation, "data")],
];

/** @param current the page of the navigation that this one belongs to; undefined for none */
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
            uri: path(organisation),
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

/** Whether the account is of the organisation visited: elsewhere it is a guest's, and is changed at home. */
export const isAtHome = (organisation: Organisation, user: User): boolean =>
  user.homeOrgId === organisation.id;

/** One address, with a page for GET and what its form does for POST: see `acceptAccountForm`. */
export function accountRoute(
  app: FastifyInstance,
  deps: AccountDeps,
  url: `/oauth/:org/account/${string}`,
  handlers: { get(visit: Visit): Promise<void>; post?(visit: Visit): Promise<void> },
): void {
  const handler = (handle: (visit: Visit) => Promise<void>) => pageHandler(deps, (_, visit) => handle(visit));
  app.get(url, handler(handlers.get));
  // What was typed is shown again, even when it is no text (page-kit/accept-form.ts).
  const options = { config: { mendsForms: true } };
  if (handlers.post) app.post(url, options, handler(handlers.post));
}
