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
import { type LackingProof, lackingProof } from "../../core/second-factors/fresh-proof.ts";
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
import { inOrganisation } from "../../http/organisation-lookup.ts";
import { newNonce } from "../../http/page.ts";
import { wasAlready } from "../../page-kit/console-frame.ts";
import { readerMessages } from "../../page-kit/reader-language.ts";
import { consolePath, goTo, type Visit } from "../../page-kit/visit.ts";

/** What the sign-in gives to pages of other features. */
export interface SignInDoor {
  whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
  formBinding(visit: Visit): { browser: string; csrf: string };
  isOwnForm(visit: Visit, presented: string | undefined): boolean;
  isFromHere(visit: Visit): boolean;
  keptSeal(visit: Visit, subject: string): string;
  isKeptForm(visit: Visit, subject: string, presented: string | undefined): boolean;
  signIn(visit: Visit, page: { place: "account"; path: string }, lacking?: LackingProof): Promise<void>;
  writeSession(visit: Visit, token: string): void;
  deviceToken(visit: Visit): string | undefined;
}

export interface AccountDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly encryption: Encryption;
  readonly outbox: Outbox;
  readonly door: SignInDoor;
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

/** Anybody who is signed in. @param path where the browser comes back to after signing in */
export async function signedInHere(
  deps: AccountDeps,
  visit: Visit,
  path: string,
): Promise<SignedIn | undefined> {
  const signedIn = await deps.door.whoIsThere(visit);
  if (!signedIn) await deps.door.signIn(visit, { place: "account", path });
  return signedIn;
}

/** What a change asks of who makes it, besides their proof. */
export interface Change {
  /** What belongs to the organisation visited, and not to the account: guests may change that too. */
  readonly byGuests?: boolean;
  /** Whether there is anything to change; sends the browser elsewhere when not. */
  isOpen?(signedIn: SignedIn): Promise<boolean>;
}

/** @returns undefined when the answer has been sent: the sign-in, or the way to the page that says why not */
export async function comesToChange(
  deps: AccountDeps,
  visit: Visit,
  path: string,
  change: Change,
): Promise<SignedIn | undefined> {
  const signedIn = await signedInHere(deps, visit, path);
  if (!signedIn) return undefined;
  if (change.byGuests !== true && !isAtHome(visit.organisation, signedIn.user)) {
    await goTo(visit, accountPath(visit.organisation, "security"));
    return undefined;
  }
  return signedIn;
}

/** @returns false when the browser has been sent elsewhere */
export const isOpenTo = async (signedIn: SignedIn, { isOpen }: Change): Promise<boolean> =>
  (await isOpen?.(signedIn)) !== false;

/**
 * Somebody who may see the form of a change: as fresh a sign-in as the change itself asks for (account-form.ts).
 * @returns undefined when the answer has been sent: what the sign-in lacks, or the way to the page that says why not
 */
export async function mayChange(
  deps: AccountDeps,
  visit: Visit,
  path: string,
  change: Change = {},
): Promise<SignedIn | undefined> {
  const signedIn = await comesToChange(deps, visit, path, change);
  const lacking = signedIn && (await lackingProof(deps.database.query, signedIn, deps.clock()));
  if (lacking === undefined) return signedIn && (await isOpenTo(signedIn, change)) ? signedIn : undefined;
  await deps.door.signIn(visit, { place: "account", path }, lacking);
  return undefined;
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

/** One address, with a page for GET and what its form does for POST: see `accountSubmission`. */
export function accountRoute(
  app: FastifyInstance,
  deps: AccountDeps,
  rest: string,
  handlers: { get(visit: Visit): Promise<void>; post?(visit: Visit): Promise<void> },
): void {
  const handler = (handle: (visit: Visit) => Promise<void>) =>
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      await handle(visit);
      return visit.reply;
    });
  app.get(`/oauth/:org/account/${rest}`, handler(handlers.get));
  // What was typed is shown again, whatever it is (account-form.ts).
  const options = { config: { mendsForms: true } };
  if (handlers.post) app.post(`/oauth/:org/account/${rest}`, options, handler(handlers.post));
}
