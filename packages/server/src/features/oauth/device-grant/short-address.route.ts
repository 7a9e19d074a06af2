/**
 * GET and POST /device: a short address for a person with a code and no link. The code decides which organisation's page comes
 * next; nothing else is told about it. Wrong codes are counted for the network, as on the organisation's own page.
 */
import { requireSingle } from "@signet/protocol/form";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { readUserCode } from "../../../core/device-authorizations/device-authorization.ts";
import { findOrganisationsByUserCode } from "../../../core/device-authorizations/device-authorizations.store.ts";
import type { Organisation } from "../../../core/organisations/organisation.ts";
import { checkGuess } from "../../../core/rate-limits/attempts.ts";
import { networkPrefix, RateLimited, rateLimitHeaders } from "../../../core/rate-limits/rate-limits.ts";
import { render } from "../../../html/html.ts";
import { messages, preferredLocales } from "../../../html/messages/messages.ts";
import { stylesheet } from "../../../html/stylesheet.ts";
import { type PageForm, parsedForm, parseQuery } from "../../../http/form-body.ts";
import { addressOf } from "../../../http/listeners/client-address.ts";
import { newNonce, sendPage } from "../../../http/page.ts";
import { type BrowserDeps, pageFormOptions } from "../authorize/browser.ts";
import { type CodeFailure, codePage } from "./verify.page.ts";
import { readUserCodeField, verifyPath } from "./verify.route.ts";

/** In the place of an organisation's ID, which is a UUID: of the cookie's name, and of the counter. */
const NO_ORGANISATION = "device";

export function shortAddressRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  app.get("/device", async (request, reply) => {
    const query = parseQuery(request);
    requireSingle(query);
    await showCodeForm(deps, request, reply, { input: readUserCodeField(query) });
    return reply;
  });
  app.post("/device", pageFormOptions, async (request, reply) => {
    await findPage(deps, request, reply, parsedForm(request));
    return reply;
  });
}

async function findPage(
  deps: BrowserDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  form: PageForm,
): Promise<void> {
  const input = readUserCodeField(form);
  const page = { input };
  if (!isOwnForm(deps, request, form))
    return showCodeForm(deps, request, reply, { ...page, error: "session-expired", status: 403 });
  try {
    const found = await findOrganisation(deps, request, input);
    if (!found) return showCodeForm(deps, request, reply, { ...page, error: "wrong-code", status: 400 });
    const { organisation, userCode } = found;
    await reply.header("cache-control", "no-store").redirect(verifyPath(organisation, userCode), 303);
  } catch (error) {
    if (!(error instanceof RateLimited)) throw error;
    const { retryAfterSeconds } = error;
    reply.headers({ ...rateLimitHeaders(error), "retry-after": String(retryAfterSeconds) });
    return showCodeForm(deps, request, reply, {
      ...page,
      error: "rate-limited",
      status: 429,
      retryAfterSeconds,
    });
  }
}

/** A page of another site must not count wrong codes for its visitors. */
function isOwnForm(deps: BrowserDeps, request: FastifyRequest, form: PageForm): boolean {
  const browser = deps.cookies.read(request, NO_ORGANISATION);
  return (
    form.repeated.size === 0 &&
    form.isSanitized !== true &&
    deps.csrf.isOwn(request, NO_ORGANISATION, browser, form.values.get("csrf"))
  );
}

/**
 * @returns undefined for an unknown or expired code, and in the rare case that two organisations have the same
 * @throws RateLimited after too many wrong codes from one network
 */
async function findOrganisation(
  deps: BrowserDeps,
  request: FastifyRequest,
  input: string,
): Promise<{ organisation: Organisation; userCode: string } | undefined> {
  const counted = { limit: deps.rateLimits["user-code"], subject: networkPrefix(addressOf(request)) };
  return checkGuess(
    deps,
    NO_ORGANISATION,
    [counted],
    () => findByCode(deps, input),
    (found) => found !== undefined,
  );
}

async function findByCode(
  { database, clock, organisations }: BrowserDeps,
  input: string,
): Promise<{ organisation: Organisation; userCode: string } | undefined> {
  const code = readUserCode(input);
  if (!code) return undefined;
  const { hash, userCode } = code;
  const found = await findOrganisationsByUserCode(database.query, { hash, now: clock() });
  const [orgId] = found;
  const organisation =
    orgId !== undefined && found.length === 1 ? await organisations.find(orgId) : undefined;
  return organisation && { organisation, userCode };
}

interface CodeForm {
  readonly input: string;
  readonly error?: CodeFailure;
  readonly status?: number;
  readonly retryAfterSeconds?: number;
}

async function showCodeForm(
  deps: BrowserDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  { input, status = 200, ...failure }: CodeForm,
): Promise<void> {
  const nonce = newNonce();
  const browser = deps.cookies.ensure(request, reply, NO_ORGANISATION);
  const page = codePage({
    ...failure,
    messages: messages(preferredLocales(undefined, request.headers["accept-language"])),
    nonce,
    stylesheet: stylesheet.path,
    action: "/device",
    csrf: deps.csrf.token(NO_ORGANISATION, browser),
    userCode: input,
  });
  await sendPage(reply, render(page), { nonce, status });
}
