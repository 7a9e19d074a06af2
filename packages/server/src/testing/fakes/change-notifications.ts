/** Waits for change notifications, for tests of caches. */
import { randomUUID } from "node:crypto";
import { sql } from "kysely";
import type { Service } from "../../modules/open-service.ts";

/**
 * Waits until the node has received every notification sent so far: PostgreSQL delivers them in commit order. On
 * SQLite a node receives its own changes immediately.
 */
export async function notificationsDelivered({
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
