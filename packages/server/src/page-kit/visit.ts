/**
 * Who may come in. Looking asks for an administrator's session of the organisation in the address; changing asks for one
 * that was proven within ten minutes, and with a second factor if the administrator has one.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../core/clock.ts";
import type { Organisation } from "../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { type LackingProof, lackingProof } from "../core/second-factors/fresh-proof.ts";
import type { SignedIn } from "../core/sessions/session.ts";
import type { ChangeFeed } from "../db/change-feed.ts";
import type { Database } from "../db/open.ts";
import { type Html, render } from "../html/html.ts";
import type { PageFrame } from "../html/layout.ts";
import type { ErrorHandler } from "../http/error-handlers.ts";
import { mendQuery } from "../http/form-body.ts";
import { addressOf } from "../http/listeners/client-address.ts";
import { inOrganisation } from "../http/organisation-lookup.ts";
import { sendPage } from "../http/page.ts";

/** One browser request at one organisation. */
export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** A page of ours that a sign-in leads to. */
type ConsolePage = { place: "console" | "devices"; path: string };

/** What the sign-in gives to pages of other features. */
export interface ConsoleDoor {
  whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
  whoWatches(visit: Visit): Promise<SignedIn | undefined>;
  /** Whether the organisation asks everybody for a second factor, and the session has shown none in this browser. */
  lacksRequiredFactor(visit: Visit, signedIn: SignedIn): Promise<boolean>;
  formBinding(visit: Visit): { csrf: string };
  isOwnForm(visit: Visit, presented: string | undefined): boolean;
  /** Whether the browser says that a page of ours made the request, or says nothing. */
  isFromHere(visit: Visit): boolean;
  /** The seal of a form that waits while its browser signs in again, bound to `subject` in place of the session. */
  keptSeal(visit: Visit, subject: string): string;
  isKeptForm(visit: Visit, subject: string, presented: string | undefined): boolean;
  signIn(visit: Visit, page: ConsolePage, lacking?: LackingProof): Promise<void>;
}

export interface ConsoleDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly door: ConsoleDoor;
  /** How browsers are told of errors. */
  readonly showError: ErrorHandler;
}

/** Below it, every page of the console but the devices'. */
export const CONSOLE = "/oauth/manage/:org";

/** @param rest begins with a slash; empty for the overview */
export const consolePath = ({ id }: Pick<Organisation, "id">, rest = ""): string =>
  `/oauth/manage/${id}${rest}`;

/** A query of what is there; nothing for an empty one. */
export function queryText(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return present.length === 0 ? "" : `?${new URLSearchParams(present as [string, string][])}`;
}

/** The devices' pages have addresses of their own, and the sign-in says that it leads there. */
const placeOf = (path: string): ConsolePage["place"] =>
  path.startsWith("/devices/") ? "devices" : "console";

/**
 * Any administrator who is signed in. @param path where the browser comes back to after signing in
 * @returns undefined when the sign-in has been shown. @throws OAuthError 403 for everybody else
 */
export async function administratorHere(
  deps: Pick<ConsoleDeps, "door">,
  visit: Visit,
  path: string,
): Promise<SignedIn | undefined> {
  const signedIn = await deps.door.whoIsThere(visit);
  if (!signedIn) {
    await deps.door.signIn(visit, { place: placeOf(path), path });
    return undefined;
  }
  if (signedIn.user.role === "Administrator") {
    if (!(await lacksAnything(deps, visit, signedIn))) return signedIn;
    // The same questions as on the way to an application.
    await deps.door.signIn(visit, { place: placeOf(path), path });
    return undefined;
  }
  throw new OAuthError("access_denied", "Only administrators of the organisation can open this page.", {
    status: 403,
    reason: "administrators-only",
  });
}

/**
 * What the organisation asks of everybody, also of sessions from before it did: that the address is known to be the user's,
 * and a second factor. The console is no way around either.
 */
export const lacksAnything = async (
  { door }: Pick<ConsoleDeps, "door">,
  visit: Visit,
  signedIn: SignedIn,
): Promise<boolean> =>
  (visit.organisation.settings.requireVerifiedEmail && !signedIn.user.emailVerified) ||
  (await door.lacksRequiredFactor(visit, signedIn));

/** One who may change something. @returns undefined when what the sign-in lacks has been shown */
export async function provenAdministrator(
  deps: Pick<ConsoleDeps, "door" | "database" | "clock">,
  visit: Visit,
  path: string,
): Promise<SignedIn | undefined> {
  const signedIn = await administratorHere(deps, visit, path);
  const lacking = signedIn && (await lackingProof(deps.database.query, signedIn, deps.clock()));
  if (lacking === undefined) return signedIn;
  await deps.door.signIn(visit, { place: placeOf(path), path }, lacking);
  return undefined;
}

/** Who acts, and from where, as the audit log has it. */
export const actingOn = ({ organisation, request }: Visit, { user }: SignedIn) => ({
  orgId: organisation.id,
  actor: `user:${user.id}`,
  address: addressOf(request),
});

export async function show(
  { reply }: Visit,
  { nonce }: Pick<PageFrame, "nonce">,
  page: Html,
  status = 200,
): Promise<void> {
  await sendPage(reply, render(page), { nonce, status });
}

export async function goTo({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}

/**
 * What the largest records of a call's 64 KiB are in a form: a byte that is escaped is three letters, what is laid out to
 * be read has more lines, and a list of a hundred is as many boxes.
 */
const MOST_BYTES = 512 * 1024;
const MOST_FIELDS = 300;

/**
 * One address of the console, with a page for GET and what its form does for POST.
 * @param rest below `/oauth/manage/{org}`, begins with a slash; empty for the overview
 */
export function consoleRoute(
  app: FastifyInstance,
  deps: Pick<ConsoleDeps, "organisations" | "showError">,
  rest: string,
  handlers: { get?(visit: Visit): Promise<void>; post?(visit: Visit): Promise<void> },
): void {
  const config = { mendsForms: true, mostFields: MOST_FIELDS };
  const options = { errorHandler: deps.showError, bodyLimit: MOST_BYTES, config };
  const handler = (handle: (visit: Visit) => Promise<void>) =>
    inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
      mendQuery(visit.request);
      await handle(visit);
      return visit.reply;
    });
  if (handlers.get) app.get(`${CONSOLE}${rest}`, options, handler(handlers.get));
  if (handlers.post) app.post(`${CONSOLE}${rest}`, options, handler(handlers.post));
}
