/** Logout tokens (OpenID Connect Back-Channel Logout 1.0 §2.4, §2.6). */
import { SignetError } from "../errors.ts";
import { type Claims, isRecord } from "./claims.ts";
import type { KeySource } from "./key-source.ts";
import { verifyJwt } from "./verify-jwt.ts";

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

export interface LogoutTokenChecks {
  readonly keys: KeySource;
  readonly issuer: string;
  readonly clientId: string;
  readonly clock: () => number;
}

/** Which session ends, or with `sub` alone: all of that user. `jti` and `exp` (seconds) are for a memory of what has come. */
export interface LogoutToken {
  readonly sid?: string;
  readonly sub?: string;
  readonly jti: string;
  readonly exp: number;
  readonly iat: number;
}

/** Verifies a logout token. Throws `SignetError`: `token_…`, or `provider_…` when its key cannot be fetched. */
export async function verifyLogoutToken(token: string, checks: LogoutTokenChecks): Promise<LogoutToken> {
  const { claims } = await verifyJwt(token, {
    keys: checks.keys,
    issuer: checks.issuer,
    audience: checks.clientId,
    // §2.4 recommends `logout+jwt`, and older providers write `JWT`: what tells it from an ID token is `events`.
    types: ["logout+jwt", "JWT", ""],
    clock: checks.clock,
    required: ["iss", "aud", "iat", "exp", "jti", "events"],
  });
  checkEvent(claims);
  const { sub, sid, jti, exp, iat } = claims;
  if (sub === undefined && sid === undefined)
    throw new SignetError("token_claim_missing", "The logout token names neither a session nor a user.");
  if (sid !== undefined && (typeof sid !== "string" || sid === ""))
    throw new SignetError("token_claim", "The logout token's claim sid is not of the right form.");
  return {
    ...(sid === undefined ? {} : { sid }),
    ...(sub === undefined ? {} : { sub }),
    jti: String(jti),
    exp: Number(exp),
    iat: Number(iat),
  };
}

/** §2.6 steps 5 and 6: the event is there, and no nonce, so that no ID token can sign anybody out. */
function checkEvent(claims: Claims): void {
  const { events } = claims;
  if (!isRecord(events) || !isRecord(events[logoutEvent]))
    throw new SignetError("token_claim", "The token's events are not those of a logout token.");
  if ("nonce" in claims) throw new SignetError("token_claim", "A logout token has no nonce.");
}
