/** Webhooks, and the queues of those that events go to (connections.md §8). */
import type { Migration } from "./migration.ts";

export const webhooks: Migration = {
  name: "0050-webhooks",
  statements: [
    `create table webhook (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, url text not null, events text not null, enabled smallint not null, disabled_reason text,
      secret text not null, previous_secret text, previous_until bigint,
      created_at bigint not null, updated_at bigint not null, version bigint not null,
      primary key (org_id, id))`,

    `create table event_target (
      org_id text not null references organisation (id) on delete cascade,
      id text not null, kind text not null, is_fed smallint not null, is_sent smallint not null,
      cursor_seq bigint not null, last_position bigint not null, due_at bigint,
      claim text, claimed_until bigint not null,
      primary key (org_id, id))`,
    "create index event_target_due on event_target (due_at) where due_at is not null and is_sent = 1",

    `create table event_delivery (
      org_id text not null, target_id text not null, id text not null, position bigint not null,
      type text not null, at bigint not null, body text not null, state text not null, attempts integer not null,
      next_attempt_at bigint not null, last_attempt_at bigint, last_status integer, last_error text,
      settled_at bigint, created_at bigint not null, updated_at bigint not null,
      primary key (org_id, target_id, id),
      foreign key (org_id, target_id) references event_target (org_id, id) on delete cascade)`,
    `create index event_delivery_queue on event_delivery (org_id, target_id, position)
      where state = 'pending'`,
    "create index event_delivery_settled on event_delivery (settled_at) where settled_at is not null",
  ],
};
