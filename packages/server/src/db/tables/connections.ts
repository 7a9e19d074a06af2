/** Connections to an organisation's own directory, and what it provisioned. */

export interface ConnectionTable {
  org_id: string;
  id: string;
  /** `scim`, or of core/connections/sign-in/sign-in-settings.ts. */
  kind: string;
  name: string;
  enabled: number;
  /** What a DELETE of a user means: `disable` or `delete`. */
  deletion_policy: string;
  created_at: number;
  updated_at: number;
  version: number;
  /** JSON, of a connection for signing in. */
  settings: string | null;
  /** Sealed: what Signet proves itself with at the identity provider. */
  secret: string | null;
  /** The name as it is compared; null for a directory of an older version whose name another connection has. */
  name_key: string | null;
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
  /** All email addresses in small letters, a line each, of a user with several: of one alone the account has it. */
  more_emails: string | null;
  /** When the client deleted a user whose account stays, disabled. */
  deleted_at: number | null;
  updated_at: number;
  version: number;
}

/** Who signs in at an identity provider, and whose account that is. */
export interface LinkedIdentityTable {
  org_id: string;
  connection_id: string;
  /** The `sub` of the provider. */
  subject: string;
  user_id: string;
  created_at: number;
  last_sign_in_at: number;
}

/** What a provider signs with, as it was last seen. */
export interface ConnectionKeysTable {
  org_id: string;
  connection_id: string;
  issuer: string;
  /** JSON array of RFC 7638 thumbprints, sorted. */
  thumbprints: string;
  /** When the administrators got an email about new ones last; 0: never. */
  changed_at: number;
}

/** What a provider has said of one sign-in by it. */
export interface UpstreamSignInTable {
  org_id: string;
  user_id: string;
  /** The `auth_time` of the session, its tokens and keys, in milliseconds. */
  signed_in_at: number;
  connection_id: string;
  issuer: string;
  subject: string;
  /** Of the session there, by which its logout names it. */
  sid: string | null;
  acr: string | null;
  /** JSON array. */
  amr: string | null;
  /** Seconds since 1970. */
  auth_time: number | null;
  /**
   * Sealed: by what the provider recognises its session, the ID token or what SAML asks for. Taken away at the sign-out, or once the
   * session must have ended.
   */
  id_token: string | null;
  /** Milliseconds. */
  id_token_until: number;
  /** SHA-256 of the NameID, of SAML. */
  name_id_hash: string | null;
  expires_at: number;
}

/** A membership of a group that comes from a provider's claims: it ends with the last of its rows. */
export interface GroupClaimTable {
  org_id: string;
  group_id: string;
  user_id: string;
  connection_id: string;
}

/** A browser that has been sent to an identity provider, for ten minutes. */
export interface ConnectionStartTable {
  org_id: string;
  /** SHA-256 of the `state`. */
  state_hash: string;
  connection_id: string;
  /** SHA-256 of the browser's cookie. */
  browser_hash: string;
  /** The sealed request that goes on afterwards. */
  flow: string;
  created_at: number;
  expires_at: number;
}

/**
 * What is put aside while a browser is under way: a SAML response that has been verified, between its POST and the browser's cookie,
 * for two minutes; where a sign-out leads, while it goes on at the provider, for ten.
 */
export interface SamlReturnTable {
  org_id: string;
  /** SHA-256 of what the browser takes along. */
  handle_hash: string;
  connection_id: string;
  /** Sealed JSON: who it is about and which start it answers, or where the sign-out leads. */
  content: string;
  expires_at: number;
}

/** A test sign-in: its link is opened once, its `state` comes back once, and what was claimed is kept for an hour. */
export interface ConnectionTestTable {
  org_id: string;
  id: string;
  connection_id: string;
  /** Who has started it, as the audit log names them. */
  actor: string;
  /** SHA-256 of the secret in the link. */
  link_hash: string;
  opened_at: number | null;
  /** SHA-256 of the `state`, while the browser is at the provider. */
  state_hash: string | null;
  /** SHA-256 of the browser's cookie. */
  browser_hash: string | null;
  /** `pending`, `succeeded` or `failed`. */
  outcome: string;
  reason: string | null;
  /** Sealed JSON. */
  result: string | null;
  created_at: number;
  expires_at: number;
}

/** Who has come back from an identity provider for the first time, and has to show whose address or account it is. */
export interface PendingIdentityTable {
  org_id: string;
  /** SHA-256 of a secret that the browser has. */
  holder_hash: string;
  connection_id: string;
  /** The sealed request that goes on afterwards. */
  flow: string;
  /** JSON: what the provider has said. */
  identity: string;
  /** Whose account the person has to sign in to; null while the address is to be proven. */
  email: string | null;
  /** When the person began to sign in to it. */
  asked_at: number | null;
  expires_at: number;
}

/** What came of sign-ins at an identity provider, for thirty days. */
export interface ConnectionSignInTable {
  org_id: string;
  connection_id: string;
  /** UUIDv7: the order. */
  id: string;
  at: number;
  /** `succeeded` or `failed`. */
  outcome: string;
  reason: string | null;
  detail: string | null;
  subject: string | null;
  email: string | null;
  /** Of the page that was shown. */
  reference: string;
  expires_at: number;
}

/** A one-time link to the connection pages, and the visit that it opens. */
export interface PortalLinkTable {
  org_id: string;
  id: string;
  /** SHA-256, base64url. */
  token_hash: string;
  /** JSON: `connections`, `domains`, `scim`. */
  purposes: string;
  /** JSON: of who made it, those that some settings of a connection need. */
  scopes: string;
  return_url: string | null;
  opened_at: number | null;
  /** SHA-256, base64url: of the cookie of the one who has opened it; null before that, and after the visit. */
  session_hash: string | null;
  /** Of the link until it is opened, then of the visit. */
  ends_at: number;
  created_by: string;
  created_at: number;
  updated_at: number;
}

export interface ConnectionsSchema {
  portal_link: PortalLinkTable;
  connection: ConnectionTable;
  connection_token: ConnectionTokenTable;
  connection_call: ConnectionCallTable;
  scim_user: ScimUserTable;
  linked_identity: LinkedIdentityTable;
  group_claim: GroupClaimTable;
  upstream_sign_in: UpstreamSignInTable;
  connection_keys: ConnectionKeysTable;
  connection_start: ConnectionStartTable;
  saml_return: SamlReturnTable;
  connection_test: ConnectionTestTable;
  connection_sign_in: ConnectionSignInTable;
  pending_identity: PendingIdentityTable;
}
