/** Sending a page: its security headers, and a nonce for the one style element that a page may have. */
import { randomBytes } from "node:crypto";
import type { FastifyReply } from "fastify";

export const newNonce = (): string => randomBytes(18).toString("base64");

export interface SentPage {
  readonly status?: number;
  readonly nonce: string;
  /** CSP sources beside our own that a form of the page may lead to: also where its POST is redirected. */
  readonly formTargets?: readonly string[];
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

function contentSecurityPolicy({ nonce, formTargets = [] }: SentPage): string {
  return [
    "default-src 'none'",
    `style-src 'self' 'nonce-${nonce}'`,
    "script-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `form-action ${["'self'", ...formTargets].join(" ")}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; ");
}
