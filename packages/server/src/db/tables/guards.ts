/** Limits, values that are seen once, leases of background work. */

export interface RateLimitTable {
  org_id: string;
  bucket: string;
  window_started_at: number;
  hits: number;
  expires_at: number;
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

export interface GuardsSchema {
  rate_limit: RateLimitTable;
  background_lease: BackgroundLeaseTable;
  consumed_value: ConsumedValueTable;
}
