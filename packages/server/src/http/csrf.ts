/** CSRF protection: the origin of a POST, and a token bound to the browser's session cookie. */
import type { FastifyRequest } from "fastify";

/** For requests with JSON or without a body: it carries the token that a form has in a field. */
export const CSRF_HEADER = "x-csrf-token";

/** As `core/encryption/macs.ts` makes them, under keys for this purpose only: every node makes the same tokens. */
interface Macs {
  of(text: string): string;
  isOf(text: string, presented: string): boolean;
}

export interface Csrf {
  /** The token of a form, bound to the organisation and the browser's cookie. */
  token(orgId: string, browserToken: string): string;
  /** Whether a POST comes from a page rendered for this browser. */
  isOwn(
    request: FastifyRequest,
    orgId: string,
    browserToken: string | undefined,
    presented: string | undefined,
  ): boolean;
  /** Whether the request is same-origin as far as the browser tells. */
  isSameOrigin(request: FastifyRequest): boolean;
}

export function csrf(macs: Macs, baseUrl: string): Csrf {
  const origin = new URL(baseUrl).origin;
  const subject = (orgId: string, browserToken: string) => `${orgId}|${browserToken}`;
  return {
    token: (orgId, browserToken) => macs.of(subject(orgId, browserToken)),
    isSameOrigin: (request) => isSameOrigin(request, origin),
    isOwn: (request, orgId, browserToken, presented) =>
      browserToken !== undefined &&
      presented !== undefined &&
      isSameOrigin(request, origin) &&
      macs.isOf(subject(orgId, browserToken), presented),
  };
}

/**
 * Browsers send `Sec-Fetch-Site`; older ones only `Origin`, which is `null` for our forms because our pages send no
 * referrer. Without either, the token alone decides.
 */
function isSameOrigin(request: FastifyRequest, origin: string): boolean {
  const site = request.headers["sec-fetch-site"];
  if (site !== undefined) return site === "same-origin";
  const from = request.headers.origin;
  return from === undefined || from === "null" || from === origin;
}
