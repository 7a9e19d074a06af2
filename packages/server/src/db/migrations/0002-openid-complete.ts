/** Device grant, second factors, custom scopes, pre-authorizations, back-channel logout, mail and its links. */
import type { Migration } from "./migration.ts";

export const openidComplete: Migration = {
  name: "0002-openid-complete",
  statements: [
    `create table device_authorization (
      org_id text not null, device_code_hash text not null, user_code_hash text not null,
      application_id text not null, scope text not null, resources text not null,
      address text not null, user_agent text not null, status text not null,
      user_id text, session_id text, consent_id text, auth_time bigint, amr text, acr text,
      interval_seconds bigint not null, polled_at bigint,
      created_at bigint not null, expires_at bigint not null, family_id text,
      primary key (org_id, device_code_hash),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create unique index device_authorization_user_code on device_authorization (org_id, user_code_hash)",
    "create index device_authorization_expiry on device_authorization (expires_at)",

    `create table custom_scope (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, name text not null, display_name text not null, description text not null,
      claims text not null, sensitive smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    "create unique index custom_scope_name on custom_scope (org_id, name)",

    // What each scope gave when it was consented to: a scope that gives something else since then is asked for again.
    "alter table consent add column scope_fingerprints text",
    "create index consent_user on consent (org_id, user_id) where revoked_at is null",

    // What custom scopes can tell beside the account's own columns.
    "alter table user_account add column attributes text",
    "alter table membership add column attributes text",
    `alter table membership add column "groups" text`,

    `create table preauthorization (
      org_id text not null, id text not null, application_id text not null, scope text not null,
      created_by text not null, created_at bigint not null,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index preauthorization_application on preauthorization (org_id, application_id)",

    // The claims parameter, and what it asks for, travel with the code and the family.
    "alter table authorization_code add column requested_claims text",
    "alter table token_family add column requested_claims text",

    `create table totp_credential (
      org_id text not null, user_id text not null, id text not null, secret text not null,
      last_step bigint not null, created_at bigint not null,
      primary key (org_id, user_id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,

    `create table passkey (
      org_id text not null, user_id text not null, id text not null, public_key text not null,
      counter bigint not null, transports text not null, name text not null, backed_up smallint not null,
      created_at bigint not null, last_used_at bigint,
      primary key (org_id, user_id, id),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,
    "create unique index passkey_id on passkey (org_id, id)",

    `create table recovery_code (
      org_id text not null, user_id text not null, code_hash text not null, created_at bigint not null, used_at bigint,
      primary key (org_id, user_id, code_hash),
      foreign key (org_id, user_id) references user_account (org_id, id) on delete cascade)`,

    `create table remembered_device (
      org_id text not null, user_id text not null, id text not null, token_hash text not null,
      user_agent text not null, address text not null,
      created_at bigint not null, last_used_at bigint not null, expires_at bigint not null, revoked_at bigint,
      primary key (org_id, user_id, id))`,
    "create unique index remembered_device_token on remembered_device (org_id, token_hash)",
    "create index remembered_device_expiry on remembered_device (expires_at)",

    // Values that may be seen once: assertion ids, WebAuthn challenges, pending sign-ins.
    `create table consumed_value (
      org_id text not null, kind text not null, value_hash text not null, expires_at bigint not null,
      primary key (org_id, kind, value_hash))`,
    "create index consumed_value_expiry on consumed_value (expires_at)",

    `create table logout_delivery (
      org_id text not null, id text not null, application_id text not null, user_id text not null, session_id text not null,
      attempts bigint not null, next_attempt_at bigint not null, created_at bigint not null,
      delivered_at bigint, failed_at bigint, last_error text,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index logout_delivery_due on logout_delivery (next_attempt_at) where delivered_at is null and failed_at is null",
    "create index logout_delivery_age on logout_delivery (created_at)",

    // Who has what from a session: the applications that a sign-out must tell.
    `create table session_application (
      org_id text not null, session_id text not null, application_id text not null, first_used_at bigint not null,
      primary key (org_id, session_id, application_id),
      foreign key (org_id, session_id) references browser_session (org_id, id) on delete cascade,
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,

    `create table user_action (
      org_id text not null, id_hash text not null, type text not null, user_id text not null, data text not null,
      created_at bigint not null, expires_at bigint not null, used_at bigint,
      primary key (org_id, id_hash))`,
    "create index user_action_expiry on user_action (expires_at)",
    // One open link of a kind: asking again replaces it in the statement that makes the new one.
    "create unique index user_action_open on user_action (org_id, user_id, type) where used_at is null",

    `create table outgoing_mail (
      org_id text not null, id text not null, recipient text not null, template text not null, locale text not null,
      data text not null, attempts bigint not null, next_attempt_at bigint not null, give_up_at bigint not null,
      created_at bigint not null, sent_at bigint, failed_at bigint, last_error text,
      primary key (org_id, id))`,
    "create index outgoing_mail_due on outgoing_mail (next_attempt_at) where sent_at is null and failed_at is null",
    "create index outgoing_mail_age on outgoing_mail (created_at)",

    // Browsers that a user has signed in with: another one is worth a mail.
    `create table known_browser (
      org_id text not null, user_id text not null, browser_hash text not null,
      sign_ins bigint not null, last_seen_at bigint not null, expires_at bigint not null,
      primary key (org_id, user_id, browser_hash))`,
    "create index known_browser_expiry on known_browser (expires_at)",
  ],
};
