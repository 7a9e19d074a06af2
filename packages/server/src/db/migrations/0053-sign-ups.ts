/** Sign-ups that wait for an administrator, and which terms a user has accepted (connections.md §6). */
import type { Migration } from "./migration.ts";

export const signUps: Migration = {
  name: "0053-sign-ups",
  statements: [
    `create table sign_up (
      org_id text not null, id text not null, email text not null, email_key text not null,
      firstname text not null, surname text not null, locale text, password_hash text,
      terms_version text, terms_accepted_at bigint, address text not null, link_hash text not null,
      state text not null, reason text, user_id text, decided_at bigint,
      created_at bigint not null, updated_at bigint not null, expires_at bigint not null,
      primary key (org_id, id))`,
    "create unique index sign_up_waiting on sign_up (org_id, email_key) where state = 'waiting'",
    "create index sign_up_address on sign_up (org_id, email_key)",
    "create index sign_up_link on sign_up (org_id, link_hash)",
    "create index sign_up_created on sign_up (org_id, state, created_at, id)",
    "create index sign_up_expiry on sign_up (expires_at)",
    `create table accepted_terms (
      org_id text not null, user_id text not null, version text not null, accepted_at bigint not null,
      primary key (org_id, user_id, version),
      foreign key (org_id, user_id) references membership (org_id, user_id) on delete cascade)`,
  ],
};
