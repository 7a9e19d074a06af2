/** Codes, token families, signing keys. */

export interface AuthorizationCodeTable {
  org_id: string;
  code_hash: string;
  application_id: string;
  user_id: string;
  session_id: string;
  consent_id: string | null;
  redirect_uri: string;
  scope: string;
  /** JSON array: the RFC 8707 resources that were asked for. */
  resources: string;
  code_challenge: string | null;
  nonce: string | null;
  auth_time: number;
  amr: string;
  acr: string;
  created_at: number;
  expires_at: number;
  used_at: number | null;
  /** The token family that its redemption started. */
  family_id: string | null;
  /** JSON: the `claims` parameter (OpenID Connect Core §5.5). */
  requested_claims: string | null;
  /** JSON: the request whose tokens it stands for. */
  signing: string | null;
  /** JSON: the ids of the granted custom scopes, by name; null in rows of older versions. */
  scope_definitions: string | null;
  /** The thumbprint of the key that alone may redeem it (RFC 9449 §10). */
  dpop_jkt: string | null;
  /** JSON array (RFC 9396); null: none. */
  authorization_details: string | null;
}

/** A device that waits for a person (RFC 8628). Codes are kept as SHA-256 only. */
export interface DeviceAuthorizationTable {
  org_id: string;
  device_code_hash: string;
  user_code_hash: string;
  application_id: string;
  scope: string;
  resources: string;
  address: string;
  user_agent: string;
  status: string;
  user_id: string | null;
  session_id: string | null;
  consent_id: string | null;
  auth_time: number | null;
  amr: string | null;
  acr: string | null;
  interval_seconds: number;
  polled_at: number | null;
  created_at: number;
  expires_at: number;
  family_id: string | null;
  /** JSON: what an agent signs since the yes. */
  signing: string | null;
  /** JSON: the ids of the requested custom scopes, by name; null in rows of older versions. */
  scope_definitions: string | null;
}

/** What a client asks a user from behind (CIBA). The auth_req_id is kept as SHA-256 only. */
export interface CibaRequestTable {
  org_id: string;
  request_hash: string;
  id: string;
  application_id: string;
  user_id: string;
  scope: string;
  resources: string;
  /** JSON: the ids of the requested custom scopes, by name. */
  scope_definitions: string | null;
  /** JSON array (RFC 9396); null: none. */
  authorization_details: string | null;
  binding_message: string | null;
  acr_values: string | null;
  status: string;
  session_id: string | null;
  consent_id: string | null;
  auth_time: number | null;
  amr: string | null;
  acr: string | null;
  interval_seconds: number;
  polled_at: number | null;
  created_at: number;
  expires_at: number;
  family_id: string | null;
  /** JSON: what an agent signs since the yes. */
  signing: string | null;
}

export interface TokenFamilyTable {
  org_id: string;
  id: string;
  application_id: string;
  user_id: string;
  session_id: string | null;
  consent_id: string | null;
  scope: string;
  resources: string;
  nonce: string | null;
  auth_time: number;
  amr: string;
  acr: string;
  /** SHA-256 of the current refresh token; null when the grant came without one. */
  refresh_hash: string | null;
  refresh_expires_at: number | null;
  /** SHA-256 of the token rotated last: it may come back within the grace window. */
  previous_hash: string | null;
  rotated_at: number | null;
  generation: number;
  created_at: number;
  /** End of the absolute lifetime. */
  expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
  requested_claims: string | null;
  /** The device whose certificate came with the grant: no other device can refresh (RFC 8705 §7.1). */
  device_id: string | null;
  /** JSON: the ids of the granted custom scopes, by name; null in rows of older versions. */
  scope_definitions: string | null;
  /** The thumbprint of the key that its first tokens are bound to (RFC 9449). */
  dpop_jkt: string | null;
  /** The certificate that its first tokens are bound to (RFC 8705 §3). */
  certificate_thumbprint: string | null;
  /** JSON array of what was granted (RFC 9396); null: none. */
  authorization_details: string | null;
  /** JSON: the families of the tokens that its own was exchanged for; it ends with any of them. */
  ancestors: string | null;
  /** 1: the client signed the authorization request (RFC 9101), 0: it did not; null where that is not known. */
  request_signed: number | null;
}

/** An authorization request that a client has pushed (RFC 9126); its request_uri is kept as SHA-256 only. */
export interface PushedRequestTable {
  org_id: string;
  uri_hash: string;
  application_id: string;
  /** JSON: names and values. */
  parameters: string;
  /** They come from a request object that the client has signed. */
  is_signed: number;
  created_at: number;
  expires_at: number;
}

/** An access token that only introspection can read; kept as SHA-256. */
export interface OpaqueAccessTokenTable {
  org_id: string;
  token_hash: string;
  application_id: string;
  /** JSON. */
  claims: string;
  expires_at: number;
}

export interface RevokedAccessTokenTable {
  org_id: string;
  jti: string;
  expires_at: number;
}

export interface SigningKeyTable {
  org_id: string;
  kid: string;
  alg: string;
  public_jwk: string;
  /** PKCS#8, AES-256-GCM under the master key, bound to organisation and kid. */
  private_key: string;
  created_at: number;
  /** The newest such key of its algorithm signs from then on; before, it is only published. */
  active_from: number;
  /** Leaves the JWKS then, when its last token has expired; null until a successor exists. */
  retire_at: number | null;
}

export interface TokensSchema {
  authorization_code: AuthorizationCodeTable;
  token_family: TokenFamilyTable;
  pushed_request: PushedRequestTable;
  opaque_access_token: OpaqueAccessTokenTable;
  revoked_access_token: RevokedAccessTokenTable;
  signing_key: SigningKeyTable;
  device_authorization: DeviceAuthorizationTable;
  ciba_request: CibaRequestTable;
}
