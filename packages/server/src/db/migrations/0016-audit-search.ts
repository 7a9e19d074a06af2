/**
 * The audit log as an investigation tool: what an event mentions besides its own members, the email address typed at a
 * failed sign-in, and saved searches. New tables with their own indexes: an index on the events themselves would
 * stop every act while it is built over a long log.
 */
import type { Migration } from "./migration.ts";

export const auditSearch: Migration = {
  name: "0016-audit-search",
  statements: [
    `create table audit_mention (
      org_id text not null references organisation (id) on delete cascade,
      event_id text not null, kind text not null, value text not null, at bigint not null,
      primary key (org_id, event_id, kind))`,
    "create index audit_mention_value on audit_mention (org_id, kind, value, at, event_id)",
    // Personal data: apart from the event, so that it can be deleted while the chain stays whole.
    `create table audit_typed_email (
      org_id text not null references organisation (id) on delete cascade,
      event_id text not null, email text not null, salt text not null, at bigint not null, expires_at bigint not null,
      primary key (org_id, event_id))`,
    "create index audit_typed_email_value on audit_typed_email (org_id, email, at, event_id)",
    "create index audit_typed_email_expiry on audit_typed_email (expires_at)",
    `create table audit_filter (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, name text not null, query text not null, created_at bigint not null,
      primary key (org_id, id))`,
    "alter table refused_request add column request_id text",
    "create index refused_request_reference on refused_request (org_id, request_id) where request_id is not null",
  ],
};
