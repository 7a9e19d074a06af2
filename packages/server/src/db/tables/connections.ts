/** Connections to an organisation's own directory, and what it provisioned. */

export interface ConnectionTable {
  org_id: string;
  id: string;
  /** `scim`. */
  kind: string;
  name: string;
  enabled: number;
  /** What a DELETE of a user means: `disable` or `delete`. */
  deletion_policy: string;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface ConnectionTokenTable {
  org_id: string;
  id: string;
  connection_id: string;
  token_hash: string;
  label: string;
  created_at: number;
  expires_at: number | null;
  last_used_at: number | null;
}

/** The last calls of a connection, for who looks for a fault. */
export interface ConnectionCallTable {
  org_id: string;
  connection_id: string;
  /** UUIDv7: the order. */
  id: string;
  at: number;
  method: string;
  /** Below the connection's address, without the query. */
  path: string;
  status: number;
  scim_type: string | null;
}

/** A user whom a connection provisions. */
export interface ScimUserTable {
  org_id: string;
  user_id: string;
  connection_id: string;
  user_name: string;
  /** As it is compared. */
  user_name_key: string;
  external_id: string | null;
  /** JSON: the resource as the client wrote it, in normal form. */
  resource: string;
  /** When the client deleted a user whose account stays, disabled. */
  deleted_at: number | null;
  updated_at: number;
  version: number;
}

export interface ConnectionsSchema {
  connection: ConnectionTable;
  connection_token: ConnectionTokenTable;
  connection_call: ConnectionCallTable;
  scim_user: ScimUserTable;
}
