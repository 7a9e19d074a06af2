/** Records and calls of the management API. Made by generators/management-types.ts from /openapi.json: do not edit. */

export type AssignedUser = { permId: string; email: string; assignedBy: string; assignedAt: string };

export type ChangedClient = {
  /** Shown on the consent page */
  name: string;
  /** Cannot be changed */
  clientType?: ("confidential" | "public" | "native" | "spa") | null;
  description?: string | null;
  logoUri?: string | null;
  homepageUri?: string | null;
  redirectUris?: string[] | null;
  postLogoutRedirectUris?: string[] | null;
  /** Where a federation login may return to */
  returnUrls?: string[] | null;
  grantTypes?:
    | (
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "urn:ietf:params:oauth:grant-type:device_code"
      )[]
    | null;
  /** Standard scopes, and scopes of the organisation */
  allowedScopes?: string[] | null;
  tokenEndpointAuthMethod?:
    | (
        | "client_secret_post"
        | "client_secret_basic"
        | "private_key_jwt"
        | "tls_client_auth"
        | "self_signed_tls_client_auth"
        | "none"
      )
    | null;
  /** Public keys for private_key_jwt, with certificates (`x5c`) for self_signed_tls_client_auth; or jwksUri */
  jwks?: { keys: Record<string, unknown>[] } | null;
  jwksUri?: string | null;
  /** With tls_client_auth: the SAN URI of the one device that may authenticate as the client; default: any device of the organisation */
  tlsClientAuthSanUri?: string | null;
  /** Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens?: boolean | null;
  /** `false` equals consentMode `preauthorized` */
  RequireConsent?: boolean | null;
  consentMode?: ("user" | "organisation" | "preauthorized") | null;
  requirePkce?: boolean | null;
  /** With requirePkce `false`: a request without PKCE must have a nonce and the scope openid */
  requireNonceWithoutPkce?: boolean | null;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds?: number | null;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds?: number | null;
  /** 300 to 31536000, for the token and all its successors */
  refreshTokenAbsoluteLifetimeSeconds?: number | null;
  /** 0 to 60: when a repeated refresh, whose successor is unused, counts as late; 0 rejects every repeat */
  refreshTokenGraceSeconds?: number | null;
  issueRefreshTokenWithoutOfflineAccess?: boolean | null;
  idTokenSignedResponseAlg?: ("ES256" | "RS256" | "PS256" | "EdDSA") | null;
  accessTokenSignedResponseAlg?: ("ES256" | "RS256" | "PS256" | "EdDSA") | null;
  idTokenIncludesScopeClaims?: boolean | null;
  /** The header `typ` of access tokens; JWT for resource servers that refuse at+jwt */
  accessTokenType?: ("at+jwt" | "JWT") | null;
  /** `aud` of access tokens; default: the issuer */
  audience?: string | null;
  backchannelLogoutUri?: string | null;
  contacts?: string[] | null;
  /** `false` revokes codes and refresh tokens permanently */
  enabled?: boolean | null;
  access?: ("everyone" | "assigned") | null;
  requiredAcr?: ("urn:signet:acr:pwd" | "urn:signet:acr:mfa" | "phr") | null;
  allowedResources?: string[] | null;
  allowPermanentKeys?: boolean | null;
  requireSignedKeyCalls?: boolean | null;
  /** The signing pool whose agents sign its tokens */
  signingPoolId?: string | null;
};

export type ChangedScope = {
  name?: string | null;
  /** Default: the name */
  displayName?: string | null;
  description?: string | null;
  claims?:
    | {
        name: string;
        source: "user" | "static" | "membership";
        /** For `user` and `membership`: the attribute it is read from */
        path?: string;
        /** For `static`: the value for every user */
        value?: unknown;
      }[]
    | null;
  /** Highlighted on the consent page */
  sensitive?: boolean | null;
};

