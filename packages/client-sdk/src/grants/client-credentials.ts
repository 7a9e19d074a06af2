/** Client credentials grant (RFC 6749 §4.4): a service acting for itself. */
import { configurationError, SignetError } from "../errors.ts";
import { type GrantConfiguration, type GrantOptions, grantSettings } from "./grant-settings.ts";
import { requestTokens } from "./oauth-client.ts";
import { createTokenSource, type TokenSource } from "./token-source.ts";

/**
 * Access tokens for service-to-service calls. Create one source and keep it: it caches the token, requests a new one before it
 * expires, and shares one request among concurrent callers. Nothing is fetched before the first call.
 *
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
  const { settings, clock, authentication, resource, scope } = grant;
  // RFC 6749 §4.4: a public client's id isn't a secret.
  if (authentication.method === "none")
    throw configurationError("Client credentials need oauthClientSecret, or other client authentication.");
  const obtain = async () => {
    const tokens = await requestTokens(grant, { grant_type: "client_credentials", scope, resource });
    requireGranted(settings.scopes, tokens.scopes);
    return tokens;
  };
  return createTokenSource({ obtain, clock, fetch: options.fetch, environment: settings.environment });
}

/** RFC 6749 §3.3: the provider may grant less than requested. Better reported here than by an API later. */
function requireGranted(requested: readonly string[], granted: readonly string[] | undefined): void {
  const missing = granted === undefined ? [] : requested.filter((scope) => !granted.includes(scope));
  if (missing.length > 0)
    throw new SignetError("insufficient_scope", `The provider did not grant: ${missing.join(" ")}.`);
}
