/** What `securityProfile` and the client's keys turn on for a client (FAPI 2.0 Security Profile §5.3.3, Message Signing §5). */
import type { JWK } from "jose";
import type { SecurityProfile, Settings } from "../configuration/settings.ts";
import { configurationError } from "../errors.ts";
import type { Runtime } from "../filter.ts";
import { type ClientAuthentication, defaultAuthentication } from "../grants/client-authentication.ts";
import { algorithmOf, profileAlgorithms } from "../tokens/algorithms.ts";
import { mutualTlsFetch } from "./mutual-tls.ts";

/** The key that signs request objects. */
export interface RequestSigner {
  readonly key: CryptoKey | JWK;
  readonly kid: string | undefined;
  readonly alg: string;
}

export interface ClientSecurity {
  readonly profile: SecurityProfile;
  readonly authentication: ClientAuthentication;
  readonly usesMtlsEndpoints: boolean;
  /** Authorization requests are pushed. */
  readonly isPushed: boolean;
  /** Tokens are bound to keys of ours; otherwise to the certificate, or to nothing without a profile. */
  readonly usesDpop: boolean;
  /** Message Signing: requests are signed with it, responses and introspection must be signed. */
  readonly requestSigner: RequestSigner | undefined;
  /** The application's, or one that presents the certificate. */
  readonly fetch: typeof fetch | undefined;
}

interface SecurityOptions extends Pick<Runtime, "fetch"> {
  readonly clientAuthentication?: ClientAuthentication | undefined;
}

type SecuritySettings = Pick<
  Settings,
  "clientSecret" | "clientKey" | "clientCertificate" | "securityProfile"
>;

/** @throws SignetError `configuration` for a profile without the keys that it needs */
export function clientSecurity(settings: SecuritySettings, options: SecurityOptions): ClientSecurity {
  const { securityProfile: profile = "none", clientKey, clientCertificate } = settings;
  const authentication = options.clientAuthentication ?? authenticationOf(settings);
  const hasCertificate = authentication.method === "tls_client_auth";
  const isFapi = profile !== "none";
  const signer = requestSignerOf(authentication, clientKey);
  if (isFapi) requireKeys({ profile, authentication, signer });
  return {
    ...{ profile, authentication },
    usesMtlsEndpoints: hasCertificate,
    isPushed: isFapi,
    usesDpop: isFapi && !hasCertificate,
    requestSigner: profile === "fapi2-message-signing" ? signer : undefined,
    fetch: options.fetch ?? (clientCertificate && mutualTlsFetch(clientCertificate)),
  };
}

function authenticationOf({
  clientCertificate,
  clientKey,
  clientSecret,
}: SecuritySettings): ClientAuthentication {
  if (clientCertificate !== undefined) return { method: "tls_client_auth" };
  if (clientKey !== undefined) return { method: "private_key_jwt", privateKey: clientKey };
  return defaultAuthentication(clientSecret);
}

function requestSignerOf(
  authentication: ClientAuthentication,
  clientKey: JWK | undefined,
): RequestSigner | undefined {
  if (clientKey !== undefined)
    return { key: clientKey, kid: clientKey.kid, alg: algorithmOf(clientKey) ?? "ES256" };
  if (authentication.method !== "private_key_jwt") return undefined;
  const { privateKey: key, keyId, algorithm } = authentication;
  const jwk = "kty" in key ? key : undefined;
  return { key, kid: keyId ?? jwk?.kid, alg: algorithm ?? (jwk && algorithmOf(jwk)) ?? "ES256" };
}

interface ProfileKeys {
  readonly profile: SecurityProfile;
  readonly authentication: ClientAuthentication;
  readonly signer: RequestSigner | undefined;
}

/** FAPI 2.0 SP §5.3.3.1: neither a secret nor nothing authenticates a client. */
function requireKeys({ profile, authentication, signer }: ProfileKeys): void {
  const { method } = authentication;
  if (method !== "private_key_jwt" && method !== "tls_client_auth")
    throw configurationError(
      `securityProfile ${profile} needs oauthClientKey, or oauthClientCertificate and oauthClientCertificateKey.`,
    );
  if (profile === "fapi2-message-signing" && signer === undefined)
    throw configurationError(
      "securityProfile fapi2-message-signing needs oauthClientKey: requests are signed with it.",
    );
  if (signer !== undefined && !profileAlgorithms.includes(signer.alg))
    throw configurationError(`securityProfile ${profile} needs a key for ES256, PS256 or EdDSA.`);
}
