/** URLs and paths: of the provider, of the application, and of the filter's own routes. */
import { isAllowedUrl } from "../provider/http.ts";
import { isUuid } from "./properties.ts";
import type { FilterProperties } from "./settings.ts";

/** Segments of unreserved characters (RFC 3986 §2.3), none of them only dots. */
const plainPath = /^(?:\/(?!\.+(?:\/|$))[A-Za-z0-9._~-]+)+$/;

export function checkUrls(configuration: FilterProperties, reasons: string[]) {
  const { basePath = "/signet", afterLogoutPath = "/", environment = "production" } = configuration;
  const federationServer = configuration.federationServer?.replace(/\/$/, "");
  for (const name of ["federationServer", "issuer", "baseUrl"] as const) {
    const url = configuration[name];
    if (url !== undefined && !isAllowedUrl(url, environment))
      reasons.push(`${name} must be an https URL (http is allowed for localhost, or outside production).`);
    else if (url !== undefined && new URL(url).search !== "") reasons.push(`${name} must not have a query.`);
  }
  checkBaseUrl(configuration, reasons);
  if (!plainPath.test(basePath)) reasons.push("basePath must be a plain path such as /signet.");
  if (!isLocalPath(afterLogoutPath))
    reasons.push("afterLogoutPath must be a path of the application, such as /.");
  const issuer = checkIssuer(configuration, reasons);
  const baseUrl = configuration.baseUrl?.replace(/\/$/, "");
  return { federationServer, issuer, baseUrl, basePath, afterLogoutPath };
}

function checkBaseUrl({ baseUrl, filterType }: FilterProperties, reasons: string[]): void {
  const isRequired = filterType === "OAuthFederated" || filterType === "UserFederated";
  if (baseUrl === undefined && isRequired)
    reasons.push(`${filterType} needs baseUrl: the application's public origin.`);
  if (
    baseUrl !== undefined &&
    URL.canParse(baseUrl) &&
    new URL(baseUrl).origin !== baseUrl.replace(/\/$/, "")
  )
    reasons.push(
      "baseUrl must be an origin such as https://app.example.com, in lower case and without a path: an application behind a " +
        "path prefix has it in basePath, as /prefix/signet.",
    );
}

function checkIssuer(configuration: FilterProperties, reasons: string[]): string | undefined {
  const { filterType, issuer, federationServer, oauthOrganisationId, organisations } = configuration;
  if (filterType === "None") return issuer;
  if (!filterType.startsWith("OAuth")) {
    if (federationServer === undefined) reasons.push(`${filterType} needs federationServer.`);
    if (issuer !== undefined)
      reasons.push(`issuer is for the OAuth filters: ${filterType} uses federationServer.`);
    return undefined;
  }
  if (oauthOrganisationId !== undefined && !isUuid(oauthOrganisationId))
    reasons.push("oauthOrganisationId must be the organisation's PublicId, a UUID.");
  if (issuer !== undefined) {
    checkSameIssuer({ issuer, federationServer, oauthOrganisationId }, reasons);
    return issuer;
  }
  if (federationServer === undefined) reasons.push(`${filterType} needs federationServer, or issuer.`);
  // Each token names its own.
  if (organisations !== undefined) return undefined;
  if (oauthOrganisationId === undefined) reasons.push(`${filterType} needs oauthOrganisationId, or issuer.`);
  return `${federationServer?.replace(/\/$/, "")}/oauth/${oauthOrganisationId?.toLowerCase()}`;
}

interface IssuerNames {
  readonly issuer: string;
  readonly federationServer: string | undefined;
  readonly oauthOrganisationId: string | undefined;
}

/** Both ways to say it are fine when they say the same. */
function checkSameIssuer(names: IssuerNames, reasons: string[]): void {
  const { issuer, federationServer, oauthOrganisationId } = names;
  const [, server, organisation] = /^(.*)\/oauth\/([^/]+)$/.exec(issuer) ?? [];
  const others = [
    ["federationServer", federationServer?.replace(/\/$/, ""), server],
    ["oauthOrganisationId", oauthOrganisationId?.toLowerCase(), organisation],
  ] as const;
  for (const [name, value, inIssuer] of others)
    if (value !== undefined && value !== inIssuer)
      reasons.push(`issuer and ${name} name different providers: set one of them.`);
}

/** Browsers read `//host` and `/\host` as another origin (WHATWG URL §4.4). */
function isLocalPath(path: string): boolean {
  const origin = "https://own.invalid";
  return path.startsWith("/") && URL.canParse(path, origin) && new URL(path, origin).origin === origin;
}
