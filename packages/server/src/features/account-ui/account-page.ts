/**
 * Shared by the account pages: access and frame. Viewing needs a session. Changing needs
 * authentication within the last ten minutes, with a second factor if the user has one: an unlocked screen or a stolen
 * password isn't enough to change how an account is protected.
 */

import type { Activity } from "../../core/activity/activity.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { offersFactor, type SecondFactorMethod } from "../../core/organisations/sign-in-methods.ts";
import type { PasswordHasher } from "../../core/passwords/password-hasher.ts";
import type { GuessDeps } from "../../core/rate-limits/attempts.ts";
import { type RateLimited, type RateLimits, rateLimitHeaders } from "../../core/rate-limits/rate-limits.ts";
import type { FactorChange } from "../../core/second-factors/changes.ts";
import { missingAuthenticationRequirement } from "../../core/second-factors/factor-status.ts";
import type { PasskeyChallenges } from "../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../core/second-factors/passkeys/passkeys.ts";
import { type SignedIn, toAssurance } from "../../core/sessions/session.ts";
import type { User } from "../../core/users/user.ts";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { ConsoleFrame } from "../../html/components/console-layout.ts";
import type { IconName } from "../../html/components/icons.ts";
import { interFont } from "../../html/fonts.ts";
import type { Messages } from "../../html/messages/messages.ts";
import { consoleStylesheet } from "../../html/stylesheet.ts";
import { addressOf } from "../../http/listeners/client-address.ts";
import { newNonce } from "../../http/page.ts";
import type { Refusal } from "../../page-kit/accept-form.ts";
import { outcomeOf, pageMessages, pageOrganisation } from "../../page-kit/console-frame.ts";
import type { BusyDeps } from "../../page-kit/full-queue.ts";
import {
  type BrowserSessionPort,
  consolePath,
  requestPath,
  SeeOther,
  SignInRequired,
  type Visit,
} from "../../page-kit/page.ts";

export interface AccountDeps extends GuessDeps, BusyDeps {
  readonly changes: ChangeFeed;
  readonly organisations: OrganisationDirectory;
  readonly encryption: Encryption;
  readonly outbox: Outbox;
  readonly browserSession: BrowserSessionPort;
  /** Encrypts state that browsers carry between two pages. */
  readonly seals: Encryption;
  readonly challenges: PasskeyChallenges;
  readonly relyingParty: RelyingParty;
  readonly baseUrl: string;
  /** Of the service. */
  readonly version: string;
  readonly passwords: PasswordHasher;
  readonly rateLimits: RateLimits;
  readonly activity: Pick<Activity, "count">;
  /** Where a further connection is linked to the account that is signed in. */
  linkConnectionUri(visit: Visit, connectionId: string, userId: string): string;
}

export const accountPath = ({ id }: Organisation, rest: string): string => `/oauth/${id}/account/${rest}`;

export interface AccountVisit extends Visit {
  readonly signedIn: SignedIn;
  readonly user: User;
  readonly messages: Messages;
  /** Of the forms of this browser. */
  readonly csrf: string;
}

/** Who may make a change, and when it is available. */
export interface ChangePolicy<Deps> {
  /** For changes within this organisation; the account itself is changed at its home organisation. */
  readonly allowsGuests?: boolean;
  /** Where to redirect if the change isn't available. */
  redirectIfUnavailable?(deps: Deps, visit: AccountVisit): string | undefined | Promise<string | undefined>;
}

/** A factor that the organisation doesn't offer can't be added: see core/organisations/sign-in-methods.ts. */
export const whereOffered = (method: SecondFactorMethod): ChangePolicy<unknown> => ({
  redirectIfUnavailable: (_, { organisation }) =>
    offersFactor(organisation.settings, method) ? undefined : accountPath(organisation, "security"),
});

/** @param returnTo where the browser returns after signing in. @throws SignInRequired */
export async function requireSignedIn(
  deps: AccountDeps,
  visit: Visit,
  returnTo: string,
): Promise<AccountVisit> {
  const signedIn = await deps.browserSession.currentSession(visit);
  if (!signedIn) throw new SignInRequired(returnTo);
  const { user } = signedIn;
  const { csrf } = deps.browserSession.formBinding(visit);
  return { ...visit, signedIn, user, messages: pageMessages(visit, signedIn), csrf };
}

