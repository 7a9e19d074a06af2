/** Records of the management API. Made by generators/management-types.ts from /openapi.json: do not edit. */

export type AssignedUser = {
  permId: string;
  email: string;
  assignedBy: string;
  assignedAt: string;
};

export type ChangedClient = {
  /** Shown on the consent page */
  name: string;
  /** Cannot be changed */
  clientType?: "confidential" | "public" | "native" | "spa";
  description?: string;
  logoUri?: string;
  homepageUri?: string;
  redirectUris?: string[];
  postLogoutRedirectUris?: string[];
  /** Where a federation login may return to */
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
  /** Public keys for private_key_jwt; or jwksUri */
  jwks?: {
    keys: {
      [key: string]: unknown;
    }[];
  };
  jwksUri?: string;
  /** With tls_client_auth: the SAN URI of the one device that may authenticate as the client; default: any device of the organisation */
  tlsClientAuthSanUri?: string;
  /** Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens?: boolean;
  /** `false` equals consentMode `preauthorized` */
  RequireConsent?: boolean;
  consentMode?: "user" | "organisation" | "preauthorized";
  requirePkce?: boolean;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds?: number;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds?: number;
  idTokenSignedResponseAlg?: "ES256" | "RS256" | "PS256" | "EdDSA";
  accessTokenSignedResponseAlg?: "ES256" | "RS256" | "PS256" | "EdDSA";
  /** `aud` of access tokens; default: the issuer */
  audience?: string;
  backchannelLogoutUri?: string;
  contacts?: string[];
  /** `false` revokes codes and refresh tokens permanently */
  enabled?: boolean;
  access?: "everyone" | "assigned";
  requiredAcr?: "urn:signet:acr:pwd" | "urn:signet:acr:mfa" | "phr";
  allowedResources?: string[];
  allowPermanentKeys?: boolean;
  requireSignedKeyCalls?: boolean;
  /** The signing pool whose agents sign its tokens */
  signingPoolId?: string;
};

export type ChangedScope = {
  name?: string;
  /** Default: the name */
  displayName?: string;
  description?: string;
  claims?: {
    name: string;
    source: "user" | "static" | "membership";
    /** For `user` and `membership`: the attribute it is read from */
    path?: string;
    /** For `static`: the value for every user */
    value?: unknown;
  }[];
  /** Highlighted on the consent page */
  sensitive?: boolean;
};

export type ChangedSystemAccount = {
  /** 1 to 100 characters */
  name: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId?: string;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator?: boolean;
  /** Whether requests without timestamp and nonce are rejected */
  requireStrictSignature: boolean;
  /** Whether its requests are accepted */
  enabled: boolean;
};

export type Client = {
  clientId: string;
  /** Shown on the consent page */
  name: string;
  /** Cannot be changed */
  clientType: "confidential" | "public" | "native" | "spa";
  description: string | null;
  logoUri: string | null;
  homepageUri: string | null;
  redirectUris: string[];
  postLogoutRedirectUris: string[];
  /** Where a federation login may return to */
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
  /** Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens: boolean;
  /** `false` equals consentMode `preauthorized` */
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
  /** `false` revokes codes and refresh tokens permanently */
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
  /** The last four characters of the secret */
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
  /** Cannot be changed */
  clientType: "confidential" | "public" | "native" | "spa";
};

export type NewScope = {
  /** As clients request it; cannot be changed */
  name: string;
  /** Default: the name */
  displayName?: string;
  description?: string;
  claims?: {
    name: string;
    source: "user" | "static" | "membership";
    /** For `user` and `membership`: the attribute it is read from */
    path?: string;
    /** For `static`: the value for every user */
    value?: unknown;
  }[];
  /** Highlighted on the consent page */
  sensitive?: boolean;
};

export type NewSystemAccount = {
  /** 1 to 100 characters */
  name: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId: string;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator?: boolean;
  /** Whether requests without timestamp and nonce are rejected */
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
    /** For `user` and `membership`: the attribute it is read from */
    path?: string;
    /** For `static`: the value for every user */
    value?: unknown;
  }[];
  sensitive: boolean;
  createdAt: string;
};

export type SystemAccount = ChangedSystemAccount & {
  id: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId: string;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator: boolean;
  /** Other applications that it may act for */
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
