/** Issuers of others that an organisation trusts, and which tokens its clients may exchange. */

export interface TrustTable {
  org_id: string;
  id: string;
  kind: string;
  client_id: string | null;
  issuer: string;
  /** JSON; null with `jwks_uri`, or when the issuer's discovery document names its keys. */
  jwks: string | null;
  jwks_uri: string | null;
  /** Null: this issuer. */
  audience: string | null;
  subject_pattern: string | null;
  /** JSON: names and values. */
  claims: string;
  single_use: number;
  max_lifetime_seconds: number;
  connection_id: string | null;
  user_by: string;
  enabled: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface TokenExchangePolicyTable {
  org_id: string;
  id: string;
  name: string;
  client_id: string;
  /** JSON: none, tokens of any client. */
  subject_client_ids: string;
  requested_token_type: string;
  target: string;
  foreign_client_id: string | null;
  /** JSON. */
  scopes: string;
  impersonation: number;
  max_lifetime_seconds: number;
  enabled: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface TrustsSchema {
  token_exchange_policy: TokenExchangePolicyTable;
  trust: TrustTable;
}
