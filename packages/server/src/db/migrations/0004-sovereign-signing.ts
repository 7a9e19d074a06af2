/** Sovereign signing: pools, agents, their public keys, and what waits to be signed. No column holds a private key. */
import type { Migration } from "./migration.ts";

export const sovereignSigning: Migration = {
  name: "0004-sovereign-signing",
  statements: [
    `create table signing_pool (
      org_id text not null, id text not null, name text not null, issuer_mode text not null, algs text not null,
      max_token_lifetime_seconds bigint not null, token_wait_seconds bigint not null,
      key_publish_delay_seconds bigint not null, max_pending bigint not null,
      trusted_roots text not null, require_x5c smallint not null,
      created_at bigint not null, created_by text not null, updated_at bigint not null, disabled_at bigint,
      version bigint not null,
      primary key (org_id, id))`,

    `create table signing_agent (
      org_id text not null, id text not null, pool_id text not null, name text not null, api_key_hash text not null,
      created_at bigint not null, created_by text not null, last_seen_at bigint,
      deactivated_at bigint, compromised_at bigint,
      primary key (org_id, id),
      foreign key (org_id, pool_id) references signing_pool (org_id, id) on delete cascade)`,
    "create unique index signing_agent_api_key on signing_agent (org_id, api_key_hash)",
    "create index signing_agent_pool on signing_agent (org_id, pool_id)",

    `create table agent_key (
      org_id text not null, kid text not null, pool_id text not null, agent_id text not null,
      public_jwk text not null, alg text not null, x5c text not null,
      created_at bigint not null, active_from bigint not null, retiring_at bigint, last_token_exp bigint,
      compromised_at bigint,
      primary key (org_id, kid),
      foreign key (org_id, agent_id) references signing_agent (org_id, id) on delete cascade)`,
    // One key, one agent, in the whole service.
    "create unique index agent_key_thumbprint on agent_key (kid)",
    "create index agent_key_pool on agent_key (org_id, pool_id)",
    "create index agent_key_agent on agent_key (org_id, agent_id)",

    `create table signing_request (
      org_id text not null, id text not null, pool_id text not null, application_id text not null, user_id text,
      grant_type text not null, interactive smallint not null, parent_request_id text,
      claims text, rendering text, input_hashes text,
      state text not null, seq bigint not null, attempts bigint not null, refused_by text not null,
      claimed_by text, kid text, lease_token_hash text, lease_until bigint,
      challenge text, challenge_count bigint not null, challenge_until bigint, answer text, answered_at bigint,
      bad_submissions bigint not null,
      browser_session_hash text, continuation text, join_key_hash text, waiter text, waiter_until bigint,
      signed text, signed_lease_hash text, token_ids text, token_exp bigint, fail_reason text,
      created_at bigint not null, expires_at bigint not null, signed_at bigint, released_at bigint, ended_at bigint,
      primary key (org_id, id),
      foreign key (org_id, pool_id) references signing_pool (org_id, id) on delete cascade,
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    // The oldest that waits in a pool; what a pool still has open.
    "create index signing_request_open on signing_request (org_id, pool_id, created_at) where ended_at is null and state <> 'signed'",
    // All that its query asks for: without statistics SQLite would as soon go through all requests of the application.
    "create index signing_request_join on signing_request (org_id, application_id, join_key_hash, waiter_until) where join_key_hash is not null",
    "create index signing_request_expiry on signing_request (expires_at) where ended_at is null",
    "create index signing_request_ended on signing_request (ended_at) where ended_at is not null",
    "create index signing_request_goes_on on signing_request (ended_at) where continuation is not null",
    "create index signing_request_application on signing_request (org_id, application_id)",

    // The request whose tokens a code stands for.
    "alter table authorization_code add column signing text",
    "alter table device_authorization add column signing text",
  ],
};
