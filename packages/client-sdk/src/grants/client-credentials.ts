/** The client credentials grant (RFC 6749 §4.4): a service that acts by its own right, for nobody. */
import { SignetError } from "../errors.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { tokenSetOf } from "./token-answer.ts";
import { postAsClient } from "./token-request.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";

/**
 * A source of access tokens for calls from one service to another. Make one and keep it: it holds the token, fetches a new
 * one before it ends, and one fetch serves all who ask at the same time. Nothing is fetched before the first call.
 *
 * @param configuration `oauthScopes` are what the token must have; `oauthClientSecret` or `options.clientAuthentication`
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
  const { settings, clock, authentication, resource } = grant;
  // RFC 6749 §4.4: whoever knows a public client's name would get its tokens.
  if (authentication.method === "none")
    throw new SignetError("configuration", "Client credentials need oauthClientSecret, or another proof.", {
      reasons: ["Client credentials need oauthClientSecret, or another proof."],
    });
  const scope = settings.scopes.length === 0 ? undefined : settings.scopes.join(" ");
  const obtain = async () => {
    const now = clock();
    const form = { grant_type: "client_credentials", scope, resource };
    const tokens = tokenSetOf(await postAsClient(grant, "token_endpoint", form), now);
    requireGranted(settings.scopes, tokens.scopes);
    return tokens;
  };
  return createTokenSource({ obtain, clock, fetch: options.fetch, environment: settings.environment });
}

/** RFC 6749 §3.3: the provider may grant less, and says so. Told here and not by an API's refusal somewhere later. */
function requireGranted(asked: readonly string[], granted: readonly string[] | undefined): void {
  const missing = granted === undefined ? [] : asked.filter((scope) => !granted.includes(scope));
  if (missing.length > 0)
    throw new SignetError(
      "insufficient_scope",
      `The provider does not grant the scope ${missing.join(" ")}.`,
    );
}
