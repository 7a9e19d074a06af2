/** Authentication requests that clients make from behind (OpenID Connect CIBA Core 1.0). */
import type { Migration } from "./migration.ts";

export const cibaRequests: Migration = {
  name: "0067-ciba-requests",
  statements: [
    `create table ciba_request (
      org_id text not null, request_hash text not null, id text not null, application_id text not null,
      user_id text not null, scope text not null, resources text not null, scope_definitions text,
      authorization_details text, binding_message text, acr_values text, status text not null,
      session_id text, consent_id text, auth_time bigint, amr text, acr text,
      interval_seconds bigint not null, polled_at bigint,
      created_at bigint not null, expires_at bigint not null, family_id text, signing text,
      primary key (org_id, request_hash),
      foreign key (org_id, application_id) references application (org_id, id) on delete cascade)`,
    "create index ciba_request_user on ciba_request (org_id, user_id)",
    "create index ciba_request_application on ciba_request (org_id, application_id)",
    "create index ciba_request_expiry on ciba_request (expires_at)",
  ],
};
