/**
 * One cookie per organisation: the organisation is part of its name, so that one browser can be signed in to several.
 * Its value is a random token whether somebody is signed in or not: before a sign-in it only binds the form's CSRF
 * token to the browser.
 */
import type {} from "@fastify/cookie";
import { randomSecret } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";

export interface SessionCookies {
  read(request: FastifyRequest, orgId: string): string | undefined;
  /** @param maxAgeSeconds without it the cookie ends with the browser */
  write(reply: FastifyReply, orgId: string, token: string, maxAgeSeconds?: number): void;
  /** The browser's token; one is given to a browser that has none. */
  ensure(request: FastifyRequest, reply: FastifyReply, orgId: string): string;
  clear(reply: FastifyReply, orgId: string): void;
}

const TOKEN = /^sgn_bs_[A-Za-z0-9_-]{43}$/;

export function sessionCookies(baseUrl: string): SessionCookies {
  const secure = baseUrl.startsWith("https:");
  // The prefix makes browsers refuse the cookie from a subdomain or over http (RFC 6265bis §4.1.3.2).
  const nameOf = (orgId: string) => `${secure ? "__Host-" : ""}signet-${orgId}`;
  const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;

  const read = (request: FastifyRequest, orgId: string) => {
    const value = request.cookies[nameOf(orgId)];
    return value !== undefined && TOKEN.test(value) ? value : undefined;
  };
  const write = (reply: FastifyReply, orgId: string, token: string, maxAgeSeconds?: number) => {
    const maxAge = maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds };
    reply.setCookie(nameOf(orgId), token, { ...attributes, ...maxAge });
  };
  return {
    read,
    write,
    ensure: (request, reply, orgId) => {
      const present = read(request, orgId);
      if (present !== undefined) return present;
      const token = randomSecret("sgn_bs_");
      write(reply, orgId, token);
      return token;
    },
    clear: (reply, orgId) => {
      reply.clearCookie(nameOf(orgId), attributes);
    },
  };
}
