/** A table of its own for what makes an agent's key one in the whole service: a database that distributes by organisation keeps no such index. */
import type { Migration } from "./migration.ts";

export const agentKeyClaim: Migration = {
  name: "0034-agent-key-claim",
  statements: [
    "create table agent_key_claim (kid text primary key, org_id text not null)",
    "create index agent_key_claim_organisation on agent_key_claim (org_id)",
    ...["agent_key", "compromised_agent_key"].map(
      // SQLite would take what follows a table's name for a join.
      (table) =>
        `insert into agent_key_claim (kid, org_id) select kid, org_id from ${table} where true on conflict do nothing`,
    ),
  ],
};
