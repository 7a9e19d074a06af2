/** Streams of security events to clients, and the users that they leave out (Shared Signals Framework 1.0). */
import type { Migration } from "./migration.ts";

export const eventStreams: Migration = {
  name: "0055-event-streams",
  statements: [
    `create table event_stream (
      org_id text not null, id text not null, client_id text not null, method text not null, endpoint_url text,
      authorization_header text, events_requested text not null, description text,
      status text not null, status_reason text, verified_at bigint not null,
      created_at bigint not null, updated_at bigint not null,
      primary key (org_id, id),
      foreign key (org_id, client_id) references application (org_id, id) on delete cascade)`,
    "create index event_stream_client on event_stream (org_id, client_id)",

    `create table event_stream_removed (
      org_id text not null, stream_id text not null, user_id text not null,
      primary key (org_id, stream_id, user_id),
      foreign key (org_id, stream_id) references event_stream (org_id, id) on delete cascade)`,
  ],
};
