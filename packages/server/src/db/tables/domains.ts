/** Domains that an organisation has proven or wants to, and the administrators who sign in past an enforced connection. */

export interface DomainTable {
  org_id: string;
  id: string;
  /** A-labels, in lower case. */
  domain: string;
  /** Where people with an address of it sign in. */
  connection_id: string | null;
  /** Whether there is no other way for them. */
  enforced: number;
  /** What the TXT record says. */
  token: string;
  /** `pending`, `proven` or `lapsed`. */
  state: string;
  /** `not-found`, `wrong-value` or `unreachable`, at the last look. */
  last_error: string | null;
  /** Since when the record of a proven domain is gone. */
  missing_since: number | null;
  /** When it is looked up again. */
  next_check_at: number;
  created_at: number;
  updated_at: number;
  version: number;
}

export interface BreakGlassAccountTable {
  org_id: string;
  user_id: string;
  created_at: number;
  created_by: string;
}

export interface DomainsSchema {
  domain: DomainTable;
  break_glass_account: BreakGlassAccountTable;
}
