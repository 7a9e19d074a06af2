/** Checks a configuration and applies the defaults. Every check adds its finding to one list of reasons. */
import { configurationError } from "../errors.ts";
import { withoutUndefined } from "../tokens/claims.ts";
import { checkCredentials } from "./credentials.ts";
import { propertyProblems } from "./properties.ts";
import type { Settings, SignetConfiguration } from "./settings.ts";
import { checkSovereign } from "./sovereign.ts";
import { checkUrls } from "./urls.ts";

/**
 * Checks a configuration and applies the defaults.
 * @throws SignetError `configuration`, with every problem in `reasons`: an application that would be left unprotected doesn't
 * start
 */
export function checkConfiguration(configuration: SignetConfiguration): Settings {
  // Types first: the checks after it rely on them.
  const problems = propertyProblems(configuration);
  if (problems.length > 0) throw configurationError(...problems);
  const reasons: string[] = [];
  const { filterType, isOptional = false, environment = "production" } = configuration;
  const urls = checkUrls(configuration, reasons);
  const settings: Settings = withoutUndefined({
    ...{ filterType, isOptional, environment, ...urls },
    ...checkCredentials(configuration, reasons),
    ...checkOAuth(configuration, reasons),
    ...checkSovereign(configuration, urls.issuer, reasons),
    revalidateAfterSeconds: configuration.revalidateAfterSeconds ?? 60,
  });
  if (reasons.length > 0) throw configurationError(...reasons);
  return settings;
}

/** RFC 6749 §3.3. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function checkOAuth(configuration: SignetConfiguration, reasons: string[]) {
  const { filterType, oauthAudience: audience } = configuration;
  const { introspectTokens = false, allowUntypedAccessTokens = false } = configuration;
  if (filterType === "OAuthUserBearer") checkBearer(configuration, reasons);
  else if (filterType !== "None" && (introspectTokens || allowUntypedAccessTokens))
    reasons.push("introspectTokens and allowUntypedAccessTokens are only for OAuthUserBearer.");
  return {
    ...{ audience, introspectTokens, allowUntypedAccessTokens },
    scopes: checkScopes(configuration, reasons),
  };
}

function checkBearer(configuration: SignetConfiguration, reasons: string[]): void {
  const { oauthAudience, introspectTokens, allowUntypedAccessTokens } = configuration;
  const clientId = configuration.oauthClientId ?? configuration.applicationId;
  if (oauthAudience === undefined)
    reasons.push("OAuthUserBearer needs oauthAudience: otherwise tokens for other APIs would be accepted.");
  if (introspectTokens && configuration.oauthClientSecret === undefined)
    reasons.push("introspectTokens needs oauthClientSecret: introspection is for confidential clients.");
  if (introspectTokens && clientId === undefined) reasons.push("introspectTokens needs oauthClientId.");
  // Without `typ`, the audience is all that tells an access token from an ID token.
  if (allowUntypedAccessTokens && oauthAudience !== undefined && oauthAudience === clientId)
    reasons.push(
      "allowUntypedAccessTokens needs an oauthAudience other than the client id: otherwise ID tokens would be accepted.",
    );
}

function checkScopes({ filterType, oauthScopes }: SignetConfiguration, reasons: string[]): readonly string[] {
  const isLogin = filterType === "OAuthFederated";
  const requested = oauthScopes ?? (isLogin ? "openid profile email" : "");
  const scopes = [...new Set(requested.split(" "))].filter((scope) => scope !== "");
  if (!scopes.every((scope) => scopeToken.test(scope)))
    reasons.push("oauthScopes must be scope names separated by single spaces.");
  if (isLogin && !scopes.includes("openid"))
    reasons.push(
      "oauthScopes must include openid, separated from other scopes by spaces: ID tokens depend on it.",
    );
  return scopes;
}
