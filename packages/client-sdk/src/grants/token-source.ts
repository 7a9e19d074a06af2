/** Cached access tokens, renewed before they expire: client credentials and refresh (RFC 6749 §4.4, §6). */
import { configurationError, SignetError } from "../errors.ts";
import { isAllowedUrl } from "../provider/http.ts";
import type { Dpop } from "../security-profile/dpop.ts";
import { sendWithToken } from "../security-profile/send-with-token.ts";
import {
  type GrantConfiguration,
  type GrantOptions,
  type GrantSettings,
  grantSettings,
} from "./grant-settings.ts";
import { requestTokens, type TokenSet } from "./oauth-client.ts";

/** An always-valid access token, from `clientCredentials` or `refreshingTokens`. */
export interface TokenSource {
  /**
   * @returns an access token that is valid for a while
   * @throws SignetError `provider_unreachable`, `provider_refused` with `oauthError`, `provider_answer`, `insufficient_scope`
   */
  token(): Promise<string>;
  /** Drops a token an API has rejected, e.g. because it was revoked; the next call to `token` obtains another. */
  discard(token: string): void;
  /**
   * Calls an API with the token. If the API rejects the token, retries once with a new one.
   * @throws SignetError as `token`, and `configuration` for an unencrypted URL; and whatever `fetch` throws
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
  /** The key that the tokens are bound to (`securityProfile`), for requests that are not sent by `fetch`. Absent: Bearer. */
  readonly dpop?: Dpop;
}

interface TokenSourceOptions {
  /** Requests tokens. @param previous the set before, with its refresh token */
  readonly obtain: (previous: TokenSet | undefined) => Promise<TokenSet>;
  /** Receives every new set after it is cached; its error becomes the error of the call that requested it. */
  readonly onObtained?: ((tokens: TokenSet) => void | Promise<void>) | undefined;
  /** Used while it is valid. */
  readonly first?: TokenSet | undefined;
}

/** A token is renewed this long before it expires, so that it doesn't expire on its way to the API. */
const MARGIN_MS = 60_000;
/** For a short-lived token, this fraction of its lifetime. */
const MARGIN_FRACTION = 0.2;
/** Between two attempts while the old token is still valid. */
const RETRY_MS = 5_000;

function createTokenSource(
  { clock, runtime, settings, dpop }: GrantSettings,
  { obtain, ...options }: TokenSourceOptions,
): TokenSource {
  let latest = options.first;
  // A token that is bound to a key of somebody else's making is renewed before its first use.
  let cached = latest && (latest.tokenType === undefined || !dpop) ? withRenewal(latest, clock()) : undefined;
  let pending: Promise<string> | undefined;
  let retryAt = 0;

  const renew = async (): Promise<string> => {
    try {
      const tokens = await obtain(latest);
      // RFC 6749 §6: without a new refresh token, the old one stays valid.
      const { refreshToken = latest?.refreshToken } = tokens;
      latest = { ...tokens, ...(refreshToken === undefined ? {} : { refreshToken }) };
      cached = withRenewal(latest, clock());
      await options.onObtained?.(latest);
      return tokens.accessToken;
    } finally {
      pending = undefined;
    }
  };
  const renewShared = (): Promise<string> => {
    pending ??= renew();
    return pending;
  };
  const token = async (): Promise<string> => {
    const now = clock();
    if (cached === undefined || cached.tokens.expiresAt <= now) return renewShared();
    const { accessToken } = cached.tokens;
    if (cached.renewAt > now || retryAt > now) return accessToken;
    return renewShared().catch((error: unknown) => {
      // The provider is unavailable, but the token is still valid.
      if (!(error instanceof SignetError) || error.code !== "provider_unreachable") throw error;
      retryAt = now + RETRY_MS;
      return accessToken;
    });
  };
  const discard = (rejected: string) => {
    if (cached?.tokens.accessToken === rejected) cached = undefined;
  };
  const send = (url: URL, init: RequestInit, accessToken: string): Promise<Response> =>
    sendWithToken({ accessToken, dpop, fetch: runtime.fetch ?? fetch }, url, init);
  return {
    ...(dpop ? { dpop } : {}),
    token,
    discard,
    fetch: async (target, init = {}) => {
      const url = new URL(target);
      url.hash = "";
      if (!isAllowedUrl(url.href, settings.environment))
        throw new SignetError("configuration", "Tokens are only sent to encrypted URLs (https).");
      const accessToken = await token();
      const response = await send(url, init, accessToken);
      if (!rejectsToken(response) || init.body instanceof ReadableStream) return response;
      await response.body?.cancel();
      discard(accessToken);
      return send(url, init, await token());
    },
  };
}

