/** Issuers of others that an organisation trusts. */

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

export interface TrustsSchema {
  trust: TrustTable;
}
