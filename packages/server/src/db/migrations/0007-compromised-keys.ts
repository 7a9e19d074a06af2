/** Which keys of agents are known as stolen, also when their pool is gone. */
import type { Migration } from "./migration.ts";

export const compromisedKeys: Migration = {
  name: "0007-compromised-keys",
  statements: [
    // Of pools that are deleted, with their agents' keys: what was stolen must not come back as somebody's.
    `create table compromised_agent_key (
      org_id text not null references organisation (id) on delete cascade,
      kid text not null, compromised_at bigint not null,
      primary key (org_id, kid))`,
    "create index compromised_agent_key_thumbprint on compromised_agent_key (kid)",
  ],
};
