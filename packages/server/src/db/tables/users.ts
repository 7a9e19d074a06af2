/** Accounts, memberships, browser sessions. */

export interface UserAccountTable {
  org_id: string;
  /** PermId: the `sub` of the user's tokens. */
  id: string;
  email: string;
  /** The address as it is compared: trimmed, NFKC, lower case. */
  email_key: string;
  email_verified_at: number | null;
  username: string | null;
  firstname: string;
  surname: string;
  phone: string | null;
  locale: string | null;
  password_hash: string | null;
  password_changed_at: number | null;
  created_at: number;
  updated_at: number;
  disabled_at: number | null;
  /** JSON object: what an organisation keeps about its users, for its custom scopes. */
  attributes: string | null;
  /** JSON object: see core/users/profile/details.ts. */
  profile: string | null;
  /** When the account's claims last changed. */
  profile_changed_at: number | null;
}

export interface MembershipTable {
  org_id: string;
  user_id: string;
  /** The organisation that owns the user's account; another one when the user roams. */
  home_org_id: string;
  role: string;
  created_at: number;
  /** JSON object. */
  attributes: string | null;
  /** JSON array of names. */
  groups: string | null;
  /** Of a guest: the account's own is at home. */
  disabled_at: number | null;
  /** What a search for members looks in, in small letters; see core/users/members/members.store.ts. */
  search_key: string | null;
}

export interface BrowserSessionTable {
  org_id: string;
  /** Public identifier: the `sid` claim. Not a credential. */
  id: string;
  token_hash: string;
  user_id: string;
  auth_time: number;
  /** JSON array of RFC 8176 method names. */
  amr: string;
  acr: string;
  address: string;
  user_agent: string;
  created_at: number;
  last_seen_at: number;
  expires_at: number;
  ended_at: number | null;
  /** The machine that it began on, if that is known. */
  device_id: string | null;
  /** JWK of the browser's key that the session is bound to (Device Bound Session Credentials). */
  bound_key: string | null;
  bound_at: number | null;
}

/** An application that got tokens from a session. */
export interface SessionApplicationTable {
  org_id: string;
  session_id: string;
  application_id: string;
  first_used_at: number;
}

/** A browser, by the SHA-256 of its recognition cookie, that a user has signed in with. */
export interface KnownBrowserTable {
  org_id: string;
  user_id: string;
  browser_hash: string;
  sign_ins: number;
  last_seen_at: number;
  expires_at: number;
}

/** Open: neither accepted nor withdrawn. */
export interface InvitationTable {
  org_id: string;
  id: string;
  user_id: string;
  expires_at: number;
  accepted_at: number | null;
  withdrawn_at: number | null;
  /** Where it is accepted; null: by a password. */
  connection_id: string | null;
  created_at: number;
  updated_at: number;
}

/** Somebody who has proven an address and waits for an administrator, or did. */
export interface SignUpTable {
  org_id: string;
  id: string;
  email: string;
  email_key: string;
  firstname: string;
  surname: string;
  locale: string | null;
  /** Until it is decided. */
  password_hash: string | null;
  terms_version: string | null;
  terms_accepted_at: number | null;
  /** Where the page behind the link was sent from. */
  address: string;
  /** SHA-256 of the secret in the link of the email: its page tells the state. */
  link_hash: string;
  /** `waiting`, `approved` or `rejected`. */
  state: string;
  reason: string | null;
  user_id: string | null;
  decided_at: number | null;
  created_at: number;
  updated_at: number;
  expires_at: number;
}

export interface AcceptedTermsTable {
  org_id: string;
  user_id: string;
  version: string;
  accepted_at: number;
}

export interface UsersSchema {
  sign_up: SignUpTable;
  accepted_terms: AcceptedTermsTable;
  invitation: InvitationTable;
  user_account: UserAccountTable;
  membership: MembershipTable;
  browser_session: BrowserSessionTable;
  session_application: SessionApplicationTable;
  known_browser: KnownBrowserTable;
}
