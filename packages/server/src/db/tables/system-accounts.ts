/** System accounts, and what they have asked for. */

export interface SystemAccountTable {
  org_id: string;
  id: string;
  /** The application that it belongs to; its permission on it is implied. */
  application_id: string;
  name: string;
  administrator: number;
  require_strict: number;
  allow_end_user_address: number;
  created_at: number;
  created_by: string;
  updated_at: number;
  disabled_at: number | null;
  last_used_at: number | null;
  version: number;
}

/** `secret` is sealed under the master key: HMAC needs it in clear. */
export interface SystemAccountKeyTable {
  org_id: string;
  public_key: string;
  account_id: string;
  secret: string;
  label: string;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  last_used_at: number | null;
}

export interface SystemAccountPermissionTable {
  org_id: string;
  account_id: string;
  application_id: string;
  granted_by: string;
  granted_at: number;
}

/** An answer to be given again. `status` is null while the first request is under way; `body` never holds a secret. */
export interface IdempotencyKeyTable {
  org_id: string;
  account_id: string;
  key_hash: string;
  request_hash: string;
  status: number | null;
  headers: string | null;
  body: string | null;
  created_at: number;
  expires_at: number;
}

export interface SystemAccountsSchema {
  system_account: SystemAccountTable;
  system_account_key: SystemAccountKeyTable;
  system_account_permission: SystemAccountPermissionTable;
  idempotency_key: IdempotencyKeyTable;
}
