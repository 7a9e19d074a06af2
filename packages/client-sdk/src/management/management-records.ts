/** Records of the management API. Made by generators/management-types.ts from /openapi.json: do not edit. */

export type AssignedUser = {
  permId: string;
  email: string;
  assignedBy: string;
  assignedAt: string;
};

export type ChangedClient = {
  /** as people see it on the consent page */
  name: string;
  /** chosen once */
  clientType?: "confidential" | "public" | "native" | "spa";
  description?: string;
  logoUri?: string;
  homepageUri?: string;
  redirectUris?: string[];
  postLogoutRedirectUris?: string[];
  /** where a federation login may return */
  returnUrls?: string[];
  grantTypes?: (
    | "authorization_code"
    | "refresh_token"
    | "client_credentials"
    | "urn:ietf:params:oauth:grant-type:device_code"
  )[];
  allowedScopes?: string[];
  tokenEndpointAuthMethod?:
    | "client_secret_post"
    | "client_secret_basic"
    | "private_key_jwt"
    | "tls_client_auth"
    | "none";
  /** public keys for private_key_jwt; or jwksUri */
  jwks?: {
    keys: {
      [key: string]: unknown;
    }[];
  };
  jwksUri?: string;
  /** with tls_client_auth: the URI of the one device that may speak for the client; any when absent */
  tlsClientAuthSanUri?: string;
  /** its tokens are good in the hands of the device alone that they were issued to (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens?: boolean;
  /** false is the same as consentMode preauthorized */
  RequireConsent?: boolean;
  consentMode?: "user" | "organisation" | "preauthorized";
  requirePkce?: boolean;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds?: number;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds?: number;
  idTokenSignedResponseAlg?: "ES256" | "RS256" | "PS256" | "EdDSA";
  accessTokenSignedResponseAlg?: "ES256" | "RS256" | "PS256" | "EdDSA";
  /** aud of access tokens; the issuer when absent */
  audience?: string;
  backchannelLogoutUri?: string;
  contacts?: string[];
  /** false ends codes and refresh tokens, for good */
  enabled?: boolean;
  access?: "everyone" | "assigned";
  requiredAcr?: "urn:signet:acr:pwd" | "urn:signet:acr:mfa" | "phr";
  allowedResources?: string[];
  allowPermanentKeys?: boolean;
  requireSignedKeyCalls?: boolean;
  /** the pool whose agents sign its tokens; nobody else does then */
  signingPoolId?: string;
};

export type ChangedScope = {
  name?: string;
  /** the name, when left out */
  displayName?: string;
  description?: string;
  claims?: {
    name: string;
    source: "user" | "static" | "membership";
    /** for user and membership: what it is read from */
    path?: string;
    /** for static: the same for everybody */
    value?: unknown;
  }[];
  /** the consent page marks it */
  sensitive?: boolean;
};

export type ChangedSystemAccount = {
  /** what it is for, 1 to 100 characters */
  name: string;
  /** the `clientId` of the application that it belongs to and may always act for; chosen once */
  applicationId?: string;
  /** whether it may use the management API, and act for every application; chosen once */
  administrator?: boolean;
  /** its calls without timestamp and nonce are refused */
  requireStrictSignature: boolean;
  /** false refuses its calls; nothing is deleted */
  enabled: boolean;
};

