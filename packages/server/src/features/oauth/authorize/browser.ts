/** What every browser step shares: who is there, the page's frame, and the form's seal. */
import { OAuthError } from "@signet/protocol/oauth-error";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import type { ApplicationDirectory } from "../../../core/applications/applications.ts";
import type { Clock } from "../../../core/clock.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import type { OrganisationDirectory } from "../../../core/organisations/organisations.ts";
import type { SignedIn } from "../../../core/sessions/session.ts";
import { findSignedIn } from "../../../core/sessions/sessions.ts";
import type { SigningKeys } from "../../../core/signing-keys/signing-keys.ts";
import type { Database } from "../../../db/open.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageApplication, PageFrame, PageOrganisation } from "../../../html/layout.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import type { Csrf } from "../../../http/csrf.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import type { SessionCookies } from "../../../http/session-cookie.ts";
import type { Flow, Flows } from "./flow.ts";

export interface BrowserDeps {
  readonly baseUrl: string;
  readonly database: Database;
  readonly clock: Clock;
  readonly organisations: OrganisationDirectory;
  readonly applications: ApplicationDirectory;
  readonly keys: SigningKeys;
  readonly cookies: SessionCookies;
  readonly csrf: Csrf;
  readonly flows: Flows;
}

/** One browser request at one organisation. */
export interface Visit {
  readonly organisation: Organisation;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function whoIsThere(
  deps: BrowserDeps,
  { organisation, request }: Visit,
): Promise<SignedIn | undefined> {
  return findSignedIn(deps, organisation, deps.cookies.read(request, organisation.id));
}

export function csrfToken(deps: BrowserDeps, { organisation, request, reply }: Visit): string {
  return deps.csrf.token(organisation.id, deps.cookies.ensure(request, reply, organisation.id));
}

export function isOwnForm(
  deps: BrowserDeps,
  { organisation, request }: Visit,
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
  );
}

export function pageFrame({ request }: Visit, uiLocales?: string): PageFrame {
  return {
    messages: messages(preferredLocales(uiLocales, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
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
