/** The refresh grant (RFC 6749 §6), for programs that hold a user's tokens themselves: command lines, devices. */
import { SignetError } from "../errors.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { type TokenSet, tokenSetOf } from "./token-answer.ts";
import { postAsClient } from "./token-request.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";

/** What `refreshingTokens` takes beside its configuration. */
export interface RefreshOptions extends GrantOptions {
  /**
   * Told of every new set: a program that keeps tokens keeps this one instead, as the old one has ended. What it throws, the
   * call throws that has refreshed; the new set is used all the same.
   */
  readonly onRefreshed?: (tokens: TokenSet) => void | Promise<void>;
}

/**
 * A source that begins with the tokens of a sign-in and refreshes them. One program at a time: each refresh token is good
 * once, and two programs with the same one would sign each other out.
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
      throw new SignetError("provider_refused", "The sign-in is over, and there is no refresh token.", {
        oauthError: "invalid_grant",
        status: 401,
      });
    const now = clock();
    const form = { grant_type: "refresh_token", refresh_token, resource };
    return tokenSetOf(await postAsClient(grant, "token_endpoint", form), now);
  };
  const { onRefreshed: onObtained, fetch } = options;
  return createTokenSource({ obtain, onObtained, first, clock, fetch, environment: settings.environment });
}
