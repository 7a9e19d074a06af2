/** An agent says no, for good or for itself alone. */
import { recordAuditEvent } from "../../../core/audit/audit.store.ts";
import type { AgentCaller, Rejection, RejectOutcome } from "../agent-api/request-messages.ts";
import { poolTopic, requestTopic } from "../notify/wake-up.ts";
import { countSignature } from "./count-signature.ts";
import { currentRow } from "./expire-requests.ts";
import { failLeased, giveBack, type Lease } from "./lease.store.ts";
import { leaseEvent, leaseOf, leaseRefusal } from "./lease.ts";
import type { RequestDeps } from "./request-deps.ts";

const MOST_DETAIL = 200;

export async function reject(
  deps: RequestDeps,
  agent: AgentCaller,
  rejection: Rejection,
): Promise<RejectOutcome> {
  const lease = leaseOf(agent, rejection, deps.clock());
  const { orgId, poolId, requestId } = lease;
  const row = await currentRow(deps, lease);
  const refusal = leaseRefusal(row, lease);
  if (refusal || !row) return { outcome: refusal ?? "not_found" };
  const outcome = rejection.retryable ? "pending" : "failed";
  const isDone = await deps.database.transaction(async (tx) => {
    const was = row.refused_by;
    const refusedBy = JSON.stringify([...(JSON.parse(was) as string[]), agent.agentId]);
    const done = rejection.retryable
      ? await giveBack(tx, lease, { was, refusedBy })
      : await failLeased(tx, lease, rejection.reason);
    if (done) await recordAuditEvent(tx, rejectedEvent(lease, rejection));
    return done;
  });
  if (!isDone) {
    const current = await currentRow(deps, lease);
    return { outcome: leaseRefusal(current, { ...lease, now: deps.clock() }) ?? "lease_lost" };
  }
  if (outcome === "failed") countSignature(deps.count, lease, "failed");
  deps.wakeUp.wake(
    requestTopic(orgId, requestId),
    ...(rejection.retryable ? [poolTopic(orgId, poolId)] : []),
  );
  return { outcome };
}

const rejectedEvent = (lease: Lease, { reason, detail, retryable }: Rejection) =>
  leaseEvent(lease, "signing-request.rejected", {
    reason,
    retryable,
    ...(detail === undefined ? {} : { detail: [...detail].slice(0, MOST_DETAIL).join("") }),
  });
