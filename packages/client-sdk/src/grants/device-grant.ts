/** Device authorization grant (RFC 8628): a program without a browser lets its user sign in on another device. */
import { configurationError, SignetError } from "../errors.ts";
import { type HttpAnswer, isAllowedUrl, providerError } from "../provider/http.ts";
import { isRecord } from "../tokens/claims.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { postAsClient } from "./oauth-client.ts";
import {
  type PollingOptions,
  parsePending,
  pollTokens,
  type UserTokens,
  verifyUserTokens,
} from "./polled-tokens.ts";

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

/** What `deviceGrant` returns. */
export type DeviceTokens = UserTokens;

/** Options of `deviceGrant`. */
export interface DeviceGrantOptions extends GrantOptions, PollingOptions {
  /** Shows the user where to go and what to enter; awaited. */
  readonly onPrompt: (prompt: DevicePrompt) => void | Promise<void>;
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
  const { settings, resource, scope } = grant;
  const now = grant.clock();
  const response = await postAsClient(grant, "device_authorization_endpoint", { scope, resource });
  const { prompt, deviceCode, ...pending } = parseDeviceAuthorization(response, now, settings.environment);
  await options.onPrompt(prompt);
  const form = { grant_type: "urn:ietf:params:oauth:grant-type:device_code", device_code: deviceCode };
  return verifyUserTokens(grant, await pollTokens(grant, form, pending, options));
}

/** RFC 8628 §3.2. @param now milliseconds, taken before the request */
function parseDeviceAuthorization(response: HttpAnswer, now: number, environment: string) {
  if (response.status !== 200) throw providerError(response, "the device authorization endpoint");
  const body = isRecord(response.body) ? response.body : {};
  const { device_code, user_code, verification_uri, verification_uri_complete } = body;
  // The user opens the URL, so it must be a web page.
  const isWebPage = (value: unknown): value is string =>
    typeof value === "string" && isAllowedUrl(value, environment);
  if (typeof device_code !== "string" || typeof user_code !== "string" || !isWebPage(verification_uri))
    throw new SignetError("provider_answer", "The device authorization response is incomplete.");
  const pending = parsePending(body, now, "device authorization");
  return {
    ...{ ...pending, deviceCode: device_code },
    prompt: {
      userCode: user_code,
      verificationUri: verification_uri,
      ...(isWebPage(verification_uri_complete) ? { verificationUriComplete: verification_uri_complete } : {}),
      expiresAt: pending.expiresAt,
    },
  };
}
