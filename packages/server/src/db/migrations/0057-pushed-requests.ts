/** Pushed authorization requests (RFC 9126), for a minute. */
import type { Migration } from "./migration.ts";

export const pushedRequests: Migration = {
  name: "0057-pushed-requests",
  statements: [
    `create table pushed_request (
      org_id text not null, uri_hash text not null, application_id text not null,
      parameters text not null, is_signed integer not null,
      created_at bigint not null, expires_at bigint not null,
      primary key (org_id, uri_hash),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index pushed_request_application on pushed_request (org_id, application_id)",
    "create index pushed_request_expiry on pushed_request (expires_at)",
  ],
};
