/** Organisations, applications, users, sessions, codes, token families, keys, consents, limits and the audit log. */
import type { Migration } from "./migration.ts";

export const foundation: Migration = {
  name: "0001-foundation",
  statements: [
    `create table organisation (
      id text primary key, name text not null, settings text not null,
      created_at bigint not null, disabled_at bigint)`,

    `create table application (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, name text not null, client_type text not null, settings text not null,
      created_at bigint not null, updated_at bigint not null, disabled_at bigint, version bigint not null,
      primary key (org_id, id))`,

    `create table application_origin (
      org_id text not null, origin text not null, application_id text not null,
      primary key (org_id, origin, application_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index application_origin_application on application_origin (org_id, application_id)",

    `create table client_secret (
      org_id text not null, application_id text not null, id text not null,
      label text not null, secret_hash text not null, hint text not null,
      created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint,
      primary key (org_id, application_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,

    `create table user_account (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, email text not null, email_key text not null, email_verified_at bigint, username text,
      firstname text not null, surname text not null, phone text, locale text,
      password_hash text, password_changed_at bigint,
      created_at bigint not null, updated_at bigint not null, disabled_at bigint,
      primary key (org_id, id))`,
    "create unique index user_account_email on user_account (org_id, email_key)",

    `create table membership (
      org_id text not null references organisation (id) on delete cascade,
      user_id text not null, home_org_id text not null, role text not null, created_at bigint not null,
      primary key (org_id, user_id),
      foreign key (home_org_id, user_id) references user_account (org_id, id) on delete cascade)`,
    "create index membership_home on membership (home_org_id, user_id)",

    `create table browser_session (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, token_hash text not null, user_id text not null,
      auth_time bigint not null, amr text not null, acr text not null,
      address text not null, user_agent text not null,
      created_at bigint not null, last_seen_at bigint not null, expires_at bigint not null, ended_at bigint,
      primary key (org_id, id))`,
    "create unique index browser_session_token on browser_session (org_id, token_hash)",
    "create index browser_session_user on browser_session (org_id, user_id)",
    "create index browser_session_expiry on browser_session (expires_at)",

    `create table authorization_code (
      org_id text not null, code_hash text not null, application_id text not null, user_id text not null,
      session_id text not null, consent_id text, redirect_uri text not null, scope text not null,
      resources text not null, code_challenge text, nonce text, auth_time bigint not null, amr text not null, acr text not null,
      created_at bigint not null, expires_at bigint not null, used_at bigint, family_id text,
      primary key (org_id, code_hash),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index authorization_code_expiry on authorization_code (expires_at)",

    `create table token_family (
      org_id text not null, id text not null, application_id text not null, user_id text not null,
      session_id text, consent_id text, scope text not null, resources text not null, nonce text,
      auth_time bigint not null, amr text not null, acr text not null,
      refresh_hash text, refresh_expires_at bigint, previous_hash text, rotated_at bigint,
      generation bigint not null, created_at bigint not null, expires_at bigint not null,
      revoked_at bigint, revoked_reason text,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index token_family_user on token_family (org_id, user_id)",
    "create index token_family_session on token_family (org_id, session_id)",
    "create index token_family_consent on token_family (org_id, consent_id)",
    "create index token_family_expiry on token_family (expires_at)",

    `create table revoked_access_token (
      org_id text not null, jti text not null, expires_at bigint not null, primary key (org_id, jti))`,
    "create index revoked_access_token_expiry on revoked_access_token (expires_at)",

    `create table signing_key (
      org_id text not null references organisation (id) on delete cascade,
      kid text not null, alg text not null, public_jwk text not null, private_key text not null,
      created_at bigint not null, active_from bigint not null, retire_at bigint,
      primary key (org_id, kid))`,
    // One living key per algorithm that has no successor yet: two nodes that both make the first key end with one.
    "create unique index signing_key_newest on signing_key (org_id, alg) where retire_at is null",

    `create table consent (
      org_id text not null, id text not null, kind text not null, application_id text not null, user_id text,
      scope text not null, granted_by text not null, granted_at bigint not null, revoked_at bigint,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    `create unique index consent_of_user on consent (org_id, application_id, user_id)
      where revoked_at is null and kind = 'user'`,
    `create unique index consent_of_organisation on consent (org_id, application_id)
      where revoked_at is null and kind = 'organisation'`,

    `create table rate_limit (
      org_id text not null, bucket text not null, window_started_at bigint not null, hits bigint not null,
      expires_at bigint not null, primary key (org_id, bucket))`,
    "create index rate_limit_expiry on rate_limit (expires_at)",

    `create table audit_event (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, at bigint not null, actor text not null, action text not null,
      target text, address text, details text not null,
      primary key (org_id, id))`,
    "create index audit_event_time on audit_event (org_id, at)",

    "create table background_lease (name text primary key, holder text not null, expires_at bigint not null)",
  ],
};
