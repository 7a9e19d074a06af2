/**
 * The language that somebody chose at the foot of a page: a cookie, which outranks what the browser and the application say. It is
 * no secret, and says nothing about who has it.
 */
import type {} from "@fastify/cookie";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { linkAddress } from "../html/html.ts";
import type { LanguageLinks } from "../html/layout.ts";
import { languageName } from "../html/messages/language-name.ts";
import { LOCALES } from "../html/messages/messages.ts";
import { parseQuery } from "../http/form-body.ts";

const COOKIE = "signet-language";
const YEAR_SECONDS = 365 * 86_400;

/** One that there are no texts in is passed over like a browser's. */
export const chosenLanguage = ({ cookies }: Pick<FastifyRequest, "cookies">): string | undefined =>
  cookies[COOKIE];

/** Every page of the scope reads the choice as the browser's first language (RFC 9110 §12.5.4). */
export function readLanguageChoice(scope: FastifyInstance): void {
  scope.addHook("preHandler", async (request) => {
    const chosen = chosenLanguage(request);
    if (chosen === undefined) return;
    const { "accept-language": accepted = "" } = request.headers;
    request.headers["accept-language"] = `${chosen},${accepted}`;
  });
}

/** GET /language/:locale?to=: keeps the choice, and goes back to a page of this server. */
export function languageRoute(scope: FastifyInstance, { baseUrl }: { baseUrl: string }): void {
  scope.get("/language/:locale", async (request, reply) => {
    const { locale } = request.params as { locale: string };
    if (!LOCALES.includes(locale)) return reply.callNotFound();
    const secure = baseUrl.startsWith("https:");
    reply.setCookie(COOKIE, locale, {
      path: "/",
      httpOnly: true,
      sameSite: "lax",
      secure,
      maxAge: YEAR_SECONDS,
    });
    await reply.header("cache-control", "no-store").redirect(returnPath(request, baseUrl), 303);
    return reply;
  });
}

/** A path of this server; anything else leads to its start. */
function returnPath(request: FastifyRequest, baseUrl: string): string {
  const to = parseQuery(request).values.get("to") ?? "/";
  const path = to.startsWith("/") ? linkAddress(to) : undefined;
  if (path === undefined || !URL.canParse(path, baseUrl)) return "/";
  const { origin, pathname, search } = new URL(path, baseUrl);
  // Again: `/.//elsewhere` is `//elsewhere` once its dots are resolved, which names another server.
  return (origin === new URL(baseUrl).origin && linkAddress(pathname + search)) || "/";
}

/**
 * The pages that offer their languages: their own address is in the links. The addresses of other pages are secret (links of
 * mails) or name a record.
 */
const OFFERING = new Set([
  "/oauth/common/authorize",
  "/oauth/:org/authorize",
  "/oauth/:org/break-glass",
  "/oauth/:org/consent",
  "/oauth/:org/recovery",
  "/oauth/:org/device/verify",
]);

/** @param again where a page that answers a form goes on, or begins: no address brings back what was posted */
export function languageLinks(
  { method, url, routeOptions }: Pick<FastifyRequest, "method" | "url" | "routeOptions">,
  again?: string,
): LanguageLinks | undefined {
  if (!OFFERING.has(routeOptions.url ?? "")) return undefined;
  const path = method === "GET" ? url : again;
  return path === undefined ? undefined : languageLinksTo(path);
}

/** @param path where the page comes back */
export function languageLinksTo(path: string): LanguageLinks {
  const query = new URLSearchParams({ to: path });
  return LOCALES.map((locale) => ({
    locale,
    name: languageName(locale),
    uri: `/language/${locale}?${query}`,
  }));
}
