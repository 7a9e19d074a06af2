/** Renders the error page of all browser routes, branded for the organisation and application that the URL names. */
import { isUuid } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import type { ApplicationDirectory } from "../core/applications/applications.ts";
import type { OrganisationDirectory } from "../core/organisations/organisations.ts";
import { pageApplication } from "../features/oauth/authorize/browser.ts";
import { type ErrorView, errorPage } from "../html/error.page.ts";
import { render } from "../html/html.ts";
import { messages, preferredLocales } from "../html/messages/messages.ts";
import { stylesheet } from "../html/stylesheet.ts";
import type { RenderErrorPage } from "../http/error-handlers.ts";
import { parseQuery } from "../http/form-body.ts";
import { newNonce, sendPage } from "../http/page.ts";
import { pageOrganisation } from "../page-kit/console-frame.ts";

export interface ErrorPageDeps {
  readonly organisations: Pick<OrganisationDirectory, "find">;
  readonly applications: Pick<ApplicationDirectory, "find" | "findByClientId">;
}

export function errorPageRenderer(deps: ErrorPageDeps): RenderErrorPage {
  return async (request, reply, { status, message, reason, code }) => {
    const nonce = newNonce();
    // On a server error the database may be the cause: it is not queried.
    const parties = status < 500 ? await requestParties(deps, request).catch(() => ({})) : {};
    const page = errorPage({
      messages: messages(
        preferredLocales(fromQuery(request, "ui_locales"), request.headers["accept-language"]),
      ),
      nonce,
      stylesheet: stylesheet.path,
      status,
      requestId: request.id,
      message,
      ...{ reason, code },
      ...parties,
    });
    await sendPage(reply, render(page), { status, nonce });
  };
}

/** The registered names of the organisation and application in the URL, nothing else from the request. */
async function requestParties(
  { organisations, applications }: ErrorPageDeps,
  request: FastifyRequest,
): Promise<Pick<ErrorView, "organisation" | "application">> {
  const { org = organisationInAddress(request) } = (request.params ?? {}) as { org?: string };
  if (org === undefined) return federationParties({ organisations, applications }, request);
  const organisation = isUuid(org) ? await organisations.find(org.toLowerCase()) : undefined;
  if (!organisation) return {};
  const clientId = idInQuery(request, "client_id");
  const application = clientId === undefined ? undefined : await applications.find(organisation.id, clientId);
  return {
    organisation: pageOrganisation(organisation),
    ...(application ? { application: pageApplication(application) } : {}),
  };
}

/** An address without a route has no parameters. */
const organisationInAddress = ({ url }: FastifyRequest): string | undefined =>
  /^\/oauth\/([\w-]{36})(?:[/?]|$)/.exec(url)?.[1];

/** The legacy federation names an application only. */
async function federationParties(
  { organisations, applications }: ErrorPageDeps,
  request: FastifyRequest,
): Promise<Pick<ErrorView, "organisation" | "application">> {
  const appId = idInQuery(request, "appId");
  const application = appId === undefined ? undefined : await applications.findByClientId(appId);
  const organisation = application && (await organisations.find(application.orgId));
  if (!application || !organisation) return {};
  return { organisation: pageOrganisation(organisation), application: pageApplication(application) };
}

function idInQuery(request: FastifyRequest, name: "client_id" | "appId"): string | undefined {
  const id = fromQuery(request, name);
  return id !== undefined && isUuid(id) ? id : undefined;
}

function fromQuery(request: FastifyRequest, name: string): string | undefined {
  try {
    return parseQuery(request).values.get(name);
  } catch {
    // The malformed query may be the error itself.
    return undefined;
  }
}