function withRenewal(tokens: TokenSet, now: number) {
  const margin = Math.min(MARGIN_MS, (tokens.expiresAt - now) * MARGIN_FRACTION);
  return { tokens, renewAt: tokens.expiresAt - margin };
}

/** RFC 6750 §3.1. Only then is it certain that the request wasn't carried out. */
export const rejectsToken = ({ status, headers }: Pick<Response, "status" | "headers">): boolean =>
  status === 401 && /\berror="?invalid_token\b/i.test(headers.get("www-authenticate") ?? "");

/**
 * Access tokens for service-to-service calls. Create one source and keep it: it caches the token, requests a new one before it
 * expires, and shares one request among concurrent callers. Nothing is fetched before the first call.
 * @param configuration `oauthScopes` are required of the token; `oauthClientSecret` or `options.clientAuthentication`
 * @throws SignetError `configuration`
 * @example
 * const jobs = clientCredentials(configurationFromEnvironment(process.env));
 * const response = await jobs.fetch("https://api.example.com/jobs", { method: "POST" });
 */
export function clientCredentials(
  configuration: GrantConfiguration,
  options: GrantOptions = {},
): TokenSource {
  const grant = grantSettings(configuration, options);
  const { settings, authentication, resource, scope } = grant;
  // RFC 6749 §4.4: a public client's id isn't a secret.
  if (authentication.method === "none")
    throw configurationError("Client credentials need oauthClientSecret, or other client authentication.");
  const obtain = async () => {
    const tokens = await requestTokens(grant, { grant_type: "client_credentials", scope, resource });
    requireGranted(settings.scopes, tokens.scopes);
    return tokens;
  };
  return createTokenSource(grant, { obtain });
}

/** RFC 6749 §3.3: the provider may grant less than requested. Better reported here than by an API later. */
function requireGranted(requested: readonly string[], granted: readonly string[] | undefined): void {
  const missing = granted === undefined ? [] : requested.filter((scope) => !granted.includes(scope));
  if (missing.length > 0)
    throw new SignetError("insufficient_scope", `The provider did not grant: ${missing.join(" ")}.`);
}

/** Options of `refreshingTokens`. */
export interface RefreshOptions extends GrantOptions {
  /** Receives every new token set, to be stored instead of the old one. If it throws, so does the call that refreshed. */
  readonly onRefreshed?: (tokens: TokenSet) => void | Promise<void>;
}

/**
 * Starts with the tokens of a sign-in and refreshes them. Use it from one process: refresh tokens are single-use, and two
 * processes sharing one would sign each other out.
 * @throws SignetError `configuration`
 * @example
 * const tokens = await deviceGrant(configuration, { onPrompt });
 * const api = refreshingTokens(configuration, tokens, { onRefreshed: save });
 * const response = await api.fetch("https://api.example.com/me");
 */
export function refreshingTokens(
  configuration: GrantConfiguration,
  first: TokenSet,
  options: RefreshOptions = {},
): TokenSource {
  const grant = grantSettings(configuration, options);
  const { resource } = grant;
  const obtain = async (previous: TokenSet | undefined) => {
    const refresh_token = previous?.refreshToken;
    if (refresh_token === undefined)
      throw new SignetError("provider_refused", "The access token expired without a refresh token.", {
        oauthError: "invalid_grant",
        status: 401,
      });
    return requestTokens(grant, { grant_type: "refresh_token", refresh_token, resource });
  };
  return createTokenSource(grant, { obtain, onObtained: options.onRefreshed, first });
}
