/** The audit log: who did what to what, from where. Written in the transaction of the act; never holds a secret. */
import { newUuid } from "@signet/protocol/uuid";
import type { Db } from "../../db/open.ts";

export interface AuditEvent {
  readonly orgId: string;
  readonly at: number;
  /** `user:<id>`, `client:<id>`, `operator` (command line), `system` (by itself) or `anonymous`. */
  readonly actor: string;
  /** `<noun>.<past participle>`, e.g. `session.started`. */
  readonly action: string;
  readonly target?: string;
  readonly address?: string | undefined;
  readonly details?: Readonly<Record<string, string | number | boolean | readonly string[]>>;
}

export async function recordAuditEvent(db: Db, event: AuditEvent): Promise<void> {
  await db
    .insertInto("audit_event")
    .values({
      org_id: event.orgId,
      id: newUuid(),
      at: event.at,
      actor: event.actor,
      action: event.action,
      target: event.target ?? null,
      address: event.address ?? null,
      details: JSON.stringify(event.details ?? {}),
    })
    .execute();
}

/** Newest first. */
export async function listAuditEvents(db: Db, orgId: string, limit: number): Promise<AuditEvent[]> {
  const rows = await db
    .selectFrom("audit_event")
    .selectAll()
    .where("org_id", "=", orgId)
    .orderBy("id", "desc")
    .limit(limit)
    .execute();
  return rows.map((row) => ({
    orgId: row.org_id,
    at: row.at,
    actor: row.actor,
    action: row.action,
    ...(row.target === null ? {} : { target: row.target }),
    ...(row.address === null ? {} : { address: row.address }),
    details: JSON.parse(row.details) as NonNullable<AuditEvent["details"]>,
  }));
}
