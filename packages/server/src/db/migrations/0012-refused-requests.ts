/** The last refused requests of an application, and user codes that are typed at an address of no organisation. */
import type { Migration } from "./migration.ts";

export const refusedRequests: Migration = {
  name: "0012-refused-requests",
  statements: [
    // As many rows of an application as there are places.
    `create table refused_request (
      org_id text not null references organisation (id) on delete cascade,
      application_id text not null, slot bigint not null, sequence bigint not null,
      at bigint not null, endpoint text not null, error text not null, reason text not null, description text not null,
      primary key (org_id, application_id, slot),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index device_authorization_typed_code on device_authorization (user_code_hash)",
  ],
};
