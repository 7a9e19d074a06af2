/** Limits, values that are seen once, leases of background work, keys of the installation. */
import type { Generated } from "kysely";

export interface RateLimitTable {
  org_id: string;
  bucket: string;
  window_started_at: number;
  hits: number;
  expires_at: number;
  /** Attempts that are being checked: of `generation`, and of the one before it (attempts.store.ts). */
  pending: Generated<number>;
  pending_before: Generated<number>;
  generation: Generated<number>;
}

/** What may be seen once, by its SHA-256. */
export interface ConsumedValueTable {
  org_id: string;
  kind: string;
  value_hash: string;
  expires_at: number;
}

export interface BackgroundLeaseTable {
  name: string;
  holder: string;
  expires_at: number;
}

/** `sealed` under the master key, for `installation-key|name`. */
export interface InstallationKeyTable {
  name: string;
  sealed: string;
}

/** A code that was sent by email, for one browser. */
export interface EmailCodeTable {
  org_id: string;
  /** SHA-256 of a secret that the browser has. */
  holder_hash: string;
  email: string;
  /** HMAC of the code and what it is for. */
  code_mac: string;
  tries: number;
  expires_at: number;
  /** SHA-256 of the token in the link that was sent with it; null for a code alone. */
  link_hash: string | null;
  /** The sealed sign-in that the link goes on with. */
  flow: string | null;
}

export interface GuardsSchema {
  email_code: EmailCodeTable;
  installation_key: InstallationKeyTable;
  rate_limit: RateLimitTable;
  background_lease: BackgroundLeaseTable;
  consumed_value: ConsumedValueTable;
}
