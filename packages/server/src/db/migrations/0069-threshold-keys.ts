/** Signing keys that exist nowhere: their agents, ceremonies, nonce commitments and signature shares (threshold-and-ledger.md §1). */
import type { Migration } from "./migration.ts";

export const thresholdKeys: Migration = {
  name: "0069-threshold-keys",
  statements: [
    "alter table signing_pool add column threshold text",
    "alter table agent_key add column ceremony_id text",
    `create table threshold_member (
      org_id text not null, agent_id text not null, pool_id text not null, kid text not null, public_jwk text not null,
      boot bigint not null, boot_id text not null, seen_at bigint not null, excluded_until bigint not null,
      created_at bigint not null,
      primary key (org_id, agent_id),
      foreign key (org_id, agent_id) references signing_agent (org_id, id) on delete cascade)`,
    "create index threshold_member_pool on threshold_member (org_id, pool_id)",
    `create table threshold_ceremony (
      org_id text not null, id text not null, pool_id text not null, state text not null,
      min_signers bigint not null, max_signers bigint not null, begun_by text not null, kid text,
      end_reason text, created_at bigint not null, ended_at bigint,
      primary key (org_id, id),
      foreign key (org_id, pool_id) references signing_pool (org_id, id) on delete cascade)`,
    // One at a time.
    "create unique index threshold_ceremony_open on threshold_ceremony (org_id, pool_id) where ended_at is null",
    "create index threshold_ceremony_pool on threshold_ceremony (org_id, pool_id, created_at)",
    `create table threshold_message (
      org_id text not null, ceremony_id text not null, agent_id text not null, round text not null,
      message text not null, created_at bigint not null,
      primary key (org_id, ceremony_id, agent_id, round),
      foreign key (org_id, ceremony_id) references threshold_ceremony (org_id, id) on delete cascade)`,
    // The hiding commitment is its name: the same nonce is never in stock twice.
    `create table threshold_commitment (
      org_id text not null, agent_id text not null, hiding text not null, binding text not null, kid text not null,
      boot_id text not null, created_at bigint not null, request_id text, used_at bigint,
      primary key (org_id, agent_id, hiding),
      foreign key (org_id, agent_id) references threshold_member (org_id, agent_id) on delete cascade)`,
    "create index threshold_commitment_stock on threshold_commitment (org_id, agent_id, created_at) where used_at is null",
    "create index threshold_commitment_used on threshold_commitment (used_at) where used_at is not null",
    `create table threshold_part (
      org_id text not null, round_id text not null, agent_id text not null, request_id text not null, pool_id text not null,
      state text not null, commitments text not null, shares text, reason text,
      created_at bigint not null, until bigint not null,
      primary key (org_id, round_id, agent_id),
      foreign key (org_id, request_id) references signing_request (org_id, id) on delete cascade)`,
    "create index threshold_part_request on threshold_part (org_id, request_id)",
    "create index threshold_part_asked on threshold_part (org_id, agent_id) where state = 'asked'",
    "create index threshold_part_age on threshold_part (created_at)",
  ],
};
