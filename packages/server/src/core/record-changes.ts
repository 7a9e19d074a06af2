/** What changing a record of an organisation takes, and what every change leaves behind. */
import type { Change, ChangeFeed } from "../db/change-feed.ts";
import type { Db } from "../db/open.ts";
import { type AuditEvent, recordAuditEvent } from "./audit/audit.store.ts";
import type { CoreDeps } from "./core-deps.ts";

export interface RecordDeps extends CoreDeps {
  readonly changes: ChangeFeed;
  /** Whether this is a demo, or `signet dev`: applications run on the same machine, and have no certificates. */
  readonly isDemo?: boolean | undefined;
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
