/** The audit log as a chain, what happens in an organisation by the hour, and the indexes that the console searches by. */
import type { Migration } from "./migration.ts";

/** What core/audit/actions.ts calls changes, of the actions that there were before this step. */
const formerChanges = [
  "user.created",
  "user.registered",
  "user.invited",
  "invitation.accepted",
  "user.attributes-changed",
  "user.username-changed",
  "user.disabled",
  "user.enabled",
  "user-settings.changed",
  "email.changed",
  "email.verified",
  "password.set",
  "password.reset",
  "roaming.accepted",
  "authenticator.added",
  "authenticator.removed",
  "passkey.added",
  "passkey.renamed",
  "passkey.removed",
  "recovery-codes.made",
  "second-factors.reset",
  "application.created",
  "application.changed",
  "application.key-changed",
  "application.disabled",
  "application.enabled",
  "application.deleted",
  "application.user-assigned",
  "application.user-unassigned",
  "client-secret.created",
  "client-secret.revoked",
  "system-account.created",
  "system-account.changed",
  "system-account.disabled",
  "system-account.enabled",
  "system-account.deleted",
  "system-account.key-created",
  "system-account.key-revoked",
  "system-account.permission-granted",
  "system-account.permission-withdrawn",
  "scope.created",
  "scope.changed",
  "scope.deleted",
  "signing-key.rotated",
  "device-ca.created",
  "device-ca.rotated",
  "signing-pool.created",
  "signing-pool.disabled",
  "signing-pool.enabled",
  "signing-agent.registered",
  "signing-agent.keys-added",
  "signing-agent.deactivated",
  "signing-agent.compromised",
  "enrollment-code.created",
  "enrollment-code.withdrawn",
  "device.enrolled",
  "device.renewed",
  "device.revoked",
  "device-root.imported",
  "device-root.removed",
  "device-ek.allowed",
  "device-ek.removed",
  "organisation.created",
  "organisation.changed",
  "organisation.disabled",
  "organisation.enabled",
  "organisation.configuration-applied",
]
  .map((action) => `'${action}'`)
  .join(", ");

export const consolePages: Migration = {
  name: "0006-console",
  statements: [
    // Null until the event is in the chain: events are written by many transactions at once, and chained one by one.
    "alter table audit_event add column seq bigint",
    "alter table audit_event add column hash text",
    // 1 when it made its target what it is: every record's page says who did so last.
    "alter table audit_event add column is_change integer not null default 0",
    `update audit_event set is_change = 1 where target is not null and action in (${formerChanges})`,
    "create unique index audit_event_chain on audit_event (org_id, seq) where seq is not null",
    "create index audit_event_unchained on audit_event (org_id, id) where seq is null",
    // Newest first whatever is asked for, so that no page reads more than it shows.
    "drop index audit_event_time",
    "create index audit_event_time on audit_event (org_id, at, id)",
    "create index audit_event_actor on audit_event (org_id, actor, at, id)",
    "create index audit_event_action on audit_event (org_id, action, at, id)",
    "create index audit_event_target on audit_event (org_id, target, at, id) where target is not null",
    "create index audit_event_address on audit_event (org_id, address, at, id) where address is not null",
    "create index audit_event_change on audit_event (org_id, target, at, id) where is_change = 1",

    // The end of each organisation's chain. `mac` is made with a key that the database does not hold.
    `create table audit_chain (
      org_id text not null references organisation (id) on delete cascade,
      seq bigint not null, hash text not null, mac text not null, updated_at bigint not null,
      primary key (org_id))`,

    // Counted in memory and added now and then: a token does not wait for its statistics.
    `create table activity (
      org_id text not null references organisation (id) on delete cascade,
      kind text not null, hour bigint not null, total bigint not null,
      primary key (org_id, kind, hour))`,
    "create index activity_age on activity (hour)",

    // What the overview counts.
    "create index browser_session_living on browser_session (org_id, expires_at) where ended_at is null",
    "create index device_living on device (org_id) where revoked_at is null",
    "create index client_secret_expiry on client_secret (org_id, expires_at) where revoked_at is null and expires_at is not null",
    "create index outgoing_mail_failed on outgoing_mail (org_id, failed_at) where failed_at is not null",

    // Who signed in to an application last; and an application that is deleted or disabled finds what it holds.
    "create index token_family_application on token_family (org_id, application_id, id)",
    "create index session_key_application on session_key (org_id, application_id, id)",

    // Whether somebody's invitation has been sent; and mails that wait for somebody who is no user any more.
    "create index outgoing_mail_recipient on outgoing_mail (org_id, recipient)",

    // Members, newest first. What a search looks in stands in the row that is read anyway: no member costs a look-up more.
    // Consents are in force or taken back, and either is listed newest first: of all, of an application, of a user.
    "drop index consent_user",
    "create index consent_user on consent (org_id, user_id, id) where revoked_at is null",
    "create index consent_living on consent (org_id, id) where revoked_at is null",
    "create index consent_living_application on consent (org_id, application_id, id) where revoked_at is null",
    "create index consent_revoked on consent (org_id, id) where revoked_at is not null",
    "create index consent_revoked_application on consent (org_id, application_id, id) where revoked_at is not null",
    "create index consent_revoked_user on consent (org_id, user_id, id) where revoked_at is not null",
    "create index consent_for_all on consent (org_id, id) where kind = 'organisation'",

    "create index membership_newest on membership (org_id, created_at, user_id)",
    "create index membership_role on membership (org_id, role, created_at, user_id) where role <> 'Standard'",
    "alter table membership add column search_key text",
    // As core/users/members/members.store.ts makes it, but that letters beyond ASCII may keep their case until the next change.
    `update membership set search_key = (
      select u.email_key || ' ' || lower(u.firstname || ' ' || u.surname) || coalesce(' ' || u.username, '')
      from user_account u where u.org_id = membership.home_org_id and u.id = membership.user_id)`,
  ],
};
