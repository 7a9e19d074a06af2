/**
 * The HTTP request that an audit event belongs to. It is ambient, as in a log line: it decides nothing, and every event
 * has it, also those that are recorded far below the route (docs/decisions/2026-11-23-audit-context.md). What waits far
 * below says so by it as well, and whoever finds out whose request it is: a second ambient value would cost every request again.
 */
import { AsyncLocalStorage } from "node:async_hooks";

export interface AuditedRequest {
  /** The reference that error pages and problem documents show. */
  readonly requestId: string;
  readonly userAgent: string | undefined;
  /** Called when the request begins to wait for somebody else: it gives back its place among those worked on. */
  readonly onWait?: () => void;
  /** For the request's log line. */
  orgId?: string | undefined;
  clientId?: string | undefined;
}

const requests = new AsyncLocalStorage<AuditedRequest>();

export const duringRequest = <T>(request: AuditedRequest, work: () => T): T => requests.run(request, work);

/** Undefined outside requests: commands and background work. */
export const auditedRequest = (): AuditedRequest | undefined => requests.getStore();

/** Tells the log whose request it is. @param clientId of a registered client */
export function noteCaller(orgId: string, clientId: string | undefined): void {
  const request = requests.getStore();
  if (!request) return;
  request.orgId = orgId;
  if (clientId !== undefined) request.clientId = clientId;
}
