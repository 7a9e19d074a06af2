/** An audit event as a line of the audit stream. */
import type { StoredEvent } from "../audit.store.ts";

/** JSON, with its line break. What an event does not have is left out. */
export function streamLine({ seq, orgId, at, context, ...event }: StoredEvent): string {
  const { emailHash: _, ...shown } = context ?? {};
  return `${JSON.stringify({ orgId, seq, at: new Date(at).toISOString(), ...event, ...shown })}\n`;
}
