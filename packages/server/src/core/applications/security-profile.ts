/** FAPI 2.0 for one application: what its settings must have, and what follows from them everywhere else. */
import { type ClientType, isLoopbackUri } from "@signet/protocol/oauth/redirect-uri";
import {
  type ApplicationSettings,
  type GrantType,
  type TokenEndpointAuthMethod,
  tokenExchangeGrantType,
} from "./application.ts";

export interface ProfileFault {
  readonly path: string;
  readonly message: string;
  readonly code: "profile";
}

/** FAPI 2.0 Security Profile, final; Message Signing includes it. */
export const isFapi = ({ securityProfile }: Pick<ApplicationSettings, "securityProfile">): boolean =>
  securityProfile !== "none";

/** FAPI 2.0 Message Signing, final: signed requests and responses. */
export const signsMessages = ({ securityProfile }: Pick<ApplicationSettings, "securityProfile">): boolean =>
  securityProfile === "fapi2-message-signing";

const profileAlgs: readonly unknown[] = ["ES256", "PS256", "EdDSA"];

/** SP §5.4.1: neither RS256 nor ML-DSA is among the algorithms, neither of ours nor of the client's. */
export const isAlgAllowed = (settings: Pick<ApplicationSettings, "securityProfile">, alg: unknown): boolean =>
  !isFapi(settings) || alg === undefined || profileAlgs.includes(alg);

/** What agents may sign with for an application with a profile. */
export const areAlgsAllowed = (
  settings: Pick<ApplicationSettings, "securityProfile">,
  algs: readonly string[],
): boolean => algs.every((alg) => isAlgAllowed(settings, alg));

const methods: readonly TokenEndpointAuthMethod[] = [
  "private_key_jwt",
  "tls_client_auth",
  "self_signed_tls_client_auth",
];
const grants: readonly GrantType[] = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  tokenExchangeGrantType,
];
const signatures = [
  ...(["idTokenSignedResponseAlg", "accessTokenSignedResponseAlg"] as const),
  ...(["authorizationSignedResponseAlg", "requestObjectSigningAlg"] as const),
  ...(["introspectionSignedResponseAlg", "userinfoSignedResponseAlg"] as const),
];

/**
 * One for each member that keeps the profile from being kept.
 * @param isDemo see RecordDeps: redirects to loopback are fine there
 */
export function profileFaults(
  clientType: ClientType,
  settings: ApplicationSettings,
  isDemo = false,
): ProfileFault[] {
  if (!isFapi(settings)) return [];
  const isBound = settings.dpopBoundAccessTokens || settings.tlsClientCertificateBoundAccessTokens;
  const unencrypted = settings.redirectUris.flatMap((uri, index) =>
    uri.startsWith("https://") || (isDemo && isLoopbackUri(uri)) ? [] : [`redirectUris[${index}]`],
  );
  const weak = signatures.filter((name) => !isAlgAllowed(settings, settings[name]));
  return [
    ...unless(clientType === "confidential", "clientType", "must be confidential"),
    ...unless(
      methods.includes(settings.tokenEndpointAuthMethod),
      "tokenEndpointAuthMethod",
      `must be one of ${methods.join(", ")}`,
    ),
    ...unless(isBound, "dpopBoundAccessTokens", "tokens must be bound: this, or to a certificate"),
    ...unless(settings.requirePkce, "requirePkce", "must be true"),
    ...unencrypted.flatMap((path) => unless(false, path, "must be https")),
    ...unless(
      settings.grantTypes.every((grant) => grants.includes(grant)),
      "grantTypes",
      `must be some of ${grants.join(", ")}`,
    ),
    ...weak.flatMap((path) => unless(false, path, "must be ES256, PS256 or EdDSA")),
  ];
}

const unless = (isFine: boolean, path: string, rule: string): ProfileFault[] =>
  isFine ? [] : [{ path, message: `${rule} with this security profile`, code: "profile" }];
