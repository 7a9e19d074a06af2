/**
 * What the account pages share. Looking asks for a session; changing asks for one whose user proved themselves within ten
 * minutes, and with a second factor if they have one: neither an unlocked screen nor a password that somebody learned is
 * enough to change what an account is protected by.
 */

import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { Encryption } from "../../core/encryption/encryption.ts";
import type { Outbox } from "../../core/mail/outbox.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import type { FactorChange } from "../../core/second-factors/changes.ts";
import { lackingProof } from "../../core/second-factors/fresh-proof.ts";
import type { PasskeyChallenges } from "../../core/second-factors/passkeys/challenge.ts";
import type { RelyingParty } from "../../core/second-factors/passkeys/passkey.ts";
import { assuranceOf } from "../../core/sessions/assurance.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import type { Database } from "../../db/open.ts";
import { type Html, render } from "../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../html/layout.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { stylesheet } from "../../html/stylesheet.ts";
import { addressOf } from "../../http/client-address.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import { newNonce, sendPage } from "../../http/page.ts";

/** One browser request at one organisation. */
export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What the sign-in gives to pages of other features. */
export interface SignInDoor {
  whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
  formBinding(visit: Visit): { browser: string; csrf: string };
  isOwnForm(visit: Visit, presented: string | undefined): boolean;
  signIn(visit: Visit, page: { place: "account"; path: string }, prompt?: "login"): Promise<void>;
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

/**
 * Somebody who may change what the account is protected by.
 * @param change.ofAccount false for what belongs to the organisation visited: guests may change that too
 * @returns undefined when the answer has been sent: what the sign-in lacks, or the way to the page that says why not
 */
export async function mayChange(
  deps: AccountDeps,
  visit: Visit,
  path: string,
  change: { ofAccount: boolean } = { ofAccount: true },
): Promise<SignedIn | undefined> {
  const signedIn = await signedInHere(deps, visit, path);
  if (!signedIn) return undefined;
  const { user } = signedIn;
  if (change.ofAccount && user.homeOrgId !== visit.organisation.id) {
    await goTo(visit, accountPath(visit.organisation, "security"));
    return undefined;
  }
  const lacking = await lackingProof(deps.database.query, signedIn, deps.clock());
  if (lacking === undefined) return signedIn;
  const page = { place: "account", path } as const;
  await deps.door.signIn(visit, page, ...(lacking === "fresh-sign-in" ? (["login"] as const) : []));
  return undefined;
}

export function changeOf(visit: Visit, { session, user }: SignedIn): FactorChange {
  const { organisation, request } = visit;
  const origin = {
    address: addressOf(request),
    userAgent: request.headers["user-agent"] ?? "",
    locale: accountFrame(visit).messages.locale,
  };
  return { organisation, user, actor: `user:${user.id}`, origin, reached: assuranceOf(session.acr) };
}

export function accountFrame({ request }: Visit): PageFrame {
  return {
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
  };
}

export function pageOrganisation({ name, settings }: Organisation): PageOrganisation {
  return { name, accentColor: settings.branding.accentColor, logoUri: settings.branding.logoUri };
}

export async function show({ reply }: Visit, { nonce }: PageFrame, page: Html, status = 200): Promise<void> {
  await sendPage(reply, render(page), { nonce, status });
}

export async function goTo({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}

/** One address, with a page for GET and what its form does for POST. */
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
  if (handlers.post) app.post(`/oauth/:org/account/${rest}`, handler(handlers.post));
}