export type Client = {
  clientId: string;
  /** as people see it on the consent page */
  name: string;
  /** chosen once */
  clientType: "confidential" | "public" | "native" | "spa";
  description: string | null;
  logoUri: string | null;
  homepageUri: string | null;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  /** where a federation login may return */
  returnUrls: string[];
  grantTypes: (
    | "authorization_code"
    | "refresh_token"
    | "client_credentials"
    | "urn:ietf:params:oauth:grant-type:device_code"
  )[];
  allowedScopes: string[];
  tokenEndpointAuthMethod:
    | "client_secret_post"
    | "client_secret_basic"
    | "private_key_jwt"
    | "tls_client_auth"
    | "none";
  jwks: {
    keys: {
      [key: string]: unknown;
    }[];
  } | null;
  jwksUri: string | null;
  tlsClientAuthSanUri: string | null;
  /** its tokens are good in the hands of the device alone that they were issued to (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens: boolean;
  /** false is the same as consentMode preauthorized */
  RequireConsent: boolean;
  consentMode: "user" | "organisation" | "preauthorized";
  requirePkce: boolean;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds: number;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds: number;
  idTokenSignedResponseAlg: "ES256" | "RS256" | "PS256" | "EdDSA";
  accessTokenSignedResponseAlg: "ES256" | "RS256" | "PS256" | "EdDSA";
  audience: string | null;
  backchannelLogoutUri: string | null;
  contacts: string[];
  /** false ends codes and refresh tokens, for good */
  enabled: boolean;
  access: "everyone" | "assigned";
  requiredAcr: ("urn:signet:acr:pwd" | "urn:signet:acr:mfa" | "phr") | null;
  allowedResources: string[];
  allowPermanentKeys: boolean;
  requireSignedKeyCalls: boolean;
  signingPoolId: string | null;
  secrets: ClientSecret[];
  createdAt: string;
  updatedAt: string;
};

export type ClientSecret = {
  id: string;
  label: string;
  /** its last four characters */
  hint: string;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
};

export type Consent = {
  id: string;
  kind: "user" | "organisation";
  clientId: string;
  userId?: string;
  scopes: string[];
  grantedBy: string;
  grantedAt: string;
  revokedAt: string | null;
};

export type CreatedClient = Client & {
  clientSecret?: string | null;
};

export type CreatedClientSecret = ClientSecret & {
  clientId: string;
  clientSecret: string | null;
};

export type CreatedSystemAccount = SystemAccount & {
  publicKey: string;
  secretKey: string | null;
};

export type CreatedSystemAccountKey = SystemAccountKey & {
  id: string;
  secretKey: string | null;
};

export type NewClient = ChangedClient & {
  /** chosen once */
  clientType: "confidential" | "public" | "native" | "spa";
};

export type NewScope = {
  /** as clients ask for it; chosen once */
  name: string;
  /** the name, when left out */
  displayName?: string;
  description?: string;
  claims?: {
    name: string;
    source: "user" | "static" | "membership";
    /** for user and membership: what it is read from */
    path?: string;
    /** for static: the same for everybody */
    value?: unknown;
  }[];
  /** the consent page marks it */
  sensitive?: boolean;
};

export type NewSystemAccount = {
  /** what it is for, 1 to 100 characters */
  name: string;
  /** the `clientId` of the application that it belongs to and may always act for; chosen once */
  applicationId: string;
  /** whether it may use the management API, and act for every application; chosen once */
  administrator?: boolean;
  /** its calls without timestamp and nonce are refused */
  requireStrictSignature?: boolean;
};

export type Preauthorization = {
  id: string;
  clientId: string;
  scopes: string[];
  createdBy: string;
  createdAt: string;
};

export type Scope = {
  id: string;
  name: string;
  displayName: string;
  description: string;
  claims: {
    name: string;
    source: "user" | "static" | "membership";
    /** for user and membership: what it is read from */
    path?: string;
    /** for static: the same for everybody */
    value?: unknown;
  }[];
  sensitive: boolean;
  createdAt: string;
};

export type SystemAccount = ChangedSystemAccount & {
  id: string;
  /** the `clientId` of the application that it belongs to and may always act for; chosen once */
  applicationId: string;
  /** whether it may use the management API, and act for every application; chosen once */
  administrator: boolean;
  /** other applications that it may act for */
  permissions: string[];
  keys: SystemAccountKey[];
  createdAt: string;
  createdBy: string;
  updatedAt: string;
  lastUsedAt: string | null;
};

export type SystemAccountKey = {
  publicKey: string;
  label: string;
  createdAt: string;
  expiresAt: string | null;
  revokedAt: string | null;
  lastUsedAt: string | null;
};
