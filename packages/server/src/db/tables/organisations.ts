/** Organisations and their audit log. */

export interface OrganisationTable {
  id: string;
  name: string;
  /** JSON: branding and policies. */
  settings: string;
  created_at: number;
  disabled_at: number | null;
}

export interface AuditEventTable {
  org_id: string;
  id: string;
  at: number;
  actor: string;
  action: string;
  target: string | null;
  address: string | null;
  /** JSON; never a secret. */
  details: string;
}
