/** Checks a configuration and applies the defaults. Every check adds its finding to one list of reasons. */
import { configurationError } from "../errors.ts";
import { withoutUndefined } from "../tokens/claims.ts";
import { checkCredentials } from "./credentials.ts";
import { inSpecificationNames, inWrittenNames } from "./field-names.ts";
import { checkLedger } from "./ledger.ts";
import { checkOrganisations } from "./organisations.ts";
import { named, propertyProblems, withVariables } from "./properties.ts";
import { checkSecurityProfile } from "./security-profile.ts";
import type { ConfigurationProperties, FilterProperties, Settings } from "./settings.ts";
import { checkSovereign } from "./sovereign.ts";
import { checkUrls } from "./urls.ts";

/**
 * Checks a configuration and applies the defaults.
 * @throws SignetError `configuration`, with every problem in `reasons`: an application that would be left unprotected doesn't
 * start
 */
export function checkConfiguration(properties: ConfigurationProperties): Settings {
  // Types first: the checks after it rely on them.
  const problems = propertyProblems(properties);
  if (problems.length > 0) throw configurationError(...problems.map(withVariables));
  const reasons: string[] = [];
  const configuration = inSpecificationNames(properties as FilterProperties, reasons);
  const { filterType, isOptional = false, environment = "production" } = configuration;
  const urls = checkUrls(configuration, reasons);
  const settings: Settings = withoutUndefined({
    ...{ filterType, isOptional, environment, ...urls },
    ...checkCredentials(configuration, reasons),
    ...checkSecurityProfile(configuration, reasons),
    ...checkOAuth(configuration, reasons),
    ...checkOrganisations(configuration, reasons),
    ...checkSovereign(configuration, urls.issuer, reasons),
    ...checkAcceptPlain(configuration, reasons),
    ...checkLedger(configuration, urls.issuer, reasons),
    revalidateAfterSeconds: configuration.revalidateAfterSeconds ?? 60,
  });
  if (reasons.length > 0)
    throw configurationError(...reasons.map((reason) => inWrittenNames(withVariables(reason), properties)));
  return settings;
}

/** RFC 6749 §3.3. */
const scopeToken = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

function checkOAuth(configuration: FilterProperties, reasons: string[]) {
  const { filterType, oauthAudience: audience } = configuration;
  const { introspectTokens = false, allowUntypedAccessTokens = false } = configuration;
  if (filterType === "OAuthUserBearer") checkBearer(configuration, reasons);
  else if (filterType !== "None" && (introspectTokens || allowUntypedAccessTokens))
    reasons.push("introspectTokens and allowUntypedAccessTokens are only for OAuthUserBearer.");
  if (filterType !== "OAuthUserBearer" && filterType !== "None" && configuration.oauthUserinfo !== undefined)
    reasons.push("oauthUserinfo is only for OAuthUserBearer.");
  return {
    ...{ audience, introspectTokens, allowUntypedAccessTokens },
    fetchesUserinfo: filterType === "OAuthUserBearer" ? (configuration.oauthUserinfo ?? true) : undefined,
    idTokenAlg: checkIdTokenAlg(configuration, reasons),
    scopes: checkScopes(configuration, reasons),
  };
}

function checkIdTokenAlg(configuration: FilterProperties, reasons: string[]): string | undefined {
  const { filterType, oauthIdTokenAlg } = configuration;
  if (filterType !== "OAuthFederated") {
    if (oauthIdTokenAlg !== undefined && filterType !== "None")
      reasons.push("oauthIdTokenAlg is only for OAuthFederated: other filters receive no ID tokens.");
    return undefined;
  }
  return idTokenAlgOf(configuration);
}

/** The algorithm that ID tokens must have; undefined: any that the trusted keys have. */
export function idTokenAlgOf(configuration: ConfigurationProperties): string | undefined {
  const { oauthIdTokenAlg, issuer } = configuration;
  if (oauthIdTokenAlg !== undefined) return oauthIdTokenAlg;
  // Agents sign with the keys they have, and the pins decide which.
  if (
    Object.entries(configuration).some(([name, value]) => name.startsWith("sovereign") && value !== undefined)
  )
    return undefined;
  // FAPI 2.0 SP §5.4.1 refuses RS256, whoever the provider is.
  if ((configuration.securityProfile ?? "none") !== "none") return "ES256";
  // What a registration defaults to (OpenID Connect Registration §2: RS256).
  return issuer === undefined || signetIssuer.test(issuer) ? "ES256" : "RS256";
}

const signetIssuer = /\/oauth\/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

function checkAcceptPlain({ filterType, acceptPlain }: FilterProperties, reasons: string[]) {
  if (acceptPlain && filterType !== "SystemAccountExternal" && filterType !== "None")
    reasons.push("acceptPlain is only for SystemAccountExternal: no other filter receives signed requests.");
  return { acceptPlain };
}

function checkBearer(configuration: FilterProperties, reasons: string[]): void {
  const { oauthAudience, introspectTokens, allowUntypedAccessTokens } = configuration;
  const clientId = configuration.oauthClientId ?? configuration.applicationId;
  if (oauthAudience === undefined)
    reasons.push(
      `OAuthUserBearer needs ${named("oauthAudience")}, or ${named("audience")}: otherwise tokens for other APIs would be accepted.`,
    );
  const { oauthClientSecret, oauthClientKey, oauthClientCertificate } = configuration;
  if (introspectTokens && (oauthClientSecret ?? oauthClientKey ?? oauthClientCertificate) === undefined)
    reasons.push(
      "introspectTokens needs oauthClientSecret, oauthClientKey or oauthClientCertificate: introspection is for confidential clients.",
    );
  if (introspectTokens && clientId === undefined) reasons.push("introspectTokens needs oauthClientId.");
  // Without `typ`, the audience is all that tells an access token from an ID token.
  if (allowUntypedAccessTokens && oauthAudience !== undefined && oauthAudience === clientId)
    reasons.push(
      "allowUntypedAccessTokens needs an oauthAudience other than the client id: otherwise ID tokens would be accepted.",
    );
}

function checkScopes({ filterType, oauthScopes }: FilterProperties, reasons: string[]): readonly string[] {
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
