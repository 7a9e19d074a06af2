/** What changing a record of an organisation takes, and what every change leaves behind. */
import type { Change, ChangeFeed } from "../db/change-feed.ts";
import type { Database, Db } from "../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "./audit/audit.store.ts";
import type { Clock } from "./clock.ts";

export interface RecordDeps {
  readonly database: Database;
  readonly changes: ChangeFeed;
  readonly clock: Clock;
}

/** Audits the change, and has every node drop what it caches of the topic. @param tx the change's transaction */
export async function recordChange(
  tx: Db,
  { changes }: Pick<RecordDeps, "changes">,
  topic: Change["topic"],
  event: AuditEvent,
): Promise<void> {
  await recordAuditEvent(tx, event);
  await changes.publish(tx, { orgId: event.orgId, topic });
}
