/** The part of a configuration that grants use, and the provider it names. */
import { checkConfiguration, idTokenAlgOf } from "../configuration/check-configuration.ts";
import { inSpecificationNames } from "../configuration/field-names.ts";
import { propertyProblems, providerSetting, withVariables } from "../configuration/properties.ts";
import type { ConfigurationProperties, Settings } from "../configuration/settings.ts";
import { configurationError, SignetError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { createProvider } from "../provider/discovery.ts";
import { createHttp } from "../provider/http.ts";
import { clientSecurity } from "../security-profile/client-security.ts";
import { createDpop, createDpopJwk } from "../security-profile/dpop.ts";
import type { ClientAuthentication } from "./client-authentication.ts";

/** A filter's configuration works as well; grants ignore the properties they don't use. */
export interface GrantConfiguration extends ConfigurationProperties {}

/** Options of every grant. */
export interface GrantOptions extends Runtime {
  /** Default: `oauthClientCertificate`, `oauthClientKey` or `oauthClientSecret`; without one, a public client. */
  readonly clientAuthentication?: ClientAuthentication;
  /** Uses the mutual-TLS endpoints (RFC 8705 §5); `fetch` presents the certificate. Implied by `tls_client_auth`. */
  readonly useMtlsEndpoints?: boolean;
  /** The token's resource (RFC 8707): an API's audience. Default: as registered for the application. */
  readonly resource?: string;
}

export type GrantSettings = ReturnType<typeof grantSettings>;

const usedProperties = [
  "federationServer",
  "applicationId",
  "oauthOrganisationId",
  "oauthClientId",
  "oauthClientSecret",
  "oauthClientKey",
  "oauthClientCertificate",
  "oauthClientCertificateKey",
  "securityProfile",
  "oauthScopes",
  "issuer",
  "environment",
  "sovereignSigningPoolId",
  "sovereignTrustedRootCertificates",
  "sovereignKeyThumbprints",
  "sovereignPublicKeys",
  "sovereignRequiredKeyId",
  "sovereignAllowUnpinned",
  "sovereignIssuerMode",
] as const satisfies (keyof ConfigurationProperties)[];

/** @throws SignetError `configuration` */
export function grantSettings(configuration: GrantConfiguration, options: GrantOptions) {
  const { clock = Date.now, useMtlsEndpoints = false, resource, onError } = options;
  const contradictions: string[] = [];
  const specified = inSpecificationNames(configuration, contradictions);
  if (contradictions.length > 0) throw configurationError(...contradictions);
  const members = Object.fromEntries(usedProperties.map((name) => [name, specified[name]]));
  const { oauthIdTokenAlg } = configuration;
  const problems = propertyProblems({ filterType: "OAuthFederated", oauthIdTokenAlg });
  if (problems.length > 0) throw configurationError(...problems.map(withVariables));
  // OAuthUserBearer has the same rules for URLs and ids; the audience stays unused.
  const settings = checkAsGrant({ ...members, filterType: "OAuthUserBearer", oauthAudience: "unused" });
  const { issuer, clientId, environment, scopes } = settings;
  if (issuer === undefined || clientId === undefined)
    throw configurationError("A grant needs oauthClientId.");
  const setting = providerSetting(settings);
  const security = clientSecurity(settings, options);
  const { authentication } = security;
  const runtime = security.fetch === undefined ? options : { ...options, fetch: security.fetch };
  const http = createHttp(runtime, { environment, setting });
  return {
    ...{ settings, issuer, clientId, authentication, resource, http, clock, runtime },
    // Tokens of a program live no longer than its key.
    dpop: security.usesDpop ? createDpop(createDpopJwk, new Map(), clock) : undefined,
    scope: scopes.length === 0 ? undefined : scopes.join(" "),
    idTokenAlg: idTokenAlgOf(configuration),
    usesMtlsEndpoints: useMtlsEndpoints || security.usesMtlsEndpoints,
    provider: createProvider({ issuer, http, clock, onError, setting }),
  };
}

/** Reasons name the grant instead of the filter whose rules it borrows. */
function checkAsGrant(configuration: ConfigurationProperties): Settings {
  try {
    return checkConfiguration(configuration);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const rename = (reason: string) => reason.replace(/^OAuthUserBearer needs/, "A grant needs");
    throw configurationError(...error.reasons.map(rename));
  }
}
