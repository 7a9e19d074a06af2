/** A provider's metadata (OpenID Connect Discovery 1.0 §4, RFC 8414 §3) and its keys. */
import { otherIssuer, SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import { createCachedDocument } from "./cached-document.ts";
import { type Http, providerError } from "./http.ts";
import { createKeySet, type KeySet } from "./key-set.ts";

const FRESH_MS = 3_600_000;
const STALE_MS = 24 * FRESH_MS;
const RETRY_MS = 60_000;

/** Metadata under the names of the standards; members the SDK doesn't use are left out. URLs are absolute. */
export interface ProviderMetadata {
  readonly issuer: string;
  readonly jwks_uri: string;
  readonly authorization_endpoint?: string;
  readonly token_endpoint?: string;
  readonly userinfo_endpoint?: string;
  readonly end_session_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly introspection_endpoint?: string;
  readonly device_authorization_endpoint?: string;
  /** CIBA Core §4. */
  readonly backchannel_authentication_endpoint?: string;
  /** RFC 9126 §5. */
  readonly pushed_authorization_request_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly code_challenge_methods_supported?: readonly string[];
  /** RFC 9207: every authorization response contains `iss`. */
  readonly authorization_response_iss_parameter_supported?: boolean;
  /** RFC 8705 §5. */
  readonly mtls_endpoint_aliases?: Readonly<Record<string, string>>;
}

/** An OpenID provider. */
export interface Provider {
  /** Cached for an hour. Throws `SignetError`: `provider_unreachable`, `provider_answer`. */
  metadata(): Promise<ProviderMetadata>;
  readonly keys: KeySet;
}

/** Options of `createProvider`. */
export interface ProviderOptions {
  /** Exactly as in the provider's metadata, with or without a trailing slash. */
  readonly issuer: string;
  readonly http: Http;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** The setting that the issuer comes from, as errors name it. */
  readonly setting?: string | undefined;
  /** Receives failed refreshes that cached documents have bridged. */
  readonly onError?: ((error: Error) => void) | undefined;
}

const endpoints = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "end_session_endpoint",
  "revocation_endpoint",
  "introspection_endpoint",
  "device_authorization_endpoint",
  "backchannel_authentication_endpoint",
  "pushed_authorization_request_endpoint",
] as const;
const listMembers = ["token_endpoint_auth_methods_supported", "code_challenge_methods_supported"] as const;

/** Creates a provider. Nothing is fetched before the first use. */
export function createProvider({ issuer, http, clock, onError, setting }: ProviderOptions): Provider {
  const metadata = createCachedDocument<ProviderMetadata>({
    load: async () => {
      const response = await http.json(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
      if (response.status !== 200) throw providerError(response, "metadata");
      return { value: parseMetadata(response.body, issuer, setting), freshMs: FRESH_MS };
    },
    ...{ clock, onError, staleMs: STALE_MS, retryMs: RETRY_MS },
  });
  const jwksUri = async () => (await metadata.get()).jwks_uri;
  return { metadata: metadata.get, keys: createKeySet({ jwksUri, http, clock, onError }) };
}

function parseMetadata(body: unknown, issuer: string, setting = "issuer"): ProviderMetadata {
  if (!isRecord(body))
    throw new SignetError("provider_answer", "The provider's metadata is not a JSON object.");
  // Discovery §4.3: otherwise a provider could speak for another one, and point to its keys.
  if (body["issuer"] !== issuer)
    throw otherIssuer("provider_answer", "The provider's metadata names another issuer", body["issuer"], {
      expected: issuer,
      setting,
    });
  const urls = endpoints.flatMap((name) => {
    const url = body[name] ?? undefined;
    return url === undefined ? [] : [[name, requireUrl(url, name)] as const];
  });
  const lists = listMembers.flatMap((name) => {
    const list = body[name];
    return Array.isArray(list) ? [[name, list.filter((item) => typeof item === "string")] as const] : [];
  });
  const aliases = body["mtls_endpoint_aliases"];
  const parseAliases = (record: Record<string, unknown>) =>
    Object.fromEntries(Object.entries(record).map(([name, value]) => [name, requireUrl(value, name)]));
  return {
    issuer,
    jwks_uri: requireUrl(body["jwks_uri"], "jwks_uri"),
    ...Object.fromEntries(urls),
    ...Object.fromEntries(lists),
    authorization_response_iss_parameter_supported:
      body["authorization_response_iss_parameter_supported"] === true,
    ...(isRecord(aliases) ? { mtls_endpoint_aliases: parseAliases(aliases) } : {}),
  };
}

/** Encryption is checked at the call; a browser must not be sent to a `javascript:` URL either. */
function requireUrl(url: unknown, name: string): string {
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url))
    throw new SignetError("provider_answer", `The provider's metadata has no usable ${name}.`);
  return url;
}
