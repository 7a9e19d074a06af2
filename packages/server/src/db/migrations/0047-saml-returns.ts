/** SAML responses between the POST that brought them and the browser's cookie (connections.md §2, `C/saml/acs`). */
import type { Migration } from "./migration.ts";

export const samlReturns: Migration = {
  name: "0047-saml-returns",
  statements: [
    `create table saml_return (
      org_id text not null, handle_hash text not null, connection_id text not null, content text not null,
      expires_at bigint not null,
      primary key (org_id, handle_hash),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
    "create index saml_return_expiry on saml_return (expires_at)",
    "create index saml_return_connection on saml_return (org_id, connection_id)",
  ],
};
