/** What a user proves themselves with besides the password. */

/** One of each user. `secret` is sealed under the master key; `last_step` is the last time step that was used. */
export interface TotpCredentialTable {
  org_id: string;
  user_id: string;
  id: string;
  secret: string;
  last_step: number;
  created_at: number;
}

/** `id` is the credential id, `public_key` the COSE key, both base64url. */
export interface PasskeyTable {
  org_id: string;
  user_id: string;
  id: string;
  public_key: string;
  counter: number;
  transports: string;
  name: string;
  backed_up: number;
  created_at: number;
  last_used_at: number | null;
}

/** One of ten, SHA-256 only. */
export interface RecoveryCodeTable {
  org_id: string;
  user_id: string;
  code_hash: string;
  created_at: number;
  used_at: number | null;
}

/** A browser that a second factor was shown on. */
export interface TrustedBrowserTable {
  org_id: string;
  user_id: string;
  id: string;
  token_hash: string;
  user_agent: string;
  address: string;
  created_at: number;
  last_used_at: number;
  expires_at: number;
  revoked_at: number | null;
}

/** Of a user who has lost every factor. */
export interface FactorResetRequestTable {
  org_id: string;
  user_id: string;
  requested_at: number;
}

export interface SecondFactorsSchema {
  totp_credential: TotpCredentialTable;
  passkey: PasskeyTable;
  recovery_code: RecoveryCodeTable;
  remembered_device: TrustedBrowserTable;
  factor_reset_request: FactorResetRequestTable;
}
