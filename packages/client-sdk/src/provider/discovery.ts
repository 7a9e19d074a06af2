/** A provider: its metadata (OpenID Connect Discovery 1.0 §4, RFC 8414 §3) and its keys. */
import { SignetError } from "../errors.ts";
import { isRecord } from "../tokens/claims.ts";
import { type Http, providerFault } from "./http.ts";
import { createKeySet, type KeySet } from "./key-set.ts";
import { createRefreshed } from "./refreshed.ts";

const HOUR_MS = 3_600_000;
const FRESH_MS = HOUR_MS;
const STALE_MS = 24 * HOUR_MS;
const RETRY_MS = 60_000;

/** Members as on the wire; what the SDK does not use is left out. Addresses are absolute. */
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
  readonly token_endpoint_auth_methods_supported?: readonly string[];
  readonly code_challenge_methods_supported?: readonly string[];
  /** RFC 9207: every answer of the authorization endpoint has `iss`. */
  readonly authorization_response_iss_parameter_supported?: boolean;
  /** RFC 8705 §5. */
  readonly mtls_endpoint_aliases?: Readonly<Record<string, string>>;
}

/** A provider, as far as it has been asked. */
export interface Provider {
  /** Fetched once an hour. Throws `SignetError`: `provider_unreachable`, `provider_answer`. */
  metadata(): Promise<ProviderMetadata>;
  readonly keys: KeySet;
}

/** What `createProvider` needs. */
export interface ProviderOptions {
  /** Exactly as the provider names itself, without or with a slash at the end. */
  readonly issuer: string;
  readonly http: Http;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /** Told when what is kept has to serve on, because the provider is away. */
  readonly onError?: ((error: Error) => void) | undefined;
}

const addressMembers = [
  "authorization_endpoint",
  "token_endpoint",
  "userinfo_endpoint",
  "end_session_endpoint",
  "revocation_endpoint",
  "introspection_endpoint",
  "device_authorization_endpoint",
] as const;
const listMembers = ["token_endpoint_auth_methods_supported", "code_challenge_methods_supported"] as const;

/** Makes a provider; nothing is fetched before it is asked. */
export function createProvider({ issuer, http, clock, onError }: ProviderOptions): Provider {
  const documents = createRefreshed<ProviderMetadata>({
    load: async () => {
      const answer = await http.json(`${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`);
      if (answer.status !== 200) throw providerFault(answer, "its metadata");
      return { value: metadataOf(answer.body, issuer), freshMs: FRESH_MS };
    },
    clock,
    onError,
    staleMs: STALE_MS,
    retryMs: RETRY_MS,
  });
  const jwksUri = async () => (await documents.get()).jwks_uri;
  return { metadata: documents.get, keys: createKeySet({ jwksUri, http, clock, onError }) };
}

function metadataOf(body: unknown, issuer: string): ProviderMetadata {
  if (!isRecord(body)) throw fault("The provider's metadata is not a JSON object.");
  // Discovery §4.3: or a provider could speak, and point to keys, for another one.
  if (body["issuer"] !== issuer) throw fault("The provider's metadata is of another issuer.");
  const addresses = addressMembers.flatMap((name) => {
    const address = body[name];
    if (address === undefined || address === null) return [];
    return [[name, absolute(address, name)] as const];
  });
  const lists = listMembers.flatMap((name) => {
    const list = body[name];
    return Array.isArray(list) ? [[name, list.filter((item) => typeof item === "string")] as const] : [];
  });
  const aliases = body["mtls_endpoint_aliases"];
  return {
    issuer,
    jwks_uri: absolute(body["jwks_uri"], "jwks_uri"),
    ...Object.fromEntries(addresses),
    ...Object.fromEntries(lists),
    authorization_response_iss_parameter_supported:
      body["authorization_response_iss_parameter_supported"] === true,
    ...(isRecord(aliases) ? { mtls_endpoint_aliases: aliasesOf(aliases) } : {}),
  };
}

function aliasesOf(aliases: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(Object.entries(aliases).map(([name, value]) => [name, absolute(value, name)]));
}

/** Whether it is encrypted is seen to where it is called; a browser must not be sent to a `javascript:` either. */
function absolute(address: unknown, name: string): string {
  if (typeof address !== "string" || !/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw fault(`The provider's metadata has no usable ${name}.`);
  return address;
}

function fault(message: string): SignetError {
  return new SignetError("provider_answer", message);
}
