/**
 * The bytes that an agent signs (sovereign-signing.md §1): made anew at every claim, so that a token is as fresh as its
 * signature and no `jti` is ever handed to two leases. The lease keeps what makes them differ, not the bytes: when they
 * come back signed, the same are made again.
 */
import { randomUUID } from "node:crypto";
import type { AgentAlg } from "@signet/protocol/agent-signature";
import { seconds } from "../../../../core/clock.ts";
import { familyOfTokenId, newTokenId } from "../../../../core/tokens/token-family.ts";
import type { ClaimsToSign, RenderedToken } from "../signing-request.ts";

/** What one rendering has beside the claims and the key. */
export interface Rendering {
  /** Seconds since the epoch. */
  readonly iat: number;
  /** The pool's limit as it was then; the claims' own `exp - iat` is the application's. */
  readonly longestSeconds: number;
  /** A random UUID: what is new in the `jti`. */
  readonly random: string;
}

export interface RenderedTokens {
  readonly tokens: readonly RenderedToken[];
  /** Seconds since the epoch: of the access token, and of the ID token beside it. */
  readonly iat: number;
  /** Of the access token. */
  readonly exp: number;
  /** Of the access token; an ID token has none. */
  readonly jti: string;
}

/** @param now milliseconds */
export const newRendering = (
  now: number,
  { maxTokenLifetimeSeconds }: { readonly maxTokenLifetimeSeconds: number },
): Rendering => ({ iat: seconds(now), longestSeconds: maxTokenLifetimeSeconds, random: randomUUID() });

/**
 * The same for the same arguments.
 * @param key what signs; the header says `alg`, `typ` and `kid` and nothing else
 */
export function renderTokens(
  { accessToken, idToken }: ClaimsToSign,
  { kid, alg }: { readonly kid: string; readonly alg: AgentAlg },
  { iat, longestSeconds, random }: Rendering,
): RenderedTokens {
  const expOf = (token: { readonly iat: number; readonly exp: number }) =>
    iat + Math.min(token.exp - token.iat, longestSeconds);
  const jti = newTokenId(familyOfTokenId(accessToken.jti), random);
  const exp = expOf(accessToken);
  const render = (use: RenderedToken["use"], typ: string, payload: object): RenderedToken => ({
    use,
    kid,
    alg,
    protected: base64urlJson({ alg, typ, kid }),
    payload: base64urlJson(payload),
  });
  const tokens = [render("access_token", "at+jwt", { ...accessToken, iat, exp, jti })];
  if (idToken) tokens.push(render("id_token", "JWT", { ...idToken, iat, exp: expOf(idToken) }));
  return { tokens, iat, exp, jti };
}

const base64urlJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
