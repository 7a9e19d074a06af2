/** Names of connections are unique whatever their kind. Of directories that are alike already, the later keeps its name until it is changed. */
import { sql } from "kysely";
import type { Migration } from "./migration.ts";

export const connectionNames: Migration = {
  name: "0072-connection-names",
  statements: [],
  fill: async (tx) => {
    const { rows } = await sql<{ orgId: string; id: string; name: string }>`
      select org_id as "orgId", id, name from connection where name_key is null order by created_at, id`.execute(
      tx,
    );
    for (const { orgId, id, name } of rows) {
      const key = name.normalize("NFKC").toLowerCase();
      await sql`update connection set name_key = ${key} where org_id = ${orgId} and id = ${id}
        and not exists (select 1 from connection other where other.org_id = ${orgId} and other.name_key = ${key})`.execute(
        tx,
      );
    }
  },
};
