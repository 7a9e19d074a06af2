/** What identity providers sign with, as it was last seen: new keys are told to the administrators (connections.md §5, "Keys"). */
import type { Migration } from "./migration.ts";

export const connectionKeys: Migration = {
  name: "0045-connection-keys",
  statements: [
    `create table connection_keys (
      org_id text not null, connection_id text not null, issuer text not null, thumbprints text not null,
      changed_at bigint not null,
      primary key (org_id, connection_id),
      foreign key (org_id, connection_id) references connection (org_id, id) on delete cascade)`,
  ],
};
