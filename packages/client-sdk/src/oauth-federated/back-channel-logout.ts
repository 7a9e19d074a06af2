/** The provider reports the end of a session (OpenID Connect Back-Channel Logout 1.0 §2.4 to §2.8). No browser is involved. */
import { SignetError } from "../errors.ts";
import type { FilterResult } from "../filter.ts";
import { readRequestBody } from "../read-body.ts";
import { providerSessionKey, SESSION_SECONDS, subjectKey } from "../sign-in/logout-memory.ts";
import { json, respond } from "../sign-in/responses.ts";
import { isRecord } from "../tokens/claims.ts";
import type { IdTokenChecks } from "../tokens/id-token.ts";
import { claimedIssuer, verifyJwt } from "../tokens/verify-jwt.ts";
import type { FederatedContext } from "./federated-context.ts";
import { atIssuer } from "./session-organisation.ts";

/** A logout token has about one kilobyte. */
const MAX_BODY_BYTES = 64 * 1024;

export async function backChannelLogout(context: FederatedContext, request: Request): Promise<FilterResult> {
  try {
    const token = await readLogoutToken(request);
    const at = await atIssuer(context, () => claimedIssuer(token));
    const { keys, issuer, clientId, algorithm, clock } = at;
    const { sid, sub, iat } = await verifyLogoutToken(token, { keys, issuer, clientId, algorithm, clock });
    // §2.7: the named session, otherwise all sessions of the user. Thanks to `iat`, a repeated or late message ends nothing
    // that started after it.
    if (sid !== undefined) await remember(context, providerSessionKey(issuer, sid), iat);
    else if (sub !== undefined) await remember(context, subjectKey(issuer, sub), iat);
    return respond(new Response(null, { status: 200, headers: { "cache-control": "no-store" } }));
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    // 503 only for what may succeed later: the provider retries.
    const status = error.code === "provider_unreachable" ? 503 : 400;
    const body = { error: "invalid_request", error_description: error.description };
    return respond(json(status, body), error);
  }
}

async function remember({ memory }: FederatedContext, key: string, endedAt: number): Promise<void> {
  try {
    await memory.remember(key, endedAt, SESSION_SECONDS);
  } catch (cause) {
    throw new SignetError("provider_unreachable", "The logout could not be stored.", { cause });
  }
}

async function readLogoutToken(request: Request): Promise<string> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(type))
    throw malformed("The body is not a form.");
  const body = await readRequestBody(request, MAX_BODY_BYTES);
  if (body === undefined) throw malformed("The body is too large.");
  const form = new URLSearchParams(new TextDecoder().decode(body));
  const [token, ...others] = form.getAll("logout_token");
  if (token === undefined || others.length > 0) throw malformed("The form must have one logout_token.");
  return token;
}

const malformed = (message: string) => new SignetError("request_malformed", message);

const logoutEvent = "http://schemas.openid.net/event/backchannel-logout";

/** @returns the session to end, or with `sub` alone all sessions of that user. @throws SignetError `token_…`, `provider_…` */
export async function verifyLogoutToken(
  token: string,
  { clientId, ...expected }: Pick<IdTokenChecks, "keys" | "issuer" | "clientId" | "algorithm" | "clock">,
) {
  const { claims } = await verifyJwt(token, {
    ...expected,
    audience: clientId,
    // §2.4 recommends `logout+jwt`, older providers write `JWT`; `events` tells it from an ID token.
    types: ["logout+jwt", "JWT", ""],
    requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"],
  });
  const { sub, sid, exp, iat, events } = claims;
  // §2.6 steps 5 and 6: without the event, or with a nonce, an ID token could sign users out.
  if (!isRecord(events) || !isRecord(events[logoutEvent]))
    throw new SignetError("token_claim", "The token has no logout event.");
  if ("nonce" in claims) throw new SignetError("token_claim", "A logout token must not have a nonce.");
  if (sub === undefined && sid === undefined)
    throw new SignetError("token_claim_missing", "The logout token has neither sid nor sub.");
  if (sid !== undefined && (typeof sid !== "string" || sid === ""))
    throw new SignetError("token_claim", "The logout token's sid claim is invalid.");
  return { sid, sub, exp: Number(exp), iat: Number(iat) };
}
