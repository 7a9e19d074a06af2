/**
 * An application: an OAuth client of one organisation (specification, "Application / OAuth client"; the record of
 * wire-contract.md §5). Members that no query filters by are stored together as `settings`.
 */
import type { TokenAlg } from "@signet/protocol/jose/jws";
import type { ClientType } from "@signet/protocol/oauth/redirect-uri";
import type { RecordOf } from "../../db/records.ts";
import type { ApplicationTable, ClientSecretTable } from "../../db/tables/applications.ts";
import { type SecuritySettings, securityDefaults } from "./security-settings.ts";

export const deviceCodeGrantType = "urn:ietf:params:oauth:grant-type:device_code";
/** RFC 7523: of a workload, or of an issuer that stands for users (ID-JAG). */
export const jwtBearerGrantType = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** RFC 8693. */
export const tokenExchangeGrantType = "urn:ietf:params:oauth:grant-type:token-exchange";

/** OpenID Connect CIBA Core 1.0 §10.1. */
export const cibaGrantType = "urn:openid:params:grant-type:ciba";

export const grantTypes = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  deviceCodeGrantType,
  jwtBearerGrantType,
  tokenExchangeGrantType,
  cibaGrantType,
] as const;
export type GrantType = (typeof grantTypes)[number];

/** A device vouches for the client (draft-ietf-oauth-attestation-based-client-auth), which proves its key beside that or by DPoP. */
const attestationMethods = ["attest_jwt_client_auth", "attest_jwt_client_auth_dpop"] as const;

export const isAttestationMethod = (method: string): boolean =>
  attestationMethods.some((one) => one === method);

/** The client is whatever device of the organisation says so, or the one of its registered name. */
export const isDeviceMethod = (method: string): boolean =>
  method === "tls_client_auth" || isAttestationMethod(method);

export const tokenEndpointAuthMethods = [
  "client_secret_post",
  "client_secret_basic",
  "private_key_jwt",
  "tls_client_auth",
  "self_signed_tls_client_auth",
  ...attestationMethods,
  "none",
] as const;
export type TokenEndpointAuthMethod = (typeof tokenEndpointAuthMethods)[number];

export const consentModes = ["user", "organisation", "preauthorized"] as const;
export type ConsentMode = (typeof consentModes)[number];

/** The header `typ` of access tokens: RFC 9068 §2.1, or what older resource servers know. */
export const accessTokenTypes = ["at+jwt", "JWT"] as const;
export type AccessTokenType = (typeof accessTokenTypes)[number];

/** Who may use an application: all members of the organisation, or users assigned to it. */
export const accessModes = ["everyone", "assigned"] as const;
export type AccessMode = (typeof accessModes)[number];

/** Which groups the scope `groups` tells: those that access or a role comes by, or all. */
export const groupsClaims = ["assigned", "all"] as const;
export type GroupsClaim = (typeof groupsClaims)[number];

/** What of a group is told; one without it is left out. */
export const groupsClaimValues = ["displayName", "id", "externalId"] as const;
export type GroupsClaimValue = (typeof groupsClaimValues)[number];