/**
 * Requires a user who may make the change.
 * @param needsRecentSignIn a form decides that for itself: it waits while the user reauthenticates
 * @throws SignInRequired; SeeOther for guests, unless the policy allows them, and for a change that isn't available
 */
export async function requireChangeAllowed<Deps extends AccountDeps>(
  deps: Deps,
  visit: Visit,
  returnTo: string,
  policy: ChangePolicy<Deps>,
  needsRecentSignIn: boolean,
): Promise<AccountVisit> {
  const account = await requireSignedIn(deps, visit, returnTo);
  const { signedIn, organisation } = account;
  if (!policy.allowsGuests && !isHomeUser(account)) throw new SeeOther(accountPath(organisation, "security"));
  const missing =
    needsRecentSignIn &&
    (await missingAuthenticationRequirement(deps.database.query, signedIn, deps.clock()));
  if (missing) throw new SignInRequired(returnTo, missing);
  const location = await policy.redirectIfUnavailable?.(deps, account);
  if (location !== undefined) throw new SeeOther(location);
  return account;
}

/** The form is shown again with the reason. */
export const refusal = (status: number, title: string, text?: string): Refusal => ({
  failure: { kind: "refused", title, ...(text === undefined ? {} : { text }) },
  status,
});

/** As `refusal`, for one that ends by itself: sets `Retry-After` (RFC 9110 §10.2.3), and a limit's own headers. */
export function waitRefusal(
  { reply }: Visit,
  error: RateLimited,
  title: string,
  text: (wait: { seconds: number }) => string,
): Refusal {
  const { retryAfterSeconds: seconds } = error;
  reply.headers(rateLimitHeaders(error)).header("retry-after", String(seconds));
  return refusal(429, title, text({ seconds }));
}

export function factorChange(visit: AccountVisit): FactorChange {
  const { organisation, user, signedIn } = visit;
  const reached = toAssurance(signedIn.session.acr);
  return { organisation, user, actor: `user:${user.id}`, origin: requestOrigin(visit), reached };
}

/** IP address, user agent and page language, for notices and sessions. */
export const requestOrigin = ({ request, messages }: AccountVisit) => ({
  address: addressOf(request),
  userAgent: request.headers["user-agent"] ?? "",
  locale: messages.locale,
});

export type AccountPage = keyof Messages["console"]["frame"]["accountPages"];

const pages: ReadonlyArray<readonly [page: AccountPage, path: string, icon: IconName]> = [
  ["home", "account", "home"],
  ["profile", "account/profile", "person"],
  ["security", "account/security", "lock"],
  ["sessions", "account/sessions", "browser"],
  ["consents", "user/consents", "application"],
  ["activity", "account/activity", "activity"],
  ["data", "account/data", "data"],
];

/** @param current the navigation entry to highlight, if any */
export function accountFrame(visit: AccountVisit, current: AccountPage | undefined): ConsoleFrame {
  const { organisation, user, messages } = visit;
  const { frame } = messages.console;
  const isAdministrator = user.role === "Administrator";
  return {
    messages,
    nonce: newNonce(),
    stylesheet: consoleStylesheet.path,
    font: interFont.path,
    isEndUserPage: true,
    organisation: pageOrganisation(organisation),
    homeUri: `/oauth/${organisation.id}/account`,
    consoleUri: (rest) => consolePath(organisation, rest),
    outcome: outcomeOf(visit),
    navigation: {
      label: frame.account,
      sections: [
        {
          links: pages.map(([page, path, icon]) => ({
            id: page,
            icon,
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
    signOut: { uri: `/oauth/${organisation.id}/end_session`, csrf: visit.csrf },
    otherOrganisations: [],
  };
}

/** The frame of a page with a form that posts to its own address. @param page where it belongs: "Cancel" leads there */
export const accountFormFrame = (
  { browserSession }: Pick<AccountDeps, "browserSession">,
  visit: AccountVisit,
  page: Exclude<AccountPage, "consents">,
) => ({
  ...accountFrame(visit, page),
  csrf: browserSession.formBinding(visit).csrf,
  action: requestPath(visit),
  backUri: accountPath(visit.organisation, page),
});

/** False for guests: their account is changed at its home organisation. */
export const isHomeUser = ({ organisation, user }: AccountVisit): boolean =>
  user.homeOrgId === organisation.id;
