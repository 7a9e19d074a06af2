/** Certificate authorities whose certificates authenticate clients (modern-oauth.md §6). */
import type { Migration } from "./migration.ts";

export const clientAuthorities: Migration = {
  name: "0062-client-authorities",
  statements: [
    `create table client_certificate_authority (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, name text not null, certificate text not null, fingerprint text not null,
      subject text not null, subject_hash text not null, not_after bigint not null, enabled smallint not null,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,
    `create unique index client_certificate_authority_fingerprint
      on client_certificate_authority (org_id, fingerprint)`,
    `create index client_certificate_authority_subject
      on client_certificate_authority (org_id, subject_hash)`,
  ],
};
