/** Logout tokens (OpenID Connect Back-Channel Logout 1.0 §2.4, §2.6). */
import { SignetError } from "../errors.ts";
import { isRecord } from "./claims.ts";
import type { IdTokenChecks } from "./id-token.ts";
import { verifyJwt } from "./verify-jwt.ts";

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

export type LogoutTokenChecks = Pick<IdTokenChecks, "keys" | "issuer" | "clientId" | "clock">;

/** Names the session to end, or with `sub` alone all sessions of that user. */
export interface LogoutToken {
  readonly sid?: string;
  readonly sub?: string;
  readonly jti: string;
  readonly exp: number;
  readonly iat: number;
}

/** @throws SignetError `token_…`, or `provider_…` if the key can't be fetched */
export async function verifyLogoutToken(token: string, checks: LogoutTokenChecks): Promise<LogoutToken> {
  const { clientId, ...expected } = checks;
  const { claims } = await verifyJwt(token, {
    ...expected,
    audience: clientId,
    // §2.4 recommends `logout+jwt`, older providers write `JWT`; `events` tells it from an ID token.
    types: ["logout+jwt", "JWT", ""],
    requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"],
  });
  const { sub, sid, jti, exp, iat, events } = claims;
  // §2.6 steps 5 and 6: without the event, or with a nonce, an ID token could sign users out.
  if (!isRecord(events) || !isRecord(events[logoutEvent]))
    throw new SignetError("token_claim", "The token has no logout event.");
  if ("nonce" in claims) throw new SignetError("token_claim", "A logout token must not have a nonce.");
  if (sub === undefined && sid === undefined)
    throw new SignetError("token_claim_missing", "The logout token has neither sid nor sub.");
  if (sid !== undefined && (typeof sid !== "string" || sid === ""))
    throw new SignetError("token_claim", "The logout token's sid claim is invalid.");
  return {
    ...(sid === undefined ? {} : { sid }),
    ...(sub === undefined ? {} : { sub }),
    ...{ jti: String(jti), exp: Number(exp), iat: Number(iat) },
  };
}
