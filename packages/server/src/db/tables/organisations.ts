/** Organisations and their audit log. */
import type { Generated } from "kysely";

export interface OrganisationTable {
  id: string;
  name: string;
  /** JSON: branding and policies. */
  settings: string;
  created_at: number;
  disabled_at: number | null;
  /** From then on everything of it is deleted; null unless its deletion was asked for. */
  delete_after: number | null;
  /** When its audit log was written to a file, before anything is deleted. */
  audit_exported_at: number | null;
}

/** One row at most: the reserved organisation of the operators. */
export interface OperatorsOrganisationTable {
  org_id: string;
  /** 1. */
  singleton: number;
}

export interface OrganisationImageTable {
  org_id: string;
  /** SHA-256 of the content, base64url. */
  digest: string;
  content_type: string;
  /** Base64. */
  content: string;
  created_at: number;
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
  /** The place in the organisation's chain, from 1; null until it is chained. */
  seq: number | null;
  /** Of the event and the hash before it, base64url SHA-256. */
  hash: string | null;
  /** 1 when it made its target what it is (core/audit/actions.ts). */
  is_change: number;
}

/** An index of what events mention (the `context` of their details), which their chain covers. */
export interface AuditMentionTable {
  org_id: string;
  event_id: string;
  /** `application`: its id. `request`: the reference on error pages. */
  kind: string;
  value: string;
  /** The event's. */
  at: number;
}

/** The email address typed at a failed sign-in of no account. The event has a hash of it and the salt. */
export interface AuditTypedEmailTable {
  org_id: string;
  event_id: string;
  /** As compared (`emailKey`). */
  email: string;
  salt: string;
  at: number;
  expires_at: number;
}

/** A saved search of the audit log, shared by the organisation's administrators. */
export interface AuditFilterTable {
  org_id: string;
  id: string;
  name: string;
  /** The query string of the page. */
  query: string;
  created_at: number;
  /** The list whose page it is, as core/saved-filters names it. */
  list: string;
}

/** The end of an organisation's audit chain. */
export interface AuditChainTable {
  org_id: string;
  seq: number;
  hash: string;
  /** HMAC of the two, with a key derived from the master key. */
  mac: string;
  updated_at: number;
  /** How far it was sent to the audit stream. */
  streamed_seq: Generated<number>;
}

/** Where an organisation's audit chain was cut by retention: its events up to there are gone. */
export interface AuditCheckpointTable {
  org_id: string;
  /** Of the last event that is gone, as its chain had it. */
  seq: number;
  hash: string;
  /** How many are gone, of all cuts. */
  events: number;
  cut_at: number;
  /** When the last of them happened. */
  until: number;
  /** HMAC of all of it, with the key of the chain's head. */
  mac: string;
}

/** How often something happened in an hour. */
export interface ActivityTable {
  org_id: string;
  kind: string;
  /** Its beginning, milliseconds. */
  hour: number;
  total: number;
}

export interface OrganisationsSchema {
  operators_organisation: OperatorsOrganisationTable;
  organisation_image: OrganisationImageTable;
  organisation: OrganisationTable;
  audit_event: AuditEventTable;
  audit_chain: AuditChainTable;
  audit_checkpoint: AuditCheckpointTable;
  audit_mention: AuditMentionTable;
  audit_typed_email: AuditTypedEmailTable;
  audit_filter: AuditFilterTable;
  activity: ActivityTable;
}
