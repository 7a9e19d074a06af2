/** Sends a page with its security headers and a nonce for its one style element. */
import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";

export const newNonce = (): string => randomBytes(18).toString("base64");

export interface SentPage {
  readonly status?: number;
  readonly nonce: string;
  /**
   * The form of the page redirects to an application after its POST. Browsers check every redirect against
   * `form-action`, and where the application redirects next is unknown: such a page has no `form-action`.
   */
  readonly redirectsElsewhere?: boolean;
  /** The page embeds another document of ours in a frame. */
  readonly hasFrame?: boolean;
}

/** Pages are personal and never cached. */
export async function sendPage(reply: FastifyReply, body: string, page: SentPage): Promise<void> {
  await reply
    .code(page.status ?? 200)
    .headers({
      "content-security-policy": contentSecurityPolicy(page),
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY",
      "cross-origin-opener-policy": "same-origin",
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=()",
    })
    .type("text/html; charset=utf-8")
    .send(body);
}

function contentSecurityPolicy({ nonce, redirectsElsewhere = false, hasFrame = false }: SentPage): string {
  return [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    ...(redirectsElsewhere ? [] : ["form-action 'self'"]),
    ...(hasFrame ? ["frame-src 'self'"] : []),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** A document to embed in one of our pages: sandboxed in its own origin, without scripts, forms or subresources. */
export async function sendEmbeddedDocument(reply: FastifyReply, body: string): Promise<void> {
  await reply
    .headers({
      "content-security-policy":
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'; base-uri 'none'; form-action 'none'; sandbox",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "SAMEORIGIN",
    })
    .type("text/html; charset=utf-8")
    .send(body);
}
