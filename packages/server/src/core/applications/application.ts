/**
 * An application: an OAuth client of one organisation (specification, "Application / OAuth client"). The record is
 * wire-contract.md §5's; its members that no query looks for are kept together as `settings`.
 */
import type { SigningAlg } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";

export const deviceCodeGrantType = "urn:ietf:params:oauth:grant-type:device_code";

export const grantTypes = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  deviceCodeGrantType,
] as const;
export type GrantType = (typeof grantTypes)[number];

export const tokenEndpointAuthMethods = [
  "client_secret_post",
  "client_secret_basic",
  "private_key_jwt",
  "tls_client_auth",
  "none",
] as const;
export type TokenEndpointAuthMethod = (typeof tokenEndpointAuthMethods)[number];

export const consentModes = ["user", "organisation", "preauthorized"] as const;
export type ConsentMode = (typeof consentModes)[number];

/** Who of the organisation may use an application: all members, or those assigned to it. */
export const accessModes = ["everyone", "assigned"] as const;
export type AccessMode = (typeof accessModes)[number];

export interface ApplicationSettings {
  readonly description?: string;
  readonly logoUri?: string;
  readonly homepageUri?: string;
  readonly redirectUris: readonly string[];
  readonly postLogoutRedirectUris: readonly string[];
  readonly returnUrls: readonly string[];
  readonly grantTypes: readonly GrantType[];
  readonly allowedScopes: readonly string[];
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod;
  readonly requireConsent: boolean;
  /** Read it by `consentModeOf`: absent in records that are older than the setting. */
  readonly consentMode?: ConsentMode;
  readonly requirePkce: boolean;
  /** 60..86400; the ID token lives as long. */
  readonly accessTokenLifetimeSeconds: number;
  /** 300..31536000, of each refresh token from its issue: a client that stays away longer must sign in again. */
  readonly refreshTokenLifetimeSeconds: number;
  /** Of the whole family, however often it is rotated; never less than one token's lifetime. */
  readonly refreshTokenAbsoluteLifetimeSeconds: number;
  /** 0..60; 0 turns the grace window off. */
  readonly refreshTokenGraceSeconds: number;
  readonly issueRefreshTokenWithoutOfflineAccess: boolean;
  readonly idTokenSignedResponseAlg: SigningAlg;
  readonly accessTokenSignedResponseAlg: SigningAlg;
  readonly idTokenIncludesScopeClaims: boolean;
  /** The `aud` of access tokens when no resource is asked for; the issuer when there is none. */
  readonly audience?: string;
  /** Public keys for private_key_jwt: inline, or at an https address. At most one of the two. */
  readonly jwks?: { readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>> };
  readonly jwksUri?: string;
  /**
   * With tls_client_auth: the URI in the subject alternative names of the one device that may speak for it (RFC 8705
   * §2.1.2); absent: any device of the organisation may that stands.
   */
  readonly tlsClientAuthSanUri?: string;
  /** Its tokens are good in the hands of the device alone that they were issued to (RFC 8705 §3). */
  readonly tlsClientCertificateBoundAccessTokens: boolean;
  /** Told when a session that this application got tokens from ends (OpenID Connect Back-Channel Logout 1.0). */
  readonly backchannelLogoutUri?: string;
  /** What a sign-in must reach before this application gets a code (RFC 9470). */
  readonly requiredAcr?: string;
  /** What the RFC 8707 `resource` parameter may name. */
  readonly allowedResources: readonly string[];
  /** Whom to ask about it: mail addresses, as a rule. */
  readonly contacts: readonly string[];
  readonly access: AccessMode;
  /** Session keys of the legacy federation may be made permanent. */
  readonly allowPermanentKeys: boolean;
  /** A session key alone does not do: the call with it is signed by a system account. */
  readonly requireSignedKeyCalls: boolean;
  /** Access and ID tokens are signed by the agents of this pool, and by nobody else. */
  readonly signingPoolId?: string;
}

export interface ClientSecret {
  readonly id: string;
  readonly label: string;
  /** SHA-256 of the plaintext, base64url. */
  readonly hash: string;
  /** The last four characters of the plaintext, to tell secrets apart. */
  readonly hint: string;
  readonly createdAt: number;
  readonly expiresAt: number | null;
  readonly revokedAt: number | null;
  readonly lastUsedAt: number | null;
}

export interface Application {
  readonly orgId: string;
  /** PublicId: the OAuth client_id. */
  readonly id: string;
  readonly name: string;
  readonly clientType: ClientType;
  readonly settings: ApplicationSettings;
  readonly secrets: readonly ClientSecret[];
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly disabledAt: number | null;
  readonly version: number;
}

/** Whether it proves itself with client secrets: the others have none, and no use for one. */
export function usesSecrets({ clientType, settings }: Pick<Application, "clientType" | "settings">): boolean {
  return clientType === "confidential" && isSecretMethod(settings.tokenEndpointAuthMethod);
}

export const isSecretMethod = (method: TokenEndpointAuthMethod): boolean =>
  method === "client_secret_basic" || method === "client_secret_post";

export const identityScopes = ["openid", "profile", "email", "phone", "offline_access"] as const;

/** What an application of a type starts with (specification defaults where it has them). */
export function defaultSettings(clientType: ClientType): ApplicationSettings {
  const confidential = clientType === "confidential";
  return {
    redirectUris: [],
    postLogoutRedirectUris: [],
    returnUrls: [],
    grantTypes: ["authorization_code", "refresh_token"],
    allowedScopes: identityScopes,
    tokenEndpointAuthMethod: confidential ? "client_secret_post" : "none",
    requireConsent: true,
    requirePkce: true,
    accessTokenLifetimeSeconds: 3600,
    refreshTokenLifetimeSeconds: 86_400,
    refreshTokenAbsoluteLifetimeSeconds: 30 * 86_400,
    refreshTokenGraceSeconds: 10,
    issueRefreshTokenWithoutOfflineAccess: true,
    idTokenSignedResponseAlg: "ES256",
    accessTokenSignedResponseAlg: "ES256",
    idTokenIncludesScopeClaims: false,
    tlsClientCertificateBoundAccessTokens: false,
    allowedResources: [],
    contacts: [],
    access: "everyone",
    allowPermanentKeys: false,
    requireSignedKeyCalls: false,
  };
}
