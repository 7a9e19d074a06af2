/** Sends a page with its security headers and a nonce for its one style element. */
import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";
import { PAGE_CHALLENGE } from "./challenge.ts";
import { sendBytes } from "./send-bytes.ts";

export const newNonce = (): string => randomBytes(18).toString("base64");

export interface SentPage {
  readonly status?: number;
  readonly nonce: string;
  /**
   * The page is a step of an application's request, and what follows it may be a redirect to the application. Two headers
   * are the application's then:
   * - Browsers check every redirect after a POST against `form-action`, and where the application redirects next is unknown:
   *   the page has none.
   * - The application may have opened the page in a window of its own (`window.open`) that it hears from at the end:
   *   `Cross-Origin-Opener-Policy: same-origin` would cut that for good, in the application's own pages too. An opener
   *   reads nothing of the page; it can navigate the window, which leaves the page.
   */
  readonly redirectsElsewhere?: boolean;
  /** Its form may lead to an identity provider, by redirects that browsers check against `form-action`: the page has none. */
  readonly leadsUpstream?: boolean;
  /** The page embeds another document of ours in a frame. */
  readonly hasFrame?: boolean;
  /** The page's stylesheet has a font: the console's. */
  readonly hasFont?: boolean;
}

/**
 * Pages are personal and never cached.
 * @param body as bytes where it is the same for everyone
 */
export async function sendPage(reply: FastifyReply, body: string | Buffer, page: SentPage): Promise<void> {
  reply
    .code(page.status ?? 200)
    .headers({
      ...(page.status === 401 ? PAGE_CHALLENGE : {}),
      "content-security-policy": contentSecurityPolicy(page),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": page.redirectsElsewhere === true ? "unsafe-none" : "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    })
    .type("text/html; charset=utf-8");
  await (typeof body === "string" ? reply.send(body) : sendBytes(reply, body));
}

function contentSecurityPolicy({
  nonce,
  redirectsElsewhere = false,
  leadsUpstream = false,
  hasFrame = false,
  hasFont = false,
}: SentPage): string {
  return [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "script-src 'self'",
    "img-src 'self' data:",
    ...(hasFont ? ["font-src 'self'"] : []),
    "connect-src 'self'",
    ...(redirectsElsewhere || leadsUpstream ? [] : ["form-action 'self'"]),
    ...(hasFrame ? ["frame-src 'self'"] : []),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/**
 * A document to embed in one of our pages: sandboxed in its own origin, without scripts, forms or subresources.
 * @param isOurPage has our stylesheet and images in `data:` URLs. These need our origin, in which it still runs nothing
 */
export async function sendEmbeddedDocument(
  reply: FastifyReply,
  body: string,
  { isOurPage = false }: { readonly isOurPage?: boolean } = {},
): Promise<void> {
  const sources = isOurPage
    ? "style-src 'self' 'unsafe-inline'; img-src 'self' data:"
    : "style-src 'unsafe-inline'";
  const sandbox = isOurPage ? "sandbox allow-same-origin" : "sandbox";
  await reply
    .headers({
      "content-security-policy": `default-src 'none'; ${sources}; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; ${sandbox}`,
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "SAMEORIGIN",
    })
    .type("text/html; charset=utf-8")
    .send(body);
}