export interface ApplicationSettings extends SecuritySettings {
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
  /** Read it through `consentModeOf`: absent in records older than the setting. */
  readonly consentMode?: ConsentMode;
  readonly requirePkce: boolean;
  /** Where PKCE is not required: a request without it must have a `nonce` and the scope `openid` (RFC 9700 §2.1.1). */
  readonly requireNonceWithoutPkce: boolean;
  /** 60..86400; the ID token's lifetime too. */
  readonly accessTokenLifetimeSeconds: number;
  /** 300..31536000, for each refresh token from its issue (idle timeout). */
  readonly refreshTokenLifetimeSeconds: number;
  /** For the whole token family, however often it is rotated; at least one token's lifetime. */
  readonly refreshTokenAbsoluteLifetimeSeconds: number;
  /** Reuse interval after rotation, 0..60; 0 turns it off. */
  readonly refreshTokenGraceSeconds: number;
  readonly issueRefreshTokenWithoutOfflineAccess: boolean;
  readonly idTokenSignedResponseAlg: TokenAlg;
  readonly accessTokenSignedResponseAlg: TokenAlg;
  readonly accessTokenType: AccessTokenType;
  /** Of standard and custom scopes; otherwise userinfo has them. */
  readonly idTokenIncludesScopeClaims: boolean;
  readonly groupsClaim: GroupsClaim;
  readonly groupsClaimValue: GroupsClaimValue;
  /** The `aud` of access tokens requested without a resource; default: the issuer. */
  readonly audience?: string;
  /**
   * Public keys for private_key_jwt, and certificates (`x5c`) for self_signed_tls_client_auth: inline, or at an https URL. At
   * most one of the two.
   */
  readonly jwks?: { readonly keys: ReadonlyArray<Readonly<Record<string, unknown>>> };
  readonly jwksUri?: string;
  /** Its tokens are bound to the certificate of the requesting device (RFC 8705 §3). */
  readonly tlsClientCertificateBoundAccessTokens: boolean;
  /** Notified when a session ends that this application got tokens from (OpenID Connect Back-Channel Logout 1.0). */
  readonly backchannelLogoutUri?: string;
  /** The authentication level required for a code (RFC 9470). */
  readonly requiredAcr?: string;
  /** Values allowed for the `resource` parameter (RFC 8707). */
  readonly allowedResources: readonly string[];
  /** Contact persons, usually email addresses. */
  readonly contacts: readonly string[];
  readonly access: AccessMode;
  /** Whether session keys of the legacy federation may be permanent. */
  readonly allowPermanentKeys: boolean;
  /** Whether calls with a session key also need the signature of a system account. */
  readonly requireSignedKeyCalls: boolean;
  /** Access and ID tokens are signed by the agents of this pool only. */
  readonly signingPoolId?: string;
  /** Which other organisations may enable it: any, or these. */
  readonly shared?: { readonly organisations: "any" | readonly string[] };
}

type StoredSecret = RecordOf<Omit<ClientSecretTable, "org_id" | "application_id" | "secret_hash">>;

export interface ClientSecret extends StoredSecret {
  /** SHA-256 of the plaintext, base64url. */
  readonly hash: string;
}

/** How a client came to be: by hand; by a metadata document at its client_id; by registering itself. */
export const clientSources = ["registered", "metadata-document", "dynamic"] as const;
export type ClientSource = (typeof clientSources)[number];

/** Its id is a PublicId, the OAuth client_id. */
export interface Application
  extends RecordOf<Omit<ApplicationTable, "client_type" | "settings" | "granted_scopes" | "source">> {
  readonly clientType: ClientType;
  readonly settings: ApplicationSettings;
  /** Of a copy: none, but where a client authenticates: then its home's. */
  readonly secrets: readonly ClientSecret[];
  /** Of a copy: what this organisation has consented to. Null: the organisation's own application. */
  readonly grantedScopes: readonly string[] | null;
  readonly source: ClientSource;
}

/** Whether the application authenticates with client secrets. */
export function usesSecrets({ clientType, settings }: Pick<Application, "clientType" | "settings">): boolean {
  return clientType === "confidential" && isSecretMethod(settings.tokenEndpointAuthMethod);
}

export const isSecretMethod = (method: TokenEndpointAuthMethod): boolean =>
  method === "client_secret_basic" || method === "client_secret_post";

const identityScopes = ["openid", "profile", "email", "phone", "offline_access"] as const;

/** The defaults of a client type (from the specification where it has them). */
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
    requireNonceWithoutPkce: false,
    accessTokenLifetimeSeconds: 3600,
    refreshTokenLifetimeSeconds: 86_400,
    refreshTokenAbsoluteLifetimeSeconds: 30 * 86_400,
    refreshTokenGraceSeconds: 10,
    issueRefreshTokenWithoutOfflineAccess: true,
    idTokenSignedResponseAlg: "ES256",
    accessTokenSignedResponseAlg: "ES256",
    accessTokenType: "at+jwt",
    idTokenIncludesScopeClaims: false,
    groupsClaim: "assigned",
    groupsClaimValue: "displayName",
    tlsClientCertificateBoundAccessTokens: false,
    ...securityDefaults,
    allowedResources: [],
    contacts: [],
    access: "everyone",
    allowPermanentKeys: false,
    requireSignedKeyCalls: false,
  };
}
