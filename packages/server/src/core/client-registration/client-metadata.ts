/**
 * Client metadata (RFC 7591 §2, OpenID Connect Registration §2) as an application. What is not known is ignored (§2); what is known
 * and cannot be so is refused with the RFC's code.
 */
import { OAuthError } from "@signet/protocol/oauth/oauth-error";
import { type ClientType, checkRegistrableRedirectUri } from "@signet/protocol/oauth/redirect-uri";
import { parseScope } from "@signet/protocol/oauth/scope";
import {
  type ApplicationSettings,
  defaultSettings,
  type GrantType,
  grantTypes,
  type TokenEndpointAuthMethod,
  tokenEndpointAuthMethods,
} from "../applications/application.ts";
import { securitySettings } from "../applications/security-settings.ts";
import {
  type ApplicationRules,
  type Fault,
  InvalidApplication,
  requireValidApplication,
} from "../applications/validation.ts";
import type { RegistrationBounds } from "./initial-access-token.ts";
import { metadataName, readSecurityMetadata } from "./security-metadata.ts";

export type ClientMetadata = Readonly<Record<string, unknown>>;

/** What a client has registered as. */
export interface RegisteringClient {
  readonly name: string;
  readonly clientType: ClientType;
  readonly settings: ApplicationSettings;
}

/** RFC 7591 §3.2.2. */
export const invalidMetadata = (message: string): OAuthError =>
  new OAuthError("invalid_client_metadata", message);

function refuse(message: string): never {
  throw invalidMetadata(message);
}

/** What a client says of itself; all else is its administrator's. */
const ownSettings: ReadonlyArray<keyof ApplicationSettings> = [
  ...(["redirectUris", "postLogoutRedirectUris", "grantTypes", "tokenEndpointAuthMethod"] as const),
  ...([
    "contacts",
    "allowedScopes",
    "allowedResources",
    "jwks",
    "jwksUri",
    "homepageUri",
    "logoUri",
  ] as const),
  ...(["idTokenSignedResponseAlg", "backchannelLogoutUri", "tlsClientCertificateBoundAccessTokens"] as const),
  ...securitySettings,
];

const settingsOfOthers = (before: ApplicationSettings): Partial<ApplicationSettings> =>
  Object.fromEntries(
    Object.entries(before).filter(([name]) => !ownSettings.some((own) => own === name)),
  ) as Partial<ApplicationSettings>;

/**
 * @param before of a client that replaces its metadata
 * @throws OAuthError invalid_redirect_uri, invalid_client_metadata
 */
export function readClientMetadata(
  metadata: ClientMetadata,
  bounds: RegistrationBounds,
  { before, isDemo }: { readonly before?: ApplicationSettings } & ApplicationRules = {},
): RegisteringClient {
  const method = readMethod(metadata);
  const grants = readGrants(metadata, bounds);
  const redirectUris = readTexts(metadata, "redirect_uris") ?? [];
  const clientType = typeOf(metadata, method, redirectUris);
  requireRedirectUris(redirectUris, grants, clientType);
  const settings: ApplicationSettings = {
    ...defaultSettings(clientType),
    ...(before && settingsOfOthers(before)),
    ...{ redirectUris, grantTypes: grants, tokenEndpointAuthMethod: method },
    postLogoutRedirectUris: readTexts(metadata, "post_logout_redirect_uris") ?? [],
    contacts: readTexts(metadata, "contacts") ?? [],
    allowedScopes: readScopes(metadata, bounds),
    allowedResources: bounds.allowedResources,
    ...readKeys(metadata),
    ...readPages(metadata, redirectUris),
    ...readTokens(metadata),
    ...readSecurityMetadata(metadata, refuse),
  };
  if (method === "private_key_jwt" && settings.jwks === undefined && settings.jwksUri === undefined)
    refuse("private_key_jwt needs public keys: jwks or jwks_uri");
  if (settings.authorizationDetailsTypes.length > 0)
    refuse("authorization_details_types are more than the initial access token allows");
  const client = { name: readName(metadata, redirectUris), clientType, settings };
  requireValid(client, { isDemo });
  return client;
}

function requireValid(client: RegisteringClient, rules: ApplicationRules): void {
  try {
    requireValidApplication(client, rules);
  } catch (error) {
    if (error instanceof InvalidApplication) throw metadataFault(error.faults);
    throw error;
  }
}

/** A rule's fault, with its member named as the client wrote it. */
export function metadataFault([fault]: readonly Fault[]): OAuthError {
  if (fault === undefined) return invalidMetadata("the metadata is invalid");
  const { path, message } = fault;
  const [, member = "", rest = ""] = /^([A-Za-z]+)(.*)$/.exec(path) ?? [];
  const text = `${names[member] ?? metadataName(member)}${rest}: ${message}`;
  return new OAuthError(member === "redirectUris" ? "invalid_redirect_uri" : "invalid_client_metadata", text);
}

const names: Readonly<Record<string, string>> = {
  name: "client_name",
  homepageUri: "client_uri",
  allowedScopes: "scope",
};

function readText(metadata: ClientMetadata, name: string): string | undefined {
  const value = metadata[name];
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : refuse(`${name} is not a string`);
}

function readTexts(metadata: ClientMetadata, name: string): string[] | undefined {
  const value = metadata[name];
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every((one) => typeof one === "string"))
    return name === "redirect_uris"
      ? refuseRedirect("redirect_uris is not a list of strings")
      : refuse(`${name} is not a list of strings`);
  return [...new Set(value)];
}

function refuseRedirect(message: string): never {
  throw new OAuthError("invalid_redirect_uri", message);
}

