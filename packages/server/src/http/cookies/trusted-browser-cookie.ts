/**
 * The cookie of a trusted browser, which skips the second factor: one per organisation. It counts only after the
 * right password.
 */
import type {} from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface TrustedBrowserCookies {
  read(request: FastifyRequest, orgId: string): string | undefined;
  write(reply: FastifyReply, orgId: string, token: string, maxAgeSeconds: number): void;
}

const TOKEN = /^sgn_rd_[A-Za-z0-9_-]{43}$/;

export function trustedBrowserCookies(baseUrl: string): TrustedBrowserCookies {
  const secure = baseUrl.startsWith("https:");
  const nameOf = (orgId: string) => `${secure ? "__Host-" : ""}signet-device-${orgId}`;
  return {
    read: (request, orgId) => {
      const value = request.cookies[nameOf(orgId)];
      return value !== undefined && TOKEN.test(value) ? value : undefined;
    },
    write: (reply, orgId, token, maxAgeSeconds) => {
      const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
      reply.setCookie(nameOf(orgId), token, { ...attributes, maxAge: maxAgeSeconds });
    },
  };
}
