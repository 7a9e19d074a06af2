/** Applications, their secrets and web origins. */

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
  /** Of one that another organisation shares: that organisation's id. Null: the organisation's own. */
  home_org_id: string | null;
  /** JSON, of one that another organisation shares: the scopes that this organisation has consented to. */
  granted_scopes: string | null;
  /** `registered`; `metadata-document` and `dynamic` of clients that nobody has registered by hand. */
  source: string;
}

/** Which clients are taken that nobody has registered by hand; lists are JSON. */
export interface ClientMetadataPolicyTable {
  org_id: string;
  mode: string;
  hosts: string;
  allowed_scopes: string;
  allowed_resources: string;
  sender_constraint: string;
  created_at: number;
  updated_at: number;
  version: number;
}

/** What lets clients register themselves (RFC 7591 §1.2); lists are JSON. */
export interface InitialAccessTokenTable {
  org_id: string;
  id: string;
  label: string;
  token_hash: string;
  allowed_scopes: string;
  allowed_resources: string;
  grant_types: string;
  expires_at: number;
  max_uses: number;
  /** How many clients have registered by it. */
  uses: number;
  enabled: number;
  created_at: number;
  updated_at: number;
  version: number;
}

/** A client that has registered itself: what its initial access token allowed, and the token that it manages itself by (RFC 7592). */
export interface ClientRegistrationTable {
  org_id: string;
  application_id: string;
  token_hash: string;
  /** Of the token before, until the new one is used: its holder may have lost the answer. */
  previous_hash: string | null;
  allowed_scopes: string;
  allowed_resources: string;
  grant_types: string;
  /** As it was sent. */
  software_statement: string | null;
  last_used_at: number;
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
  /** The last four characters of the plaintext. */
  hint: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

/** What a configuration file calls it: the same in every organisation that the file is applied to. */
export interface ApplicationExternalKeyTable {
  org_id: string;
  external_key: string;
  application_id: string;
}

/** The last ten, one in each slot; `sequence` grows. */
export interface RefusedRequestTable {
  org_id: string;
  application_id: string;
  slot: number;
  sequence: number;
  at: number;
  endpoint: string;
  error: string;
  reason: string;
  description: string;
  /** The reference that the error page showed; null for one of another version. */
  request_id: string | null;
}

/** A certificate authority whose certificates authenticate clients (RFC 8705 §2.1). */
export interface ClientAuthorityTable {
  org_id: string;
  id: string;
  name: string;
  /** PEM, one certificate. */
  certificate: string;
  /** SHA-256 of its DER, base64url. */
  fingerprint: string;
  /** For people. */
  subject: string;
  /** SHA-256 of the subject as DER, base64url: what a certificate's issuer is looked up by. */
  subject_hash: string;
  not_after: number;
  enabled: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface ApplicationsSchema {
  client_certificate_authority: ClientAuthorityTable;
  client_metadata_policy: ClientMetadataPolicyTable;
  initial_access_token: InitialAccessTokenTable;
  client_registration: ClientRegistrationTable;
  application: ApplicationTable;
  application_origin: ApplicationOriginTable;
  application_external_key: ApplicationExternalKeyTable;
  client_secret: ClientSecretTable;
  refused_request: RefusedRequestTable;
}
