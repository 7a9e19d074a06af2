/** Refresh token grant (RFC 6749 §6), for programs that store a user's tokens: command lines, devices. */
import { SignetError } from "../errors.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { requestTokens, type TokenSet } from "./oauth-client.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";

/** Options of `refreshingTokens`. */
export interface RefreshOptions extends GrantOptions {
  /** Receives every new token set, to be stored instead of the old one. If it throws, so does the call that refreshed. */
  readonly onRefreshed?: (tokens: TokenSet) => void | Promise<void>;
}

/**
 * Starts with the tokens of a sign-in and refreshes them. Use it from one process: refresh tokens are single-use, and two
 * processes sharing one would sign each other out.
 *
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
  const { clock, settings, resource } = grant;
  const obtain = async (previous: TokenSet | undefined) => {
    const refresh_token = previous?.refreshToken;
    if (refresh_token === undefined)
      throw new SignetError("provider_refused", "The access token expired without a refresh token.", {
        oauthError: "invalid_grant",
        status: 401,
      });
    return requestTokens(grant, { grant_type: "refresh_token", refresh_token, resource });
  };
  const { onRefreshed: onObtained, fetch } = options;
  return createTokenSource({ obtain, onObtained, first, clock, fetch, environment: settings.environment });
}
