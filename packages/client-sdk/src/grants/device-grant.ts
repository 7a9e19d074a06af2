/** Device authorization grant (RFC 8628): a program without a browser lets its user sign in on another device. */
import { decodeJwt } from "jose";
import { errorReporter } from "../application-callbacks.ts";
import { configurationError, SignetError } from "../errors.ts";
import { pause } from "../pause.ts";
import { scopesOfClaims } from "../principal.ts";
import { type HttpAnswer, isAllowedUrl, providerError } from "../provider/http.ts";
import { createTrustedKeys } from "../sovereign/sovereign-key-source.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { isSignedAccessToken } from "../tokens/signed-access-token.ts";
import {
  type GrantConfiguration,
  type GrantOptions,
  type GrantSettings,
  grantSettings,
} from "./grant-settings.ts";
import { postAsClient, requestTokens, type TokenSet } from "./oauth-client.ts";

/** What the program shows its user. */
export interface DevicePrompt {
  /** To be entered at `verificationUri`. */
  readonly userCode: string;
  readonly verificationUri: string;
  /** Includes the code, for a link or a QR code. */
  readonly verificationUriComplete?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Options of `deviceGrant`. */
export interface DeviceGrantOptions extends GrantOptions {
  /** Shows the user where to go and what to enter; awaited. */
  readonly onPrompt: (prompt: DevicePrompt) => void | Promise<void>;
  /** Stops waiting; the promise then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  /** Replaces the timer, for tests and unusual platforms. */
  readonly wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** The granted tokens, and who granted them. */
export interface DeviceTokens extends TokenSet {
  /** Of the verified ID token: who signed in. Undefined without the scope `openid`. */
  readonly claims: Claims | undefined;
  /** With sovereign signing, what the token response says: `scopes` are then those of a token that an agent has signed. */
  readonly unsignedScopes?: readonly string[];
}

/**
 * Requests a code, shows it, and polls until the user has responded.
 * @param configuration with `openid` in `oauthScopes`, the result says who the user is
 * @throws SignetError `provider_refused` with `oauthError` `access_denied` (the user declined) or `expired_token` (no response
 *   in time), other `provider_…`, `token_…` for an invalid ID token, `configuration`
 * @example
 * const tokens = await deviceGrant(configuration, {
 *   onPrompt: ({ verificationUri, userCode }) => console.log(`Open ${verificationUri} and enter ${userCode}`),
 * });
 */
export async function deviceGrant(
  configuration: GrantConfiguration,
  options: DeviceGrantOptions,
): Promise<DeviceTokens> {
  const grant = grantSettings(configuration, options);
  // The profile has no device grant: nothing binds who confirms to who asks (RFC 8628 §5.4).
  if ((grant.settings.securityProfile ?? "none") !== "none")
    throw configurationError("The device grant is not for clients with a securityProfile.");
  const { settings, resource, scope, clientId, provider, clock, runtime } = grant;
  const now = clock();
  const response = await postAsClient(grant, "device_authorization_endpoint", { scope, resource });
  const authorization = parseDeviceAuthorization(response, now, settings.environment);
  await options.onPrompt(authorization.prompt);
  const tokens = await poll(grant, authorization, options);
  const { idToken, accessToken } = tokens;
  const checks = {
    keys: createTrustedKeys(settings, provider, runtime),
    issuer: settings.tokenIssuer ?? grant.issuer,
    ...{ clientId, clock },
  };
  const claims =
    idToken === undefined
      ? undefined
      : await verifyIdToken(idToken, { ...checks, algorithm: grant.idTokenAlg, accessToken });
  if (settings.sovereign === undefined) return { ...tokens, claims };
  const signed = { ...checks, isSovereign: true, onError: errorReporter(runtime.onError) };
  const isSigned = claims?.sub !== undefined && (await isSignedAccessToken(signed, accessToken, claims.sub));
  const scopes = isSigned ? scopesOfClaims(decodeJwt(accessToken)) : [];
  return { ...tokens, claims, scopes, unsignedScopes: tokens.scopes ?? [] };
}

const DEFAULT_INTERVAL_SECONDS = 5;
const MAX_INTERVAL_SECONDS = 300;
/** Added on `slow_down` (RFC 8628 §3.5). */
const SLOW_DOWN_SECONDS = 5;

/** RFC 8628 §3.2. @param now milliseconds, taken before the request */
function parseDeviceAuthorization(response: HttpAnswer, now: number, environment: string) {
  if (response.status !== 200) throw providerError(response, "the device authorization endpoint");
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } =
    isRecord(response.body) ? response.body : {};
  // The user opens the URL, so it must be a web page.
  const isWebPage = (value: unknown): value is string =>
    typeof value === "string" && isAllowedUrl(value, environment);
  if (typeof device_code !== "string" || typeof user_code !== "string" || !isWebPage(verification_uri))
    throw new SignetError("provider_answer", "The device authorization response is incomplete.");
  if (typeof expires_in !== "number" || !(expires_in > 0))
    throw new SignetError("provider_answer", "The device authorization response has no expires_in.");
  return {
    deviceCode: device_code,
    intervalSeconds: typeof interval === "number" && interval > 0 ? interval : DEFAULT_INTERVAL_SECONDS,
    prompt: {
      userCode: user_code,
      verificationUri: verification_uri,
      ...(isWebPage(verification_uri_complete) ? { verificationUriComplete: verification_uri_complete } : {}),
      expiresAt: now + expires_in * 1000,
    },
  };
}

async function poll(
  grant: GrantSettings,
  { prompt, deviceCode, ...authorization }: ReturnType<typeof parseDeviceAuthorization>,
  { wait = pause, signal }: DeviceGrantOptions,
): Promise<TokenSet> {
  let { intervalSeconds } = authorization;
  for (;;) {
    signal?.throwIfAborted();
    await wait(Math.min(intervalSeconds, MAX_INTERVAL_SECONDS) * 1000, signal);
    signal?.throwIfAborted();
    if (grant.clock() >= prompt.expiresAt)
      throw new SignetError("provider_refused", "The user did not respond in time.", {
        oauthError: "expired_token",
      });
    const outcome = await pollOnce(grant, deviceCode);
    if (typeof outcome === "object") return outcome;
    if (outcome === "slow_down") intervalSeconds += SLOW_DOWN_SECONDS;
    // RFC 8628 §3.5: back off from an unavailable provider.
    if (outcome === "unreachable") intervalSeconds *= 2;
  }
}

async function pollOnce(
  grant: GrantSettings,
  device_code: string,
): Promise<TokenSet | "pending" | "slow_down" | "unreachable"> {
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  try {
    return await requestTokens(grant, { grant_type, device_code, resource: grant.resource });
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    if (error.code === "provider_unreachable") return "unreachable";
    if (error.oauthError === "authorization_pending") return "pending";
    if (error.oauthError === "slow_down") return "slow_down";
    throw error;
  }
}
