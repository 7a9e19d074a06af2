/** For tests of what a node remembers: news of what they made themselves must not come in between. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Service } from "../../modules/open-service.ts";

/**
 * Waits until the node has heard all news that were sent before: PostgreSQL hands them out in the order of the commits. On
 * SQLite a node hears of its own changes at once.
 */
export async function allNewsHeard({
  database,
  changes,
}: Pick<Service, "database" | "changes">): Promise<void> {
  if (database.kind === "sqlite") return;
  const orgId = randomUUID();
  const heard = new Promise<void>((resolve) =>
    changes.subscribe((change) => {
      if (change !== "everything" && change.orgId === orgId) resolve();
    }),
  );
  await sql`select pg_notify('signet_changes', ${`organisation ${orgId}`})`.execute(database.query);
  await heard;
}
