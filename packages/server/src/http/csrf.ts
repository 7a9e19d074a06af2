/** Cross-site request forgery: where a POST comes from, and a token bound to the browser's session cookie. */
import { createHmac } from "node:crypto";
import { constantTimeEqual } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";

/** For requests with JSON or without a body: it carries the token that a form has in a field. */
export const CSRF_HEADER = "x-csrf-token";

export interface Csrf {
  /** The token for a form, bound to the organisation and the browser's cookie. */
  token(orgId: string, browserToken: string): string;
  /** Whether a POST comes from a page of ours that was made for this browser. */
  isOwn(
    request: FastifyRequest,
    orgId: string,
    browserToken: string | undefined,
    presented: string | undefined,
  ): boolean;
  /** Whether the browser says that a page of ours made the request, or says nothing. */
  isSameOrigin(request: FastifyRequest): boolean;
}

/** @param key derived from the master key for this purpose, so that every node makes the same tokens */
export function csrf(key: Buffer, baseUrl: string): Csrf {
  const origin = new URL(baseUrl).origin;
  const token = (orgId: string, browserToken: string) =>
    createHmac("sha256", key).update(`${orgId}|${browserToken}`).digest("base64url");
  return {
    token,
    isSameOrigin: (request) => isSameOrigin(request, origin),
    isOwn: (request, orgId, browserToken, presented) =>
      browserToken !== undefined &&
      presented !== undefined &&
      isSameOrigin(request, origin) &&
      constantTimeEqual(token(orgId, browserToken), presented),
  };
}

/**
 * Browsers say where a request comes from in `Sec-Fetch-Site`; older ones only in `Origin`, which is `null` for our own
 * forms because our pages send no referrer. What says neither is left to the token.
 */
function isSameOrigin(request: FastifyRequest, origin: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const from = request.headers.origin;
  return from === undefined || from === "null" || from === origin;
}
