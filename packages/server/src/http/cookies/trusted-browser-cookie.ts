/**
 * The cookie of a remembered browser: one per organisation, beside the session's. It opens nothing by itself: it is looked
 * at after the right password.
 */
import type {} from "@fastify/cookie";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface DeviceCookies {
  read(request: FastifyRequest, orgId: string): string | undefined;
  write(reply: FastifyReply, orgId: string, token: string, maxAgeSeconds: number): void;
}

const TOKEN = /^sgn_rd_[A-Za-z0-9_-]{43}$/;

export function deviceCookies(baseUrl: string): DeviceCookies {
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
