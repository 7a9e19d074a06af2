/**
 * Every table as Kysely sees it. Times are milliseconds since the epoch, booleans 0/1, JSON and hashes text, so that
 * the same statements run on SQLite and PostgreSQL. Every key starts with the organisation (architecture.md, rule 10).
 */

export interface Schema {
  organisation: OrganisationTable;
  application: ApplicationTable;
  application_origin: ApplicationOriginTable;
  client_secret: ClientSecretTable;
  user_account: UserAccountTable;
  membership: MembershipTable;
  browser_session: BrowserSessionTable;
  authorization_code: AuthorizationCodeTable;
  token_family: TokenFamilyTable;
  revoked_access_token: RevokedAccessTokenTable;
  signing_key: SigningKeyTable;
  consent: ConsentTable;
  rate_limit: RateLimitTable;
  audit_event: AuditEventTable;
  background_lease: BackgroundLeaseTable;
}

export interface OrganisationTable {
  id: string;
  name: string;
  /** JSON: branding and policies. */
  settings: string;
  created_at: number;
  disabled_at: number | null;
}

export interface ApplicationTable {
  org_id: string;
  id: string;
  name: string;
  client_type: string;
  /** JSON: everything else of the client record (wire-contract.md §5). */
  settings: string;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
  /** Grows with every change; optimistic concurrency rests on it. */
  version: number;
}

/** Web origins of an application's redirect URIs: what CORS asks for. */
export interface ApplicationOriginTable {
  org_id: string;
  origin: string;
  application_id: string;
}

export interface ClientSecretTable {
  org_id: string;
  application_id: string;
  id: string;
  label: string;
  secret_hash: string;
  hint: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

export interface UserAccountTable {
  org_id: string;
  /** PermId: the `sub` of the user's tokens. */
  id: string;
  email: string;
  /** The address as it is compared: trimmed, NFKC, lower case. */
  email_key: string;
  email_verified_at: number | null;
  username: string | null;
  firstname: string;
  surname: string;
  phone: string | null;
  locale: string | null;
  password_hash: string | null;
  password_changed_at: number | null;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
}

export interface MembershipTable {
  org_id: string;
  user_id: string;
  /** The organisation that owns the user's account; another one when the user roams. */
  home_org_id: string;
  role: string;
  created_at: number;
}

export interface BrowserSessionTable {
  org_id: string;
  /** Public identifier: the `sid` claim. Not a credential. */
  id: string;
  token_hash: string;
  user_id: string;
  auth_time: number;
  /** JSON array of RFC 8176 method names. */
  amr: string;
  acr: string;
  address: string;
  user_agent: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ended_at: number | null;
}

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
  /** The token family that the first use began. */
  family_id: string | null;
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
  /** SHA-256 of the living refresh token; null when the grant came without one. */
  refresh_hash: string | null;
  refresh_expires_at: number | null;
  /** SHA-256 of the token rotated last: it may come back within the grace window. */
  previous_hash: string | null;
  rotated_at: number | null;
  generation: number;
  created_at: number;
  /** End of the absolute lifetime, whatever is rotated. */
  expires_at: number;
  revoked_at: number | null;
  revoked_reason: string | null;
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
  /** From then on the newest such key of its algorithm signs; before, it is only published. */
  active_from: number;
  /** Out of the JWKS from then on: the last token it signed has expired. */
  retire_at: number | null;
}

export interface ConsentTable {
  org_id: string;
  id: string;
  /** `user` or `organisation`. */
  kind: string;
  application_id: string;
  user_id: string | null;
  scope: string;
  granted_by: string;
  granted_at: number;
  revoked_at: number | null;
}

export interface RateLimitTable {
  org_id: string;
  bucket: string;
  window_started_at: number;
  hits: number;
  expires_at: number;
}

export interface AuditEventTable {
  org_id: string;
  id: string;
  at: number;
  actor: string;
  action: string;
  target: string | null;
  address: string | null;
  /** JSON; never a secret. */
  details: string;
}

export interface BackgroundLeaseTable {
  name: string;
  holder: string;
  expires_at: number;
}
