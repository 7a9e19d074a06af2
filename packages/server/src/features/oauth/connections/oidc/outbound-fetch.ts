/** The `fetch` of openid-client: every request of its goes through the guard of outbound calls. */
import type { CustomFetch } from "openid-client";
import type { Outbound } from "../../../../core/outbound/outbound.ts";

/** @param orgId whose identity provider it is. No redirect is followed: openid-client asks for that, and so do the rules. */
export const outboundFetch =
  (outbound: Outbound, orgId: string): CustomFetch =>
  async (url, { method, headers, body }) => {
    const {
      status,
      contentType,
      body: received,
    } = await outbound.call(orgId, url, {
      method: method === "POST" ? "POST" : "GET",
      headers: { ...Object.fromEntries(new Headers(headers)) },
      ...(body === undefined || body === null ? {} : { body: String(body) }),
    });
    // A `Response` of these statuses has no body.
    const isEmpty = [101, 204, 205, 304].includes(status);
    return new Response(isEmpty ? null : new Uint8Array(received), {
      status: status < 200 ? 502 : status,
      headers: { "content-type": contentType },
    });
  };
