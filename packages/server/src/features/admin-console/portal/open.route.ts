/** GET and POST /portal/{token}: mail scanners follow links, so that GET opens nothing, and uses nothing up. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type PortalLink, VISIT_LIFETIME_MS } from "../../../core/portal-links/portal-link.ts";
import { findLink, openPortalLink } from "../../../core/portal-links/portal-links.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { parsedForm } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { newNonce } from "../../../http/page.ts";
import { pageOrganisation } from "../../../page-kit/console-frame.ts";
import { chosenLanguage } from "../../../page-kit/language-choice.ts";
import { type ConsoleDeps, consolePath, redirectTo, show, type Visit } from "../../../page-kit/page.ts";
import { PORTAL } from "../../../page-kit/portal-visit.ts";
import { brokenPortalPage, openPortalPage, type PortalPageFrame, portalEndedPage } from "./open.page.ts";

export function openPortalRoutes(app: FastifyInstance, deps: ConsoleDeps): void {
  const options = { errorHandler: deps.showError, config: { sanitizesForms: true } };
  app.get("/portal", options, (request, reply) => showEnded(request, reply));
  app.get("/portal/:token", options, (request, reply) => showLink(deps, request, reply));
  app.post("/portal/:token", options, (request, reply) => openLink(deps, request, reply));
}

interface FoundLink {
  readonly visit: Visit;
  readonly link: PortalLink;
  /** It can be opened: of several at once, one still is the first. */
  readonly isUsable: boolean;
  readonly token: string;
}

/** Undefined for an unknown token, and where its organisation is disabled. */
async function find(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FoundLink | undefined> {
  const { token = "" } = request.params as { token?: string };
  const found = /^sgn_pl_[\w-]{43}$/.test(token) ? await findLink(deps, token) : undefined;
  const organisation = found && (await deps.organisations.find(found.link.orgId));
  return found && organisation && { ...found, visit: { organisation, request, reply }, token };
}

export function portalPageFrame(request: FastifyRequest, visit: Visit | undefined): PortalPageFrame {
  const locales = preferredLocales(
    chosenLanguage(request),
    request.headers["accept-language"],
    visit?.organisation.settings.defaultLocale,
  );
  return {
    messages: messages(locales),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
    ...(visit && { organisation: pageOrganisation(visit.organisation) }),
  };
}

async function showLink(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const found = await find(deps, request, reply);
  if (found?.isUsable) await showButton(deps, found, {});
  else await showBroken(request, reply, found);
  return reply;
}

async function showButton(
  deps: ConsoleDeps,
  { visit, link, token }: FoundLink,
  { isExpired = false }: { readonly isExpired?: boolean },
): Promise<void> {
  const frame = portalPageFrame(visit.request, visit);
  const page = openPortalPage(frame, {
    ...{ purposes: link.purposes, minutes: VISIT_LIFETIME_MS / 60_000, isExpired },
    organisation: visit.organisation.name,
    csrf: deps.browserSession.formBinding(visit).csrf,
    action: `/portal/${token}`,
  });
  await show(visit, frame, page, isExpired ? 403 : 200);
}

async function showEnded(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const frame = portalPageFrame(request, undefined);
  await show({ request, reply } as Visit, frame, portalEndedPage(frame));
  return reply;
}

/** The same for every link that opens nothing more, but for its status: an unknown one is 404. */
async function showBroken(
  request: FastifyRequest,
  reply: FastifyReply,
  found: FoundLink | undefined,
): Promise<void> {
  const frame = portalPageFrame(request, found?.visit);
  await show({ request, reply } as Visit, frame, brokenPortalPage(frame), found ? 410 : 404);
}

async function openLink(
  deps: ConsoleDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const found = await find(deps, request, reply);
  if (!found?.isUsable) {
    await showBroken(request, reply, found);
    return reply;
  }
  const { visit, token } = found;
  const { organisation } = visit;
  const { values, isSanitized } = parsedForm(request);
  // Nobody is brought into an organisation's pages by another site's form.
  if (isSanitized || !deps.browserSession.hasValidCsrfToken(visit, values.get("csrf"))) {
    await showButton(deps, found, { isExpired: true });
    return reply;
  }
  const opened = await openPortalLink(deps, {
    ...{ orgId: organisation.id, token, address: addressOf(request) },
  });
  if (opened) {
    deps.browserSession.portalCookie.write(visit, opened.session, VISIT_LIFETIME_MS / 1_000);
    await redirectTo(visit, consolePath(organisation, PORTAL));
  } else await showBroken(request, reply, found);
  return reply;
}
