/**
 * What the pages of device administration share. Looking asks for an administrator's session; changing asks for one that was
 * proven within ten minutes, and with a second factor if there is one. Programs, and pages that speak JSON, come to the same
 * addresses and have their own door.
 */
import { OAuthError } from "@signet/protocol/oauth-error";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import type { Organisation } from "../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../core/organisations/organisations.ts";
import { lackingProof } from "../../core/second-factors/fresh-proof.ts";
import type { SignedIn } from "../../core/sessions/session.ts";
import type { SystemAccountCaller } from "../../core/system-accounts/caller.ts";
import type { ChangeFeed } from "../../db/change-feed.ts";
import type { Database } from "../../db/open.ts";
import { type Html, render } from "../../html/html.ts";
import type { PageFrame, PageOrganisation } from "../../html/layout.ts";
import { messages, preferredLocales } from "../../html/messages/messages.ts";
import { consoleStylesheet } from "../../html/stylesheet.ts";
import type { Administrator } from "../../http/api/administrator-door.ts";
import type { ApiDoor, Operation } from "../../http/api/api-route.ts";
import { addressOf } from "../../http/client-address.ts";
import { CodedError } from "../../http/coded-error.ts";
import type { ErrorHandler } from "../../http/error-handlers.ts";
import { inOrganisation } from "../../http/organisation-lookup.ts";
import { newNonce, sendPage } from "../../http/page.ts";
import type { ManageNav } from "./manage-nav.ts";

/** One browser request at one organisation. */
export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What the sign-in gives to pages of other features. */
export interface SignInDoor {
  whoIsThere(visit: Visit): Promise<SignedIn | undefined>;
  formBinding(visit: Visit): { csrf: string };
  isOwnForm(visit: Visit, presented: string | undefined): boolean;
  signIn(visit: Visit, page: { place: "devices"; path: string }, prompt?: "login"): Promise<void>;
}

export type DeviceAdministrator = Administrator<Organisation, SystemAccountCaller>;

export interface ManageDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly door: SignInDoor;
  readonly programs: {
    readonly door: ApiDoor<DeviceAdministrator, Database>;
    /** For acts whose body is the same for every record: their plain signature would be good for another one. */
    readonly strictDoor: ApiDoor<DeviceAdministrator, Database>;
  };
  /** How programs and browsers are told of errors. */
  readonly errorHandlers: { readonly program: ErrorHandler; readonly page: ErrorHandler };
  describe(operation: Operation): void;
}

/** Below it, everything of device administration. */
export const MANAGE = "/devices/manage/:org";

export const managePath = ({ id }: Pick<Organisation, "id">, rest = ""): string =>
  `/devices/manage/${id}${rest}`;

/** A query of what is there; nothing for an empty one. */
export function queryText(values: Readonly<Record<string, string | undefined>>): string {
  const present = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return present.length === 0 ? "" : `?${new URLSearchParams(present as [string, string][])}`;
}

/**
 * Any administrator who is signed in. @param path where the browser comes back to after signing in
 * @returns undefined when the sign-in has been shown. @throws OAuthError 403 for everybody else
 */
export async function administratorHere(
  deps: ManageDeps,
  visit: Visit,
  path: string,
): Promise<SignedIn | undefined> {
  const signedIn = await deps.door.whoIsThere(visit);
  if (!signedIn) {
    await deps.door.signIn(visit, { place: "devices", path });
    return undefined;
  }
  if (signedIn.user.role === "Administrator") return signedIn;
  throw new OAuthError("access_denied", "Only administrators of the organisation can open this page.", {
    status: 403,
    reason: "administrators-only",
  });
}

/** One who may change something. @returns undefined when what the sign-in lacks has been shown */
export async function provenAdministrator(
  deps: ManageDeps,
  visit: Visit,
  path: string,
): Promise<SignedIn | undefined> {
  const signedIn = await administratorHere(deps, visit, path);
  const lacking = signedIn && (await lackingProof(deps.database.query, signedIn, deps.clock()));
  if (lacking === undefined) return signedIn;
  const page = { place: "devices", path } as const;
  await deps.door.signIn(visit, page, ...(lacking === "fresh-sign-in" ? (["login"] as const) : []));
  return undefined;
}

/** Who acts, and from where, as the audit log has it. */
export const actingOn = ({ organisation, request }: Visit, { user }: SignedIn) => ({
  orgId: organisation.id,
  actor: `user:${user.id}`,
  address: addressOf(request),
});

/** The organisation and the acting administrator, for a program's call. */
export const actingFor = ({ organisation, actor, address }: DeviceAdministrator) => ({
  orgId: organisation.id,
  actor,
  address,
});

/** In the transaction that keeps the answer, when there is one. */
export const inside = (deps: ManageDeps, within: Database | undefined): ManageDeps =>
  within ? { ...deps, database: within } : deps;

export function frameOf({ request, organisation }: Visit): PageFrame & { organisation: PageOrganisation } {
  const { name, settings } = organisation;
  const { accentColor, logoUri } = settings.branding;
  return {
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: consoleStylesheet.path,
    organisation: { name, accentColor, logoUri },
  };
}

export const navOf = ({ organisation }: Visit, current: ManageNav["current"]): ManageNav => ({
  current,
  listUri: managePath(organisation),
  policyUri: managePath(organisation, "/policy"),
});

export async function show({ reply }: Visit, { nonce }: PageFrame, page: Html, status = 200): Promise<void> {
  await sendPage(reply, render(page), { nonce, status });
}

export async function goTo({ reply }: Visit, path: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(path, 303);
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** One address for both: a page or a form of ours, and JSON. */
export function forBoth(
  app: FastifyInstance,
  deps: ManageDeps,
  operation: Operation,
  handlers: { program: Handler; page(visit: Visit): Promise<void> },
): void {
  deps.describe(operation);
  const page = pageHandler(deps, handlers.page);
  app.route({
    method: operation.method,
    url: operation.path,
    errorHandler: (error, request, reply) =>
      deps.errorHandlers[isProgram(request) ? "program" : "page"](error, request, reply),
    handler: (request, reply) => {
      reply.header("vary", "Accept, Authorization");
      if (!isProgram(request)) return page(request, reply);
      if (isForm(request)) throw new CodedError(415, "invalid_request", "a body of JSON is expected");
      return handlers.program(request, reply);
    },
  });
}

/** For browsers alone. */
export function pageHandler(deps: ManageDeps, handle: (visit: Visit) => Promise<void>): Handler {
  return inOrganisation<Organisation>(deps.organisations.find, async (visit) => {
    await handle(visit);
    return visit.reply;
  });
}

const isForm = ({ headers }: FastifyRequest): boolean =>
  /^application\/x-www-form-urlencoded\b/i.test(headers["content-type"] ?? "");

/** Who signs, or wants or sends JSON: the pages send forms, and browsers ask for pages. */
function isProgram(request: FastifyRequest): boolean {
  const { authorization, accept = "" } = request.headers;
  if (authorization !== undefined) return true;
  if (request.method !== "GET") return !isForm(request);
  return accept.includes("application/json") && !accept.includes("text/html");
}
