/** What a filter asks of tokens: scopes, audience, and how strictly they are looked at. */
import type { Fault } from "./configuration-fault.ts";
import type { FilterType } from "./filter.ts";

interface OAuthProperties {
  readonly filterType: FilterType;
  readonly applicationId?: string;
  readonly oauthClientId?: string;
  readonly oauthClientSecret?: string;
  readonly oauthScopes?: string;
  readonly oauthAudience?: string;
  readonly introspectTokens?: boolean;
  readonly allowUntypedAccessTokens?: boolean;
}

/** RFC 6749 §3.3. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

export function checkedOAuth(configuration: OAuthProperties, fault: Fault) {
  const { filterType, oauthAudience: audience } = configuration;
  const { introspectTokens = false, allowUntypedAccessTokens = false } = configuration;
  if (filterType === "OAuthUserBearer") checkBearer(configuration, fault);
  else if (filterType !== "None" && (introspectTokens || allowUntypedAccessTokens))
    fault(
      "introspectTokens and allowUntypedAccessTokens are for OAuthUserBearer: no token is asked about here.",
    );
  return {
    scopes: checkedScopes(configuration, fault),
    ...(audience === undefined ? {} : { audience }),
    introspectTokens,
    allowUntypedAccessTokens,
  };
}

function checkBearer(configuration: OAuthProperties, fault: Fault): void {
  const { oauthAudience, introspectTokens, allowUntypedAccessTokens } = configuration;
  const clientId = configuration.oauthClientId ?? configuration.applicationId;
  if (oauthAudience === undefined)
    fault("OAuthUserBearer needs oauthAudience: or tokens for other APIs would be let in here.");
  if (introspectTokens && configuration.oauthClientSecret === undefined)
    fault(
      "introspectTokens needs oauthClientSecret: only confidential clients may ask (RFC 7662 section 2.1).",
    );
  if (introspectTokens && clientId === undefined) fault("introspectTokens needs oauthClientId.");
  // The audience is then the last thing that tells an ID token, which is made out to the client, from an access token.
  if (allowUntypedAccessTokens && oauthAudience !== undefined && oauthAudience === clientId)
    fault(
      "allowUntypedAccessTokens needs an oauthAudience that is not the client id, or ID tokens would pass.",
    );
}

function checkedScopes({ filterType, oauthScopes }: OAuthProperties, fault: Fault): readonly string[] {
  const isLogin = filterType === "OAuthFederated";
  const scopes = [...new Set((oauthScopes ?? (isLogin ? "openid profile email" : "")).split(" "))];
  const named = scopes.filter((scope) => scope !== "");
  if (!named.every((scope) => scopeToken.test(scope)))
    fault("oauthScopes must be scope names separated by single spaces.");
  if (isLogin && !named.includes("openid"))
    fault(
      "oauthScopes must have openid, and names are separated by spaces: without it no ID token says who signed in.",
    );
  return named;
}
