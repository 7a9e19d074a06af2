/** The device grant (RFC 8628): a program without a browser lets its user sign in with one elsewhere. */
import { SignetError } from "../errors.ts";
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import { type HttpAnswer, providerFault } from "../provider/http.ts";
import { type Claims, isRecord } from "../tokens/claims.ts";
import { verifyIdToken } from "../tokens/id-token.ts";
import { keySourceOf } from "../tokens/key-source-of.ts";
import {
  type GrantConfiguration,
  type GrantOptions,
  type GrantSettings,
  grantSettings,
} from "./grant-settings.ts";
import { type TokenSet, tokenSetOf } from "./token-answer.ts";
import { postAsClient } from "./token-request.ts";
import { waitFor } from "./wait-for.ts";

/** What the program shows its user. */
export interface DevicePrompt {
  /** To be typed at `verificationUri`. */
  readonly userCode: string;
  readonly verificationUri: string;
  /** The same with the code in it, for a link or a QR code. */
  readonly verificationUriComplete?: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** What `deviceGrant` needs beside its configuration. */
export interface DeviceGrantOptions extends GrantOptions {
  /** Shows the person where to go and what to type; waited for. */
  readonly onPrompt: (prompt: DevicePrompt) => void | Promise<void>;
  /** Ends the waiting; the promise is then rejected with its reason. */
  readonly signal?: AbortSignal;
  /** How to wait, for tests and odd platforms. */
  readonly wait?: (milliseconds: number, signal: AbortSignal | undefined) => Promise<void>;
}

/** What a user has allowed, and who that is. */
export interface DeviceTokens extends TokenSet {
  /** Of the verified ID token: who has signed in. Undefined when the scopes have no `openid`. */
  readonly claims: Claims | undefined;
}

/**
 * Asks for a code, has it shown, and waits until the user has answered.
 *
 * @param configuration `oauthScopes`: with `openid` the answer tells who the user is
 * @throws SignetError `provider_refused` with `oauthError` `access_denied` (the user says no) or `expired_token` (nobody
 *   answered), other `provider_…`, `token_…` for an ID token that does not hold, `configuration`
 * @example
 * const tokens = await deviceGrant(configuration, {
 *   onPrompt: ({ verificationUri, userCode }) => console.log(`Open ${verificationUri} and type ${userCode}`),
 * });
 */
export async function deviceGrant(
  configuration: GrantConfiguration,
  options: DeviceGrantOptions,
): Promise<DeviceTokens> {
  const grant = grantSettings(configuration, options);
  const { settings, resource } = grant;
  const scope = settings.scopes.length === 0 ? undefined : settings.scopes.join(" ");
  const asked = grant.clock();
  const answer = await postAsClient(grant, "device_authorization_endpoint", { scope, resource });
  const begun = begunOf(answer, asked, settings.environment);
  await options.onPrompt(begun.prompt);
  const tokens = await poll(grant, begun, options);
  const { idToken, accessToken } = tokens;
  if (idToken === undefined) return { ...tokens, claims: undefined };
  const { clientId, provider, clock, runtime } = grant;
  const claims = await verifyIdToken(idToken, {
    keys: keySourceOf(settings, provider, runtime),
    issuer: settings.tokenIssuer ?? grant.issuer,
    ...{ clientId, accessToken, clock },
  });
  return { ...tokens, claims };
}

interface Begun {
  readonly deviceCode: string;
  readonly intervalSeconds: number;
  readonly prompt: DevicePrompt;
}

/** RFC 8628 §3.2. */
const DEFAULT_INTERVAL_SECONDS = 5;
const LONGEST_INTERVAL_SECONDS = 300;
/** What `slow_down` adds (RFC 8628 §3.5). */
const SLOWER_SECONDS = 5;

/** RFC 8628 §3.2. @param asked milliseconds */
function begunOf(answer: HttpAnswer, asked: number, environment: string): Begun {
  const { status, body } = answer;
  if (status !== 200) throw providerFault(answer, "the device endpoint");
  const fields = isRecord(body) ? body : {};
  const { device_code, user_code, verification_uri, verification_uri_complete, expires_in, interval } =
    fields;
  // The user opens the address: nothing but a web page may stand there.
  const isPage = (value: unknown): value is string =>
    typeof value === "string" && isAcceptableAddress(value, environment);
  if (typeof device_code !== "string" || typeof user_code !== "string" || !isPage(verification_uri))
    throw new SignetError("provider_answer", "The answer of the provider's device endpoint is not complete.");
  if (typeof expires_in !== "number" || !(expires_in > 0))
    throw new SignetError(
      "provider_answer",
      "The answer of the provider's device endpoint has no expires_in.",
    );
  return {
    deviceCode: device_code,
    intervalSeconds: typeof interval === "number" && interval > 0 ? interval : DEFAULT_INTERVAL_SECONDS,
    prompt: {
      userCode: user_code,
      verificationUri: verification_uri,
      ...(isPage(verification_uri_complete) ? { verificationUriComplete: verification_uri_complete } : {}),
      expiresAt: asked + expires_in * 1000,
    },
  };
}

async function poll(grant: GrantSettings, begun: Begun, options: DeviceGrantOptions): Promise<TokenSet> {
  const { wait = waitFor, signal } = options;
  const { prompt, deviceCode } = begun;
  let { intervalSeconds } = begun;
  for (;;) {
    signal?.throwIfAborted();
    await wait(Math.min(intervalSeconds, LONGEST_INTERVAL_SECONDS) * 1000, signal);
    signal?.throwIfAborted();
    if (grant.clock() >= prompt.expiresAt)
      throw new SignetError("provider_refused", "Nobody has answered in time.", {
        oauthError: "expired_token",
      });
    const outcome = await tokensOrDelay(grant, deviceCode);
    if (typeof outcome === "object") return outcome;
    if (outcome === "slower") intervalSeconds += SLOWER_SECONDS;
    // RFC 8628 §3.5: a provider that does not answer is asked less often.
    if (outcome === "unreachable") intervalSeconds *= 2;
  }
}

async function tokensOrDelay(
  grant: GrantSettings,
  device_code: string,
): Promise<TokenSet | "pending" | "slower" | "unreachable"> {
  const { resource, clock } = grant;
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const now = clock();
  try {
    const form = { grant_type, device_code, resource };
    return tokenSetOf(await postAsClient(grant, "token_endpoint", form), now);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    if (error.code === "provider_unreachable") return "unreachable";
    if (error.oauthError === "authorization_pending") return "pending";
    if (error.oauthError === "slow_down") return "slower";
    throw error;
  }
}
