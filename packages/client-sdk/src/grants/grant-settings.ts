/** What a grant needs of the configuration, and the provider that it asks. */
import { checkConfiguration, type Settings, type SignetConfiguration } from "../configuration.ts";
import { SignetError } from "../errors.ts";
import type { FilterType, Runtime } from "../filter.ts";
import { createProvider, type Provider } from "../provider/discovery.ts";
import { createHttp, type Http } from "../provider/http.ts";
import type { ClientAuthentication } from "./client-authentication.ts";

/** The configuration of a filter, which may be a filter's own; members that grants have no use for are not looked at. */
export interface GrantConfiguration extends Omit<SignetConfiguration, "filterType"> {
  readonly filterType?: FilterType;
}

/** What grants take beside their configuration. */
export interface GrantOptions extends Runtime {
  /** Default: `oauthClientSecret`; without one the client is a public one. */
  readonly clientAuthentication?: ClientAuthentication;
  /** Calls the endpoints that ask for a certificate (RFC 8705 §5); `fetch` then shows it. Always with `tls_client_auth`. */
  readonly useMtlsEndpoints?: boolean;
  /** What the token is for (RFC 8707): an API's audience. Default: what the application has registered. */
  readonly resource?: string;
}

export interface GrantSettings {
  readonly settings: Settings;
  readonly issuer: string;
  readonly clientId: string;
  readonly authentication: ClientAuthentication;
  readonly usesMtlsEndpoints: boolean;
  readonly resource: string | undefined;
  readonly provider: Provider;
  readonly http: Http;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly runtime: Runtime;
}

const used = [
  "federationServer",
  "applicationId",
  "oauthOrganisationId",
  "oauthClientId",
  "oauthClientSecret",
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
] as const satisfies (keyof SignetConfiguration)[];

/** @throws SignetError `configuration` */
export function grantSettings(configuration: GrantConfiguration, options: GrantOptions): GrantSettings {
  const { clock = Date.now, clientAuthentication, useMtlsEndpoints = false, resource } = options;
  const members = Object.fromEntries(used.map((name) => [name, configuration[name]]));
  // Of an OAuthUserBearer filter, which has the same rules for addresses and ids; its audience stays unused.
  const filter = { filterType: "OAuthUserBearer", oauthAudience: "unused" } as const;
  const settings = checkedAsGrant({ ...members, ...filter });
  const { issuer, clientId, clientSecret, environment } = settings;
  if (issuer === undefined || clientId === undefined)
    throw new SignetError("configuration", "A grant needs oauthClientId.", {
      reasons: ["A grant needs oauthClientId."],
    });
  const http = createHttp(options, { environment });
  const authentication = clientAuthentication ?? defaultAuthentication(clientSecret);
  return {
    ...{ settings, issuer, clientId, authentication, resource, http, clock },
    usesMtlsEndpoints: useMtlsEndpoints || authentication.method === "tls_client_auth",
    provider: createProvider({ issuer, http, clock, onError: options.onError }),
    runtime: options,
  };
}

/** The faults name the grant, and not the filter that its rules are taken from. */
function checkedAsGrant(configuration: SignetConfiguration): Settings {
  try {
    return checkConfiguration(configuration);
  } catch (error) {
    if (!(error instanceof SignetError)) throw error;
    const reasons = error.reasons.map((reason) => reason.replace(/^OAuthUserBearer needs/, "A grant needs"));
    throw new SignetError("configuration", `The configuration cannot work: ${reasons.join(" ")}`, {
      reasons,
    });
  }
}

export const defaultAuthentication = (secret: string | undefined): ClientAuthentication =>
  secret === undefined ? { method: "none" } : { method: "client_secret", secret };
