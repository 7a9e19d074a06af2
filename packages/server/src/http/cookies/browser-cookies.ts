/** The cookies of the browser flow. Each belongs to one organisation, whose id is part of its name. */
import type {} from "@fastify/cookie";
import { randomSecret } from "@signet/protocol/hash";
import type { FastifyReply, FastifyRequest } from "fastify";

/** @param maxAgeSeconds default: until the browser closes */
type WriteCookie = (reply: FastifyReply, orgId: string, token: string, maxAgeSeconds?: number) => void;

interface TokenCookie {
  /** The token; undefined for anything that is not one of ours. */
  read(request: FastifyRequest, orgId: string): string | undefined;
  readonly write: WriteCookie;
  clear(reply: FastifyReply, orgId: string): void;
}

/** @param prefix of the token, e.g. `sgn_bs_` */
function tokenCookie(baseUrl: string, name: string, prefix: string): TokenCookie {
  const secure = baseUrl.startsWith("https:");
  // With this prefix browsers reject the cookie from a subdomain or over http (RFC 6265bis §4.1.3.2).
  const nameOf = (orgId: string) => `${secure ? "__Host-" : ""}${name}-${orgId}`;
  const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
  const tokenPattern = new RegExp(`^${prefix}[A-Za-z0-9_-]{43}$`);
  return {
    read: (request, orgId) => {
      const value = request.cookies[nameOf(orgId)];
      return value !== undefined && tokenPattern.test(value) ? value : undefined;
    },
    write: (reply, orgId, token, maxAgeSeconds) => {
      const maxAge = maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds };
      reply.setCookie(nameOf(orgId), token, { ...attributes, ...maxAge });
    },
    clear: (reply, orgId) => void reply.clearCookie(nameOf(orgId), attributes),
  };
}

export interface SessionCookies extends TokenCookie {
  /** The browser's token; created for a browser without one. */
  ensure(request: FastifyRequest, reply: FastifyReply, orgId: string): string;
}

/**
 * One browser can be signed in to several organisations. Every browser gets a random token: before the sign-in it only binds
 * CSRF tokens to the browser.
 */
export function sessionCookies(baseUrl: string): SessionCookies {
  const cookie = tokenCookie(baseUrl, "signet", "sgn_bs_");
  return {
    ...cookie,
    ensure: (request, reply, orgId) => {
      const present = cookie.read(request, orgId);
      if (present !== undefined) return present;
      const token = randomSecret("sgn_bs_");
      cookie.write(reply, orgId, token);
      return token;
    },
  };
}

/** Shows that the key which a session is bound to was used lately; worth nothing without the session's own cookie. */
export interface SessionProofCookies extends TokenCookie {
  /** As browsers are told of it, with the attributes that it is set with. */
  described(orgId: string): { readonly name: string; readonly attributes: string };
}

export function sessionProofCookies(baseUrl: string): SessionProofCookies {
  const secure = baseUrl.startsWith("https:");
  return {
    ...tokenCookie(baseUrl, "signet-bound", "sgn_sb_"),
    described: (orgId) => ({
      name: `${secure ? "__Host-" : ""}signet-bound-${orgId}`,
      attributes: `Path=/; ${secure ? "Secure; " : ""}HttpOnly; SameSite=Lax`,
    }),
  };
}

export interface RecognitionCookies {
  /** The browser's token, if it has one. */
  read(request: FastifyRequest, orgId: string): string | undefined;
  /** The browser's token, renewed for the longest lifetime a cookie has; created for a new browser. */
  renew(request: FastifyRequest, reply: FastifyReply, orgId: string): string;
}

/** RFC 6265bis §5.6.1: no cookie lives longer. */
const MAX_AGE_SECONDS = 400 * 86_400;

/**
 * Recognises a browser long after its sessions have ended; not a credential. A recognised browser gets no mail about a
 * sign-in from a new browser.
 */
export function recognitionCookies(baseUrl: string): RecognitionCookies {
  const cookie = tokenCookie(baseUrl, "signet-known", "sgn_kb_");
  return {
    read: cookie.read,
    renew: (request, reply, orgId) => {
      const token = cookie.read(request, orgId) ?? randomSecret("sgn_kb_");
      cookie.write(reply, orgId, token, MAX_AGE_SECONDS);
      return token;
    },
  };
}

/** Of an authorization request that waits for an administrator to allow the application; no credential, and nothing secret. */
export interface WaitingRequestCookies {
  /** The query of the request, if a browser can keep it: what is longer is forgotten. */
  write(reply: FastifyReply, orgId: string, query: string): void;
  read(request: FastifyRequest, orgId: string): string | undefined;
}

const MAX_WAITING = 3_500;
const WAITING_SECONDS = 900;

export function waitingRequestCookies(baseUrl: string): WaitingRequestCookies {
  const secure = baseUrl.startsWith("https:");
  const nameOf = (orgId: string) => `${secure ? "__Host-" : ""}signet-waiting-${orgId}`;
  const attributes = { path: "/", httpOnly: true, sameSite: "lax", secure } as const;
  return {
    write: (reply, orgId, query) => {
      const kept = Buffer.from(query).toString("base64url");
      if (kept.length <= MAX_WAITING)
        reply.setCookie(nameOf(orgId), kept, { ...attributes, maxAge: WAITING_SECONDS });
    },
    read: (request, orgId) => {
      const kept = request.cookies[nameOf(orgId)];
      if (kept === undefined || kept.length > MAX_WAITING) return undefined;
      // Again as a query: it becomes part of an address.
      return new URLSearchParams(Buffer.from(kept, "base64url").toString()).toString();
    },
  };
}

/** Of a first sign-in at an identity provider that waits for a proof: through the sign-in to the account it may belong to. */
export type FirstSignInCookies = TokenCookie;

export const firstSignInCookies = (baseUrl: string): FirstSignInCookies =>
  tokenCookie(baseUrl, "signet-first", "sgn_fi_");

/** Of somebody without an account who has opened a portal link: opens some pages of the console. */
export type PortalCookies = TokenCookie;

export const portalCookies = (baseUrl: string): PortalCookies =>
  tokenCookie(baseUrl, "signet-portal", "sgn_ps_");

/** Who has said "later" to a passkey in this browser; no credential. */
export type PostponedPasskeyCookies = Pick<TokenCookie, "read" | "write">;

export const postponedPasskeyCookies = (baseUrl: string): PostponedPasskeyCookies =>
  tokenCookie(baseUrl, "signet-passkey-later", "sgn_pp_");

export type TrustedBrowserCookies = Pick<TokenCookie, "read" | "write">;

/** A trusted browser skips the second factor. The cookie counts only after the right password. */
export const trustedBrowserCookies = (baseUrl: string): TrustedBrowserCookies =>
  tokenCookie(baseUrl, "signet-device", "sgn_rd_");
