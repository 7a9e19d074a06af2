/** A token that is always good: fetched when it is needed, shared by all who need it, replaced before it ends. */
import { SignetError } from "../errors.ts";
import { isAcceptableAddress } from "../provider/acceptable-address.ts";
import type { TokenSet } from "./token-answer.ts";

/** A token that is always good: what `clientCredentials` and `refreshingTokens` make. */
export interface TokenSource {
  /**
   * @returns an access token that is good for a while
   * @throws SignetError `provider_unreachable`, `provider_refused` with `oauthError`, `provider_answer`, `insufficient_scope`
   */
  token(): Promise<string>;
  /** Tells that an API has refused this token, e.g. because it was revoked: the next call of `token` fetches another. */
  discard(token: string): void;
  /**
   * Calls an API with the token. When the API says that the token is not good (any more), once more with another one.
   *
   * @throws SignetError as `token`, and `configuration` for an address without encryption; and what `fetch` throws
   */
  fetch(url: string | URL, init?: RequestInit): Promise<Response>;
}

export interface TokenSourceOptions {
  /** Fetches a token. @param previous the one before, with its refresh token */
  readonly obtain: (previous: TokenSet | undefined) => Promise<TokenSet>;
  /** Told of every new set once it is held; what it throws, the call throws that has fetched the set. */
  readonly onObtained?: ((tokens: TokenSet) => void | Promise<void>) | undefined;
  /** Used as long as it is good. */
  readonly first?: TokenSet | undefined;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly fetch?: typeof fetch | undefined;
  readonly environment: string;
}

/** A token is replaced this long before it ends: on the way to the API it must not run out. */
const MARGIN_MS = 60_000;
/** Of a short-lived one, this part of its life. */
const MARGIN_PART = 0.2;
/** Between two attempts, while the old token is still good. */
const RETRY_MS = 5_000;

interface Held {
  readonly tokens: TokenSet;
  readonly replaceAt: number;
}

export function createTokenSource(options: TokenSourceOptions): TokenSource {
  const { obtain, clock, environment } = options;
  let latest = options.first;
  let held = latest && heldOf(latest, clock());
  let underWay: Promise<string> | undefined;
  let retryAt = 0;

  const renew = async (): Promise<string> => {
    try {
      const tokens = await obtain(latest);
      // RFC 6749 §6: without a new refresh token the one before stays good.
      const { refreshToken = latest?.refreshToken } = tokens;
      latest = { ...tokens, ...(refreshToken === undefined ? {} : { refreshToken }) };
      held = heldOf(latest, clock());
      await options.onObtained?.(latest);
      return tokens.accessToken;
    } finally {
      underWay = undefined;
    }
  };
  const shared = (): Promise<string> => {
    underWay ??= renew();
    return underWay;
  };
  const token = async (): Promise<string> => {
    const now = clock();
    if (held === undefined || held.tokens.expiresAt <= now) return shared();
    const { accessToken } = held.tokens;
    if (held.replaceAt > now || retryAt > now) return accessToken;
    return shared().catch((error: unknown) => {
      // The provider is away for a moment, and the token is still good.
      if (!(error instanceof SignetError) || error.code !== "provider_unreachable") throw error;
      retryAt = now + RETRY_MS;
      return accessToken;
    });
  };
  const discard = (refused: string) => {
    if (held?.tokens.accessToken === refused) held = undefined;
  };
  const send = async (url: URL, init: RequestInit, accessToken: string): Promise<Response> => {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${accessToken}`);
    return (options.fetch ?? fetch)(url, { ...init, headers });
  };
  return {
    token,
    discard,
    fetch: async (address, init = {}) => {
      const url = new URL(address);
      url.hash = "";
      if (!isAcceptableAddress(url.href, environment))
        throw new SignetError("configuration", "A token is not sent to an address without encryption.");
      const accessToken = await token();
      const response = await send(url, init, accessToken);
      if (!isRefused(response) || init.body instanceof ReadableStream) return response;
      await response.body?.cancel();
      discard(accessToken);
      return send(url, init, await token());
    },
  };
}

function heldOf(tokens: TokenSet, now: number): Held {
  const margin = Math.min(MARGIN_MS, (tokens.expiresAt - now) * MARGIN_PART);
  return { tokens, replaceAt: tokens.expiresAt - margin };
}

/** RFC 6750 §3.1. Only then is the request known not to have been carried out for want of a good token. */
const isRefused = ({ status, headers }: Response): boolean =>
  status === 401 && /\berror="?invalid_token\b/i.test(headers.get("www-authenticate") ?? "");
