/** Sending a page: its security headers, and a nonce for the one style element that a page may have. */
import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";

export const newNonce = (): string => randomBytes(18).toString("base64");

export interface SentPage {
  readonly status?: number;
  readonly nonce: string;
  /**
   * A form of the page ends at an application, by redirects after its POST. Browsers hold every one of these redirects
   * against `form-action`, and where an application sends its users on to is not ours to know: such a page has none.
   */
  readonly leadsAway?: boolean;
  /** It shows another document of ours in a frame. */
  readonly hasFrame?: boolean;
}

/** Every page is made for one person at one moment, and is kept by no cache. */
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

function contentSecurityPolicy({ nonce, leadsAway = false, hasFrame = false }: SentPage): string {
  return [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    ...(leadsAway ? [] : ["form-action 'self'"]),
    ...(hasFrame ? ["frame-src 'self'"] : []),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/**
 * A document to be looked at in a frame of one of our pages. Whatever is in it: no script runs, no form is sent, nothing is
 * loaded, and it has an origin of its own.
 */
export async function sendShownDocument(reply: FastifyReply, body: string): Promise<void> {
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
