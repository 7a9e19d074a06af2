/** Protected resource metadata (RFC 9728): tells a client that has no token yet where to get one. */
import type { Settings } from "../configuration/settings.ts";
import { configurationError } from "../errors.ts";
import { clientAlgorithms } from "../tokens/algorithms.ts";
import { withoutUndefined } from "../tokens/claims.ts";

/** What an API says of itself, see `resourceMetadata` of `OAuthUserBearerOptions`. */
export interface ResourceMetadata {
  /** The API's identifier, an https URL (http on loopback). Default: `oauthAudience`, if that is one. */
  readonly resource?: string;
  /** Its name for people. */
  readonly name?: string;
  /** The URL of its documentation. */
  readonly documentation?: string;
  /** Scopes that clients may ask for. Default: `oauthScopes`. */
  readonly scopesSupported?: readonly string[];
}

export interface PublishedMetadata {
  /** Of the document, for `WWW-Authenticate` (§5.1). */
  readonly url: string;
  /** The document, for a request of its URL; undefined for any other request. */
  answer(request: Request): Response | undefined;
}

const WELL_KNOWN = "/.well-known/oauth-protected-resource";

/** @throws SignetError `configuration` */
export function publishedMetadata(wanted: ResourceMetadata | true, settings: Settings): PublishedMetadata {
  const described = wanted === true ? {} : wanted;
  const resource = requireUrl(described.resource ?? settings.audience, settings.baseUrl);
  const { origin, pathname, search } = new URL(resource);
  // §3.1: a terminating slash of the host alone goes.
  const path = `${WELL_KNOWN}${pathname === "/" ? "" : pathname}`;
  const acceptsDpop = settings.baseUrl !== undefined;
  const document = withoutUndefined({
    resource,
    authorization_servers: issuersOf(settings),
    bearer_methods_supported: ["header"],
    scopes_supported: described.scopesSupported ?? (settings.scopes.length > 0 ? settings.scopes : undefined),
    resource_name: described.name,
    resource_documentation: described.documentation,
    dpop_signing_alg_values_supported: acceptsDpop ? clientAlgorithms : undefined,
  });
  const body = JSON.stringify(document);
  return {
    url: `${origin}${path}${search}`,
    answer: (request) => {
      if (new URL(request.url).pathname !== path) return undefined;
      return respond(request.method, body);
    },
  };
}

/** With `organisations` those of the list; of others there are too many, or they are nobody's business. */
function issuersOf({ issuer, tokenIssuer, federationServer, organisations }: Settings) {
  if (organisations === undefined) return [issuer ?? tokenIssuer];
  if (organisations === "any" || typeof organisations === "function") return undefined;
  return organisations.map((id) => `${federationServer}/oauth/${id}`);
}

/** Public, and read by scripts of every origin (§3.2). */
function respond(method: string, body: string): Response {
  const headers = {
    "access-control-allow-origin": "*",
    "access-control-allow-headers": "*",
    "access-control-allow-methods": "GET, HEAD",
  };
  if (method === "OPTIONS") return new Response(null, { status: 204, headers });
  if (method !== "GET" && method !== "HEAD")
    return new Response(null, { status: 405, headers: { allow: "GET, HEAD, OPTIONS" } });
  return new Response(method === "HEAD" ? null : body, {
    headers: { ...headers, "content-type": "application/json", "cache-control": "public, max-age=300" },
  });
}

/** §1.2: https, without fragment. */
function requireUrl(text: string | undefined, baseUrl: string | undefined): string {
  const url = text === undefined ? null : URL.parse(text);
  const isLoopback = url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname);
  const isSecure = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback);
  if (text === undefined || url === null || !isSecure || text.includes("#"))
    throw configurationError(
      "resourceMetadata needs a resource that is an https URL without fragment: set it, or oauthAudience.",
    );
  if (baseUrl !== undefined && new URL(baseUrl).origin !== url.origin)
    throw configurationError("The resource of resourceMetadata must be of the origin of baseUrl.");
  return text;
}