/** RFC 7591 §2: a secret in the header, unless it says so. */
function readMethod(metadata: ClientMetadata): TokenEndpointAuthMethod {
  const method = readText(metadata, "token_endpoint_auth_method") ?? "client_secret_basic";
  const known = tokenEndpointAuthMethods.find((one) => one === method);
  return known ?? refuse(`token_endpoint_auth_method must be one of ${tokenEndpointAuthMethods.join(", ")}`);
}

/** RFC 7591 §2.1: both members agree. Beyond what the initial access token allows is refused. */
function readGrants(metadata: ClientMetadata, bounds: RegistrationBounds): GrantType[] {
  const asked = readTexts(metadata, "grant_types") ?? ["authorization_code"];
  const grants = grantTypes.filter((grant) => asked.includes(grant));
  if (grants.length < asked.length || grants.length === 0)
    refuse(`grant_types must be some of ${grantTypes.join(", ")}`);
  const excess = grants.find((grant) => !bounds.grantTypes.includes(grant));
  if (excess !== undefined) refuse(`the initial access token does not allow the grant type ${excess}`);
  const hasCode = grants.includes("authorization_code");
  const types = readTexts(metadata, "response_types") ?? (hasCode ? ["code"] : []);
  if (types.some((type) => type !== "code")) refuse("response_types must be code");
  if (types.includes("code") !== hasCode)
    refuse("response_types and grant_types contradict each other (RFC 7591 §2.1)");
  return grants;
}

/** Cut to what the initial access token allows; all of that where none is asked for. */
function readScopes(metadata: ClientMetadata, { allowedScopes }: RegistrationBounds): string[] {
  const scope = readText(metadata, "scope");
  if (scope === undefined) return [...allowedScopes];
  const asked = scope === "" ? [] : parseScope(scope);
  if (asked === undefined) return refuse("scope is not a list of scopes (RFC 6749 §3.3)");
  return allowedScopes.filter((one) => asked.includes(one));
}

/** A client without a secret on somebody's machine, whose port is known at run time (RFC 8252 §7.3), or in a browser. */
function typeOf(
  metadata: ClientMetadata,
  method: TokenEndpointAuthMethod,
  redirectUris: readonly string[],
): ClientType {
  const kind = readText(metadata, "application_type");
  if (kind !== undefined && kind !== "web" && kind !== "native")
    refuse("application_type must be web or native");
  if (method !== "none") return "confidential";
  return kind === "native" || redirectUris.some((uri) => !uri.startsWith("https:")) ? "native" : "public";
}

function requireRedirectUris(
  uris: readonly string[],
  grants: readonly GrantType[],
  clientType: ClientType,
): void {
  if (grants.includes("authorization_code") && uris.length === 0)
    refuseRedirect("redirect_uris are required for the authorization code grant (RFC 7591 §2)");
  if (uris.length > 50) refuseRedirect("redirect_uris are at most 50");
  for (const [index, uri] of uris.entries()) {
    const fault = checkRegistrableRedirectUri(uri, clientType);
    if (fault) refuseRedirect(`redirect_uris[${index}] ${fault.message}`);
  }
}

function readKeys(metadata: ClientMetadata): Pick<ApplicationSettings, "jwks" | "jwksUri"> {
  const { jwks } = metadata;
  const jwksUri = readText(metadata, "jwks_uri");
  const uri = jwksUri === undefined ? {} : { jwksUri };
  if (jwks === undefined || jwks === null) return uri;
  const keys = typeof jwks === "object" ? (jwks as { keys?: unknown }).keys : undefined;
  if (!Array.isArray(keys) || keys.some((key) => typeof key !== "object" || key === null))
    return refuse("jwks is not a key set");
  return { jwks: { keys: keys as Array<Record<string, unknown>> }, ...uri };
}

/** RFC 7591 §5: a page or logo of another origin than its redirect URIs would borrow somebody's name. Such a one is left out. */
function readPages(
  metadata: ClientMetadata,
  redirectUris: readonly string[],
): Pick<ApplicationSettings, "homepageUri" | "logoUri"> {
  const origins = redirectUris.map((uri) => URL.parse(uri)?.origin);
  const own = (name: string) => {
    const uri = readText(metadata, name);
    return uri !== undefined && origins.includes(URL.parse(uri)?.origin) ? uri : undefined;
  };
  const [homepageUri, logoUri] = [own("client_uri"), own("logo_uri")];
  return {
    ...(homepageUri === undefined ? {} : { homepageUri }),
    ...(logoUri === undefined ? {} : { logoUri }),
  };
}

function readTokens(metadata: ClientMetadata): Partial<ApplicationSettings> {
  const subjectType = readText(metadata, "subject_type") ?? "public";
  if (subjectType !== "public") refuse("subject_type must be public");
  const alg = readText(metadata, "id_token_signed_response_alg");
  const backchannelLogoutUri = readText(metadata, "backchannel_logout_uri");
  const bound = metadata["tls_client_certificate_bound_access_tokens"] ?? false;
  if (typeof bound !== "boolean") refuse("tls_client_certificate_bound_access_tokens is not a boolean");
  return {
    ...(alg === undefined
      ? {}
      : { idTokenSignedResponseAlg: alg as ApplicationSettings["idTokenSignedResponseAlg"] }),
    ...(backchannelLogoutUri === undefined ? {} : { backchannelLogoutUri }),
    tlsClientCertificateBoundAccessTokens: bound,
  };
}

/** What it calls itself, in characters that deceive nobody; else where it lives. */
function readName(metadata: ClientMetadata, redirectUris: readonly string[]): string {
  const plain = (readText(metadata, "client_name") ?? "").replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, " ").trim();
  const host = URL.parse(redirectUris[0] ?? "")?.host;
  return [...(plain === "" ? host || "Client" : plain)].slice(0, 100).join("").trim();
}
