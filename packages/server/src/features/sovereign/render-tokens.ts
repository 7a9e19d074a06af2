/**
 * The bytes that an agent signs (sovereign-signing.md §1): made anew at every claim, so that a token is as fresh as its
 * signature and no `jti` is ever handed to two leases.
 */
import type { AgentAlg } from "@signet/protocol/agent-signature";
import { seconds } from "../../core/clock.ts";
import { familyOfTokenId, newTokenId } from "../../core/tokens/claims.ts";
import type { ClaimsToSign, RenderedToken } from "./signing-request.ts";

export interface RenderedTokens {
  readonly tokens: readonly RenderedToken[];
  /** Seconds since the epoch: of the access token, and of the ID token beside it. */
  readonly iat: number;
  /** Of the access token. */
  readonly exp: number;
  /** Of the access token; an ID token has none. */
  readonly jti: string;
}

/**
 * @param key what signs; the header says `alg`, `typ` and `kid` and nothing else
 * @param now milliseconds
 * @param longestSeconds the pool's limit; the claims' own `exp - iat` is the application's
 */
export function renderTokens(
  claims: ClaimsToSign,
  key: { readonly kid: string; readonly alg: AgentAlg },
  now: number,
  longestSeconds: number,
): RenderedTokens {
  const { accessToken, idToken } = claims;
  const iat = seconds(now);
  const expOf = (token: { readonly iat: number; readonly exp: number }) =>
    iat + Math.min(token.exp - token.iat, longestSeconds);
  const jti = newTokenId(familyOfTokenId(accessToken.jti));
  const exp = expOf(accessToken);
  const render = (use: RenderedToken["use"], typ: string, payload: object): RenderedToken => ({
    use,
    kid: key.kid,
    alg: key.alg,
    protected: base64urlJson({ alg: key.alg, typ, kid: key.kid }),
    payload: base64urlJson(payload),
  });
  const tokens = [render("access_token", "at+jwt", { ...accessToken, iat, exp, jti })];
  if (idToken) tokens.push(render("id_token", "JWT", { ...idToken, iat, exp: expOf(idToken) }));
  return { tokens, iat, exp, jti };
}

const base64urlJson = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
