/** The error page of every browser route, in the name of the organisation and the application that it is about. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { ApplicationDirectory } from "../core/applications/applications.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { pageApplication, pageOrganisation } from "../features/oauth/authorize/browser.ts";
import { type ErrorView, errorPage } from "../html/error.page.ts";
import { render } from "../html/html.ts";
import { messages, preferredLocales } from "../html/messages/messages.ts";
import { stylesheet } from "../html/stylesheet.ts";
import type { RenderErrorPage } from "../http/error-handlers.ts";
import { queryOf } from "../http/form-body.ts";
import { newNonce, sendPage } from "../http/page.ts";

export interface ErrorPageDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly applications: Pick<ApplicationDirectory, "find" | "ofPublicId">;
}

export function errorPageRenderer(deps: ErrorPageDeps): RenderErrorPage {
  return async (request, reply, { status, message, reason }) => {
    const nonce = newNonce();
    // When the fault is ours, the database may be it: nothing is asked of it then.
    const parties = status < 500 ? await partiesOf(deps, request).catch(() => ({})) : {};
    const page = errorPage({
      messages: messages(preferredLocales(wishOf(request), request.headers["accept-language"])),
      nonce,
      stylesheet: stylesheet.path,
      status,
      requestId: request.id,
      message,
      reason,
      ...parties,
    });
    await sendPage(reply, render(page), { status, nonce });
  };
}

/** What the address names and we know: the registered name and home of an application, nothing that came in the request. */
async function partiesOf(
  { organisations, applications }: ErrorPageDeps,
  request: FastifyRequest,
): Promise<Pick<ErrorView, "organisation" | "application">> {
  const { org } = (request.params ?? {}) as { org?: string };
  if (org === undefined) return partiesOfFederation({ organisations, applications }, request);
  const organisation = isUuid(org) ? await organisations.find(org.toLowerCase()) : undefined;
  if (!organisation) return {};
  const clientId = idInQuery(request, "client_id");
  const application = clientId === undefined ? undefined : await applications.find(organisation.id, clientId);
  return {
    organisation: pageOrganisation(organisation),
    ...(application ? { application: pageApplication(application) } : {}),
  };
}

/** The legacy federation names an application and no organisation. */
async function partiesOfFederation(
  { organisations, applications }: ErrorPageDeps,
  request: FastifyRequest,
): Promise<Pick<ErrorView, "organisation" | "application">> {
  const appId = idInQuery(request, "appId");
  const application = appId === undefined ? undefined : await applications.ofPublicId(appId);
  const organisation = application && (await organisations.find(application.orgId));
  if (!application || !organisation) return {};
  return { organisation: pageOrganisation(organisation), application: pageApplication(application) };
}

function idInQuery(request: FastifyRequest, name: "client_id" | "appId"): string | undefined {
  const id = fromQuery(request, name);
  return id !== undefined && isUuid(id) ? id : undefined;
}

/** The languages that the application asked for. */
const wishOf = (request: FastifyRequest) => fromQuery(request, "ui_locales");

function fromQuery(request: FastifyRequest, name: string): string | undefined {
  try {
    return queryOf(request).values.get(name);
  } catch {
    // A malformed query may be what the page is about.
    return undefined;
  }
}
