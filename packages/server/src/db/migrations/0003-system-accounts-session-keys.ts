/** System accounts, session keys, assigned users, settings of users, answers that are given again. */
import type { Migration } from "./migration.ts";

export const systemAccountsSessionKeys: Migration = {
  name: "0003-system-accounts-session-keys",
  statements: [
    `create table system_account (
      org_id text not null, id text not null, application_id text not null, name text not null,
      administrator smallint not null, require_strict smallint not null,
      created_at bigint not null, created_by text not null, updated_at bigint not null,
      disabled_at bigint, last_used_at bigint, version bigint not null,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index system_account_application on system_account (org_id, application_id)",

    // Pairs of public and secret key: two may work at once, so that one can be replaced while the other still signs.
    `create table system_account_key (
      org_id text not null, public_key text not null, account_id text not null, secret text not null,
      label text not null, created_at bigint not null, expires_at bigint, revoked_at bigint, last_used_at bigint,
      primary key (org_id, public_key),
      foreign key (org_id, account_id) references system_account (org_id, id) on delete cascade)`,
    // A call names its key and no organisation.
    "create index system_account_key_lookup on system_account_key (public_key)",
    "create index system_account_key_account on system_account_key (org_id, account_id)",

    `create table system_account_permission (
      org_id text not null, account_id text not null, application_id text not null,
      granted_by text not null, granted_at bigint not null,
      primary key (org_id, account_id, application_id),
      foreign key (org_id, account_id) references system_account (org_id, id) on delete cascade,
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index system_account_permission_application on system_account_permission (org_id, application_id)",

    `create table session_key (
      org_id text not null, id text not null, key_hash text not null, kind text not null,
      application_id text not null, user_id text not null, session_id text,
      auth_time bigint not null, amr text not null, acr text not null, address text not null,
      created_at bigint not null, validated_at bigint, last_seen_at bigint not null,
      expires_at bigint, revoked_at bigint, revoked_reason text,
      primary key (org_id, id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    // A call names its key and no organisation.
    "create index session_key_lookup on session_key (key_hash)",
    "create index session_key_user on session_key (org_id, user_id)",
    "create index session_key_session on session_key (org_id, session_id)",
    "create index session_key_expiry on session_key (expires_at)",
    // So does a link of a mail, in the legacy API.
    "create index user_action_lookup on user_action (id_hash)",

    // The federation names an application and no organisation.
    "create index application_public_id on application (id)",

    `create table application_user (
      org_id text not null, application_id text not null, user_id text not null,
      assigned_by text not null, assigned_at bigint not null,
      primary key (org_id, application_id, user_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,
    "create index application_user_user on application_user (org_id, user_id)",

    `create table application_user_setting (
      org_id text not null, application_id text not null, user_id text not null,
      settings text not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, application_id, user_id),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade,
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,

    // Who visits from another organisation and signs in by address: few beside the organisation's own.
    "create index membership_roaming on membership (org_id, home_org_id) where home_org_id <> org_id",

    // What a file of the organisation's configuration calls an application, whatever its id is here.
    `create table application_external_key (
      org_id text not null, external_key text not null, application_id text not null,
      primary key (org_id, external_key),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create unique index application_external_key_application on application_external_key (org_id, application_id)",

    `create unique index user_account_username on user_account (org_id, username) where username is not null`,

    `create table idempotency_key (
      org_id text not null, account_id text not null, key_hash text not null, request_hash text not null,
      status bigint, headers text, body text, created_at bigint not null, expires_at bigint not null,
      primary key (org_id, account_id, key_hash),
      foreign key (org_id, account_id) references system_account (org_id, id) on delete cascade)`,
    "create index idempotency_key_expiry on idempotency_key (expires_at)",
  ],
};