export type ChangedSystemAccount = {
  /** 1 to 100 characters */
  name: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId?: string | null;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator?: boolean | null;
  /** Whether requests without timestamp and nonce are rejected */
  requireStrictSignature: boolean;
  /** Whether its requests may tell the end user's address in `X-End-User-Address`; left out of a change, it stays */
  allowEndUserAddress?: boolean | null;
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
  /** Standard scopes, and scopes of the organisation */
  allowedScopes: string[];
  tokenEndpointAuthMethod:
    | "client_secret_post"
    | "client_secret_basic"
    | "private_key_jwt"
    | "tls_client_auth"
    | "self_signed_tls_client_auth"
    | "none";
  jwks: { keys: Record<string, unknown>[] } | null;
  jwksUri: string | null;
  tlsClientAuthSanUri: string | null;
  /** Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens: boolean;
  /** `false` equals consentMode `preauthorized` */
  RequireConsent: boolean;
  consentMode: "user" | "organisation" | "preauthorized";
  requirePkce: boolean;
  /** With requirePkce `false`: a request without PKCE must have a nonce and the scope openid */
  requireNonceWithoutPkce: boolean;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds: number;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds: number;
  /** 300 to 31536000, for the token and all its successors */
  refreshTokenAbsoluteLifetimeSeconds: number;
  /** 0 to 60: when a repeated refresh, whose successor is unused, counts as late; 0 rejects every repeat */
  refreshTokenGraceSeconds: number;
  issueRefreshTokenWithoutOfflineAccess: boolean;
  idTokenSignedResponseAlg: "ES256" | "RS256" | "PS256" | "EdDSA";
  accessTokenSignedResponseAlg: "ES256" | "RS256" | "PS256" | "EdDSA";
  idTokenIncludesScopeClaims: boolean;
  /** The header `typ` of access tokens; JWT for resource servers that refuse at+jwt */
  accessTokenType: "at+jwt" | "JWT";
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

export type CreatedClient = Client & { clientSecret?: string | null };

export type CreatedClientSecret = ClientSecret & { clientId: string; clientSecret: string | null };

export type CreatedSystemAccount = SystemAccount & { publicKey: string; secretKey: string | null };

export type CreatedSystemAccountKey = SystemAccountKey & { id: string; secretKey: string | null };

export type NewClient = {
  /** Shown on the consent page */
  name: string;
  /** Cannot be changed */
  clientType: "confidential" | "public" | "native" | "spa";
  description?: string | null;
  logoUri?: string | null;
  homepageUri?: string | null;
  redirectUris?: string[] | null;
  postLogoutRedirectUris?: string[] | null;
  /** Where a federation login may return to */
  returnUrls?: string[] | null;
  grantTypes?:
    | (
        | "authorization_code"
        | "refresh_token"
        | "client_credentials"
        | "urn:ietf:params:oauth:grant-type:device_code"
      )[]
    | null;
  /** Standard scopes, and scopes of the organisation */
  allowedScopes?: string[] | null;
  tokenEndpointAuthMethod?:
    | (
        | "client_secret_post"
        | "client_secret_basic"
        | "private_key_jwt"
        | "tls_client_auth"
        | "self_signed_tls_client_auth"
        | "none"
      )
    | null;
  /** Public keys for private_key_jwt, with certificates (`x5c`) for self_signed_tls_client_auth; or jwksUri */
  jwks?: { keys: Record<string, unknown>[] } | null;
  jwksUri?: string | null;
  /** With tls_client_auth: the SAN URI of the one device that may authenticate as the client; default: any device of the organisation */
  tlsClientAuthSanUri?: string | null;
  /** Tokens are bound to the client certificate of the device that requested them (RFC 8705 §3) */
  tlsClientCertificateBoundAccessTokens?: boolean | null;
  /** `false` equals consentMode `preauthorized` */
  RequireConsent?: boolean | null;
  consentMode?: ("user" | "organisation" | "preauthorized") | null;
  requirePkce?: boolean | null;
  /** With requirePkce `false`: a request without PKCE must have a nonce and the scope openid */
  requireNonceWithoutPkce?: boolean | null;
  /** 60 to 86400 */
  AccessTokenLifetimeSeconds?: number | null;
  /** 300 to 31536000 */
  RefreshTokenLifetimeSeconds?: number | null;
  /** 300 to 31536000, for the token and all its successors */
  refreshTokenAbsoluteLifetimeSeconds?: number | null;
  /** 0 to 60: when a repeated refresh, whose successor is unused, counts as late; 0 rejects every repeat */
  refreshTokenGraceSeconds?: number | null;
  issueRefreshTokenWithoutOfflineAccess?: boolean | null;
  idTokenSignedResponseAlg?: ("ES256" | "RS256" | "PS256" | "EdDSA") | null;
  accessTokenSignedResponseAlg?: ("ES256" | "RS256" | "PS256" | "EdDSA") | null;
  idTokenIncludesScopeClaims?: boolean | null;
  /** The header `typ` of access tokens; JWT for resource servers that refuse at+jwt */
  accessTokenType?: ("at+jwt" | "JWT") | null;
  /** `aud` of access tokens; default: the issuer */
  audience?: string | null;
  backchannelLogoutUri?: string | null;
  contacts?: string[] | null;
  /** `false` revokes codes and refresh tokens permanently */
  enabled?: boolean | null;
  access?: ("everyone" | "assigned") | null;
  requiredAcr?: ("urn:signet:acr:pwd" | "urn:signet:acr:mfa" | "phr") | null;
  allowedResources?: string[] | null;
  allowPermanentKeys?: boolean | null;
  requireSignedKeyCalls?: boolean | null;
  /** The signing pool whose agents sign its tokens */
  signingPoolId?: string | null;
};

export type NewScope = {
  /** As clients request it; cannot be changed */
  name: string;
  /** Default: the name */
  displayName?: string | null;
  description?: string | null;
  claims?:
    | {
        name: string;
        source: "user" | "static" | "membership";
        /** For `user` and `membership`: the attribute it is read from */
        path?: string;
        /** For `static`: the value for every user */
        value?: unknown;
      }[]
    | null;
  /** Highlighted on the consent page */
  sensitive?: boolean | null;
};

export type NewSystemAccount = {
  /** 1 to 100 characters */
  name: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId: string;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator?: boolean | null;
  /** Whether requests without timestamp and nonce are rejected */
  requireStrictSignature?: boolean | null;
  /** Whether its requests may tell the end user's address in `X-End-User-Address`; left out of a change, it stays */
  allowEndUserAddress?: boolean | null;
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

export type SystemAccount = {
  id: string;
  /** 1 to 100 characters */
  name: string;
  /** The `clientId` of its own application, which it may always act for; cannot be changed */
  applicationId: string;
  /** Whether it may use the management API and act for every application; cannot be changed */
  administrator: boolean;
  /** Whether requests without timestamp and nonce are rejected */
  requireStrictSignature: boolean;
  /** Whether its requests may tell the end user's address in `X-End-User-Address`; left out of a change, it stays */
  allowEndUserAddress: boolean;
  /** Whether its requests are accepted */
  enabled: boolean;
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

export type ManagementCalls = {
  "GET /legacy/api/oauth/clients": { item: Client };
  "POST /legacy/api/oauth/clients": { body: NewClient; answer: CreatedClient };
  "GET /legacy/api/oauth/clients/{clientId}": { answer: Client };
  "PUT /legacy/api/oauth/clients/{clientId}": { body: ChangedClient; answer: Client };
  "DELETE /legacy/api/oauth/clients/{clientId}": Record<string, never>;
  "POST /legacy/api/oauth/clients/{clientId}/rotate-secret": {
    body?: {
      /** At most 100 characters */
      label?: string | null;
      /** Default: never */
      expiresAt?: string | null;
      /** Expires the existing ones; default: they stay active until revoked */
      expireOthersInSeconds?: number | null;
    };
    answer: CreatedClientSecret;
  };
  "POST /legacy/api/oauth/clients/{clientId}/revoke-old-secret": {
    body?: {
      /** Default: all active secrets except the newest */
      secretId?: string | null;
    };
  };
  "GET /legacy/api/oauth/clients/{clientId}/users": { item: AssignedUser };
  "PUT /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  "DELETE /legacy/api/oauth/clients/{clientId}/users/{permId}": Record<string, never>;
  "GET /legacy/api/oauth/scopes": { item: Scope };
  "POST /legacy/api/oauth/scopes": { body: NewScope; answer: Scope };
  "GET /legacy/api/oauth/scopes/{id}": { answer: Scope };
  "PUT /legacy/api/oauth/scopes/{id}": { body: ChangedScope; answer: Scope };
  "DELETE /legacy/api/oauth/scopes/{id}": Record<string, never>;
  "GET /legacy/api/oauth/consents": {
    query?: {
      clientId?: string;
      userId?: string;
      kind?: "user" | "organisation";
      /** true: include revoked consents */
      revoked?: "true" | "false";
    };
    item: Consent;
  };
  "GET /legacy/api/oauth/consents/{id}": { answer: Consent };
  "DELETE /legacy/api/oauth/consents/{id}": Record<string, never>;
  "POST /legacy/api/oauth/consents/organisation": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
    };
    answer: Consent;
  };
  "POST /legacy/api/oauth/consents/user": {
    body: {
      clientId: string;
      /** Scopes that the client may request */
      scopes: string[];
      /** The user's PermId */
      userId: string;
    };
    answer: Consent;
  };
  "GET /legacy/api/oauth/preauthorizations": { query?: { clientId?: string }; item: Preauthorization };
  "POST /legacy/api/oauth/preauthorizations": {
    body: ManagementCalls["POST /legacy/api/oauth/consents/organisation"]["body"];
    answer: Preauthorization;
  };
  "GET /legacy/api/oauth/preauthorizations/{id}": { answer: Preauthorization };
  "DELETE /legacy/api/oauth/preauthorizations/{id}": Record<string, never>;
  "GET /legacy/api/oauth/system-accounts": { item: SystemAccount };
  "POST /legacy/api/oauth/system-accounts": { body: NewSystemAccount; answer: CreatedSystemAccount };
  "GET /legacy/api/oauth/system-accounts/{id}": { answer: SystemAccount };
  "PUT /legacy/api/oauth/system-accounts/{id}": { body: ChangedSystemAccount; answer: SystemAccount };
  "DELETE /legacy/api/oauth/system-accounts/{id}": Record<string, never>;
  "PUT /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  "DELETE /legacy/api/oauth/system-accounts/{id}/permissions/{applicationId}": Record<string, never>;
  "POST /legacy/api/oauth/system-accounts/{id}/keys": {
    body?: NonNullable<ManagementCalls["POST /legacy/api/oauth/clients/{clientId}/rotate-secret"]["body"]>;
    answer: CreatedSystemAccountKey;
  };
  "DELETE /legacy/api/oauth/system-accounts/{id}/keys/{keyId}": Record<string, never>;
};
