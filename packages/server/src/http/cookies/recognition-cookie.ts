/**
 * A cookie that a browser is known again by, long after its sessions have ended: one per organisation, random, no
 * credential of any kind. All that knowing it spares is the mail about a sign-in with a browser not seen before.
 */
import type {} from "@fastify/cookie";
import { randomSecret } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface RecognitionCookies {
  /** The browser's token, kept for as long as browsers keep cookies; one is given to a browser that has none. */
  renew(request: FastifyRequest, reply: FastifyReply, orgId: string): string;
}

const TOKEN = /^sgn_kb_[A-Za-z0-9_-]{43}$/;
/** RFC 6265bis §5.6.1: no cookie lives longer. */
const MAX_AGE_SECONDS = 400 * 86_400;

export function recognitionCookies(baseUrl: string): RecognitionCookies {
  const secure = baseUrl.startsWith("https:");
  const nameOf = (orgId: string) => `${secure ? "__Host-" : ""}signet-known-${orgId}`;
  return {
    renew: (request, reply, orgId) => {
      const present = request.cookies[nameOf(orgId)];
      const token = present !== undefined && TOKEN.test(present) ? present : randomSecret("sgn_kb_");
      const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
      reply.setCookie(nameOf(orgId), token, { ...attributes, maxAge: MAX_AGE_SECONDS });
      return token;
    },
  };
}
