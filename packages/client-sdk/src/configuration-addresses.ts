/** The addresses in a configuration: of the provider, of the application, and of its own pages. */
import type { Fault } from "./configuration-fault.ts";
import type { FilterType } from "./filter.ts";
import { isAcceptableAddress } from "./provider/acceptable-address.ts";

interface AddressProperties {
  readonly filterType: FilterType;
  readonly environment?: string;
  readonly federationServer?: string;
  readonly oauthOrganisationId?: string;
  readonly issuer?: string;
  readonly baseUrl?: string;
  readonly basePath?: string;
  readonly afterLogoutPath?: string;
}

const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** Segments of unreserved characters (RFC 3986 §2.3); none that consists of dots. */
const plainPath = /^(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._~-]+)+$/;

export function checkedAddresses(configuration: AddressProperties, fault: Fault) {
  const { basePath = "/signet", afterLogoutPath = "/", environment = "production" } = configuration;
  const federationServer = configuration.federationServer?.replace(/\/$/, "");
  for (const name of ["federationServer", "issuer", "baseUrl"] as const) {
    const address = configuration[name];
    if (address !== undefined && !isAcceptableAddress(address, environment))
      fault(`${name} must be an https address (http only for this machine, or outside production).`);
    else if (address !== undefined && new URL(address).search !== "") fault(`${name} has no query.`);
  }
  checkBaseUrl(configuration, fault);
  if (!plainPath.test(basePath)) fault("basePath must be a plain path such as /signet.");
  if (!isOwnPath(afterLogoutPath)) fault("afterLogoutPath must be a path of the application, such as /.");
  const issuer = checkedIssuer(configuration, fault);
  return {
    ...(federationServer === undefined ? {} : { federationServer }),
    ...(issuer === undefined ? {} : { issuer }),
    ...(configuration.baseUrl === undefined ? {} : { baseUrl: configuration.baseUrl.replace(/\/$/, "") }),
    basePath,
    afterLogoutPath,
  };
}

function checkBaseUrl({ baseUrl, filterType }: AddressProperties, fault: Fault): void {
  const isNeeded = filterType === "OAuthFederated" || filterType === "UserFederated";
  if (baseUrl === undefined && isNeeded)
    fault(`${filterType} needs baseUrl: the address that browsers have of this application.`);
  if (
    baseUrl !== undefined &&
    URL.canParse(baseUrl) &&
    new URL(baseUrl).origin !== baseUrl.replace(/\/$/, "")
  )
    fault("baseUrl must be an origin such as https://app.example.com, in lower case and without a path.");
}

function checkedIssuer(parts: AddressProperties, fault: Fault): string | undefined {
  const { filterType, issuer, federationServer, oauthOrganisationId } = parts;
  if (filterType === "None") return issuer;
  if (!filterType.startsWith("OAuth")) {
    if (federationServer === undefined) fault(`${filterType} needs federationServer.`);
    if (issuer !== undefined)
      fault(`issuer is for the OAuth filters: ${filterType} asks the federationServer.`);
    return undefined;
  }
  if (oauthOrganisationId !== undefined && !uuid.test(oauthOrganisationId))
    fault("oauthOrganisationId must be the organisation's public id, a UUID.");
  if (issuer !== undefined) {
    if (federationServer !== undefined || oauthOrganisationId !== undefined)
      fault("issuer stands alone: leave federationServer and oauthOrganisationId out, or issuer.");
    return issuer;
  }
  if (federationServer === undefined) fault(`${filterType} needs federationServer, or issuer.`);
  if (oauthOrganisationId === undefined) fault(`${filterType} needs oauthOrganisationId, or issuer.`);
  return `${federationServer?.replace(/\/$/, "")}/oauth/${oauthOrganisationId?.toLowerCase()}`;
}

/** A path on the own origin whatever a browser makes of it: `//host` and `/\host` are other ones (WHATWG URL §4.4). */
function isOwnPath(path: string): boolean {
  const origin = "https://own.invalid";
  return path.startsWith("/") && URL.canParse(path, origin) && new URL(path, origin).origin === origin;
}
