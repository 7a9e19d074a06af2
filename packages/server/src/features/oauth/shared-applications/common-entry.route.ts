/**
 * GET and POST /oauth/common/authorize: the entry of an application that does not know its user's organisation yet (connections.md §7).
 * It only finds the organisation: its issuer is where the request goes on, unchanged.
 */
import { type Form, requireSingle } from "@signet/protocol/form";
import { isUuid } from "@signet/protocol/hash";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Application } from "../../../core/applications/application.ts";
import { issuerOf } from "../../../core/organisations/organisation.ts";
import {
  countAttempt,
  networkPrefix,
  RateLimited,
  rateLimitHeaders,
} from "../../../core/rate-limits/rate-limits.ts";
import { emailKey, isEmail } from "../../../core/users/user.ts";
import { type Html, render } from "../../../html/html.ts";
import type { PageFrame } from "../../../html/layout.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { NotFound } from "../../../http/errors.ts";
import { parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import { chosenLanguage, languageLinks } from "../../../page-kit/language-choice.ts";
import { type BrowserDeps, pageApplication, pageFormOptions } from "../authorize/browser.ts";
import { readTarget } from "../authorize/request/authorization-request.ts";
import {
  type ChooseFailure,
  chooseOrganisationPage,
  organisationSentPage,
} from "./choose-organisation.page.ts";
import { mailOrganisations, organisationOfDomain } from "./find-organisation.ts";
import { membershipsOfBrowser } from "./memberships.ts";

/** In the place of an organisation's id, which is a UUID: of the path, the cookie's name and the counter. */
const COMMON = "common";
const PATH = "/oauth/common/authorize";

export function commonEntryRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/oauth/common/authorize", async (request, reply) => {
    const entry = await readEntry(deps, request);
    const organisation = entry.query.get("organisation");
    if (organisation !== null) await redirectTo(reply, await issuerAt(deps, entry, organisation));
    else await chooseOrganisation(deps, request, reply, entry);
    return reply;
  });
  app.post("/oauth/common/authorize", pageFormOptions, async (request, reply) => {
    await findByEmail(deps, request, reply, await readEntry(deps, request));
    return reply;
  });
}

interface Entry {
  /** At its home. */
  readonly application: Application;
  /** The request as it came. */
  readonly query: URLSearchParams;
  readonly form: Form;
}

/** @throws OAuthError shown on a page: client and redirect URI first, as at an issuer */
async function readEntry(deps: BrowserDeps, request: FastifyRequest): Promise<Entry> {
  const form = parseQuery(request);
  requireSingle(form, ["organisation"]);
  const clientId = form.values.get("client_id") ?? "";
  const home = isUuid(clientId) ? await deps.applications.findByClientId(clientId) : undefined;
  const isOpen = home !== undefined && (await deps.organisations.find(home.orgId)) !== undefined;
  const { application } = await readTarget(deps, isOpen ? home.orgId : "", form, request);
  return { application, query: new URLSearchParams(request.url.slice(request.url.indexOf("?"))), form };
}

/** Where the request goes on: rest and order kept. */
function uriAt({ baseUrl }: BrowserDeps, { query }: Entry, orgId: string, email?: string): string {
  const rest = new URLSearchParams(query);
  rest.delete("organisation");
  if (email !== undefined) rest.set("login_hint", email);
  return `${issuerOf(baseUrl, orgId)}/authorize?${rest}`;
}

/** @throws NotFound for no organisation, as its issuer would answer */
async function issuerAt(deps: BrowserDeps, entry: Entry, asked: string): Promise<string> {
  const organisation = isUuid(asked) ? await deps.organisations.find(asked.toLowerCase()) : undefined;
  if (!organisation) throw new NotFound("organisation");
  return uriAt(deps, entry, organisation.id);
}

interface Shown {
  readonly email?: string;
  readonly error?: ChooseFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function chooseOrganisation(
  deps: BrowserDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
  { status = 200, ...shown }: Shown = {},
): Promise<void> {
  const found = await membershipsOfBrowser(deps, request, entry.application);
  const isSilent = entry.form.values.get("prompt")?.split(" ").includes("none") === true;
  // Without a page, the only one; else its home says that there is nobody (OpenID Connect Core §3.1.2.6).
  if (isSilent)
    return redirectTo(
      reply,
      uriAt(deps, entry, found.length === 1 ? (found[0]?.id ?? "") : entry.application.orgId),
    );
  const organisations = found.map(({ id, name }) => ({ id, name, uri: uriAt(deps, entry, id) }));
  const browser = deps.cookies.ensure(request, reply, COMMON);
  const frame = frameOf(request, entry);
  const page = chooseOrganisationPage({
    ...{ ...frame, ...shown, organisations },
    application: pageApplication(entry.application),
    action: `${PATH}?${entry.query}`,
    csrf: deps.csrf.token(COMMON, browser),
  });
  await send(reply, frame, page, status);
}

async function findByEmail(
  deps: BrowserDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  entry: Entry,
): Promise<void> {
  const { values, repeated, isSanitized } = parsedForm(request);
  const email = (values.get("email") ?? "").trim().slice(0, 300);
  const again = (shown: Shown) => chooseOrganisation(deps, request, reply, entry, { email, ...shown });
  const browser = deps.cookies.read(request, COMMON);
  const isOwn = deps.csrf.isOwn(request, COMMON, browser, values.get("csrf"));
  if (!isOwn || repeated.size > 0 || isSanitized === true)
    return again({ error: "session-expired", status: 403 });
  if (!isEmail(email)) return again({ error: "invalid-email", status: 422 });
  try {
    await countAttempt(deps, COMMON, [
      { limit: deps.rateLimits["recovery-address"], subject: networkPrefix(addressOf(request)) },
      { limit: deps.rateLimits["recovery-account"], subject: emailKey(email) },
    ]);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return again({ error: "rate-limited", status: 429, retryAfterSeconds });
  }
  const { application } = entry;
  const orgId = await organisationOfDomain(deps, application, email);
  if (orgId !== undefined) return redirectTo(reply, uriAt(deps, entry, orgId, email));
  if (!deps.outbox.isOpen) return again({ error: "no-mail" });
  const frame = frameOf(request, entry);
  await mailOrganisations(deps, application, {
    ...{ email, locale: frame.messages.locale, address: addressOf(request) },
    uriAt: (id) => uriAt(deps, entry, id, email),
  });
  const shown = { application: pageApplication(application), email, againUri: `${PATH}?${entry.query}` };
  await send(reply, frame, organisationSentPage({ ...frame, ...shown }));
}

const frameOf = (request: FastifyRequest, { form, query }: Entry): PageFrame => {
  const wanted = [chosenLanguage(request), form.values.get("ui_locales")?.slice(0, 200)];
  const locales = wanted.filter((locale) => locale).join(" ");
  return {
    messages: messages(preferredLocales(locales, request.headers["accept-language"])),
    nonce: newNonce(),
    stylesheet: stylesheet.path,
    languages: languageLinks(request, `${PATH}?${query}`),
  };
};

const send = (reply: FastifyReply, { nonce }: PageFrame, page: Html, status = 200): Promise<void> =>
  sendPage(reply, render(page), { nonce, status, redirectsElsewhere: true });

async function redirectTo(reply: FastifyReply, address: string): Promise<void> {
  await reply.header("cache-control", "no-store").redirect(address, 303);
}
