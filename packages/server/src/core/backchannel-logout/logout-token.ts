/** The logout token (OpenID Connect Back-Channel Logout 1.0 §2.4). */
import { randomUUID } from "node:crypto";
import { seconds } from "../clock.ts";

export const LOGOUT_EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** §2.4: at most two minutes, so that an intercepted token soon expires. */
const LIFETIME_SECONDS = 120;

export interface LogoutTokenClaims {
  readonly iss: string;
  readonly aud: string;
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
  readonly sub: string;
  readonly sid: string;
  /** Exactly one member with an empty object. There is never a nonce: it would make the token look like an ID token. */
  readonly events: Readonly<Record<typeof LOGOUT_EVENT, object>>;
}

/** A new token for each attempt: a receiver that remembers the `jti` would take a repeat for a replay. */
export function logoutTokenClaims(
  logout: { issuer: string; applicationId: string; userId: string; sessionId: string },
  now: number,
): LogoutTokenClaims {
  const iat = seconds(now);
  return {
    iss: logout.issuer,
    aud: logout.applicationId,
    iat,
    exp: iat + LIFETIME_SECONDS,
    jti: randomUUID(),
    sub: logout.userId,
    sid: logout.sessionId,
    events: { [LOGOUT_EVENT]: {} },
  };
}
