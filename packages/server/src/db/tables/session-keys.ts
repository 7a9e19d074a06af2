/** Session keys of the legacy federation, and what applications keep about their users. */

/** The key itself is kept as SHA-256 only. `kind` is `Service`, `UserTemp` or `UserPerm`. */
export interface SessionKeyTable {
  org_id: string;
  id: string;
  key_hash: string;
  kind: string;
  application_id: string;
  user_id: string;
  /** The browser session that it was made in. */
  session_id: string | null;
  auth_time: number;
  amr: string;
  acr: string;
  address: string;
  created_at: number;
  /** The first validation, which a `Service` key must have soon. */
  validated_at: number | null;
  last_seen_at: number;
  /** Null for a key that lives until it is revoked. */
  expires_at: number | null;
  revoked_at: number | null;
  revoked_reason: string | null;
}

/** Who may use an application whose access is `assigned`. */
export interface ApplicationUserTable {
  org_id: string;
  application_id: string;
  user_id: string;
  assigned_by: string;
  assigned_at: number;
}

/** A JSON object that an application keeps about one of its users. */
export interface ApplicationUserSettingTable {
  org_id: string;
  application_id: string;
  user_id: string;
  settings: string;
  updated_at: number;
  version: number;
}

export interface SessionKeysSchema {
  session_key: SessionKeyTable;
  application_user: ApplicationUserTable;
  application_user_setting: ApplicationUserSettingTable;
}
