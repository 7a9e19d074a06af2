/** Logout at an OpenID provider: RP-Initiated Logout 1.0 for who signs out here, Back-Channel Logout 1.0 §2.6 for who does there. */
import { decodeJwt, decodeProtectedHeader } from "jose";
import type { Clock } from "../../../../core/clock.ts";
import { type Claims, isStorable } from "../../../../core/connections/sign-in/mapping.ts";
import type { SignInConnection } from "../../../../core/connections/sign-in/sign-in-connections.ts";
import { clientOf } from "../../../../core/connections/sign-in/sign-in-settings.ts";
import { InvalidLogoutToken, type UpstreamLogout, type UpstreamSignOut } from "../upstream.ts";
import { isEndpoint, type ProviderMetadata } from "./provider-metadata.ts";
import type { UpstreamKeys } from "./upstream-keys.ts";

export interface LogoutParts {
  readonly metadata: ProviderMetadata;
  readonly keys: UpstreamKeys;
  readonly clock: Clock;
}

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
const TOLERANCE_SECONDS = 60;
/** Of the token, whatever its `exp` says: a used one is remembered for as long. */
const MAX_AGE_SECONDS = 600;
const MAX_TEXT = 255;

/** @returns undefined for a provider without such an endpoint. @throws ConnectionSignInFailure */
export async function logoutAddress(
  { metadata: known }: Pick<LogoutParts, "metadata">,
  { orgId, settings }: SignInConnection,
  { hint, returnTo, state }: UpstreamSignOut,
): Promise<string | undefined> {
  const { issuer, clientId } = clientOf(settings);
  const metadata = await known.of(orgId, issuer);
  const { end_session_endpoint: endpoint } = metadata;
  if (!isEndpoint(endpoint, issuer)) return undefined;
  const address = new URL(String(endpoint));
  const parameters = { client_id: clientId, post_logout_redirect_uri: returnTo, state };
  for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
  if (hint !== undefined) address.searchParams.set("id_token_hint", hint);
  return address.href;
}

/** @throws InvalidLogoutToken, ConnectionSignInFailure when the provider's keys cannot be had, or have not signed it */
export async function readLogoutToken(
  { metadata: known, keys, clock }: LogoutParts,
  connection: SignInConnection,
  token: string,
): Promise<UpstreamLogout> {
  // Nothing is fetched for what no key could make right.
  const logout = checkedClaims(claimsOf(token), connection, Math.floor(clock() / 1000));
  const metadata = await known.of(connection.orgId, clientOf(connection.settings).issuer);
  if (metadata.jwks_uri === undefined) throw new InvalidLogoutToken("the provider has no keys");
  await keys.verify(connection, metadata.jwks_uri, token);
  return logout;
}

/** §2.4: an ID token, or another token of the provider's, says what it is. */
const knownTypes: readonly unknown[] = [undefined, "jwt", "logout+jwt", "application/logout+jwt"];

function claimsOf(token: string): Claims {
  try {
    const { typ } = decodeProtectedHeader(token);
    if (!knownTypes.includes(typ?.toLowerCase())) throw new InvalidLogoutToken("typ is another token's");
    return decodeJwt(token);
  } catch (error) {
    throw error instanceof InvalidLogoutToken ? error : new InvalidLogoutToken("it is no JWT");
  }
}

function checkedClaims(claims: Claims, { settings }: SignInConnection, now: number): UpstreamLogout {
  const { iss, aud, iat, exp, jti, events, nonce, sid, sub } = claims;
  const { issuer, clientId } = clientOf(settings);
  const refuse = (text: string) => new InvalidLogoutToken(text);
  if (iss !== issuer) throw refuse("iss is another issuer");
  if (![aud].flat().includes(clientId)) throw refuse("aud is another client");
  if (!isTime(iat) || iat > now + TOLERANCE_SECONDS || iat < now - MAX_AGE_SECONDS)
    throw refuse("iat is missing, or too far from now");
  if (exp !== undefined && (!isTime(exp) || exp <= now - TOLERANCE_SECONDS)) throw refuse("it has expired");
  if (!isText(jti)) throw refuse("jti is missing");
  const event = isObject(events) && Object.hasOwn(events, EVENT) ? events[EVENT] : undefined;
  if (!isObject(event)) throw refuse("events does not name a logout");
  if (nonce !== undefined) throw refuse("nonce is not allowed");
  if ((sid !== undefined && !isText(sid)) || (sub !== undefined && !isText(sub)))
    throw refuse("sid or sub is no text");
  if (sid === undefined && sub === undefined) throw refuse("sid and sub are missing");
  return {
    jti,
    usedUntil: (iat + MAX_AGE_SECONDS + TOLERANCE_SECONDS) * 1000,
    ...(sid === undefined ? {} : { sid: String(sid) }),
    ...(sub === undefined ? {} : { subject: String(sub) }),
  };
}

const isTime = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value);
const isText = (value: unknown): value is string =>
  typeof value === "string" && value !== "" && value.length <= MAX_TEXT && isStorable(value);
const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
