/**
 * Finds changes that no notification announced: one lost between nodes, an expired lease. Every two seconds one statement
 * reads all requests that are waited for on this node, and one per pool; idle waiters cause no reads of their own.
 */
import { countPending, listSeqs } from "../requests/expire-requests.store.ts";
import { expireInPool } from "../requests/expire-requests.ts";
import type { ExpiryDeps } from "../requests/signing-request.ts";
import { requestTopic, type Topic, type WakeUp } from "./wake-up.ts";

interface SafetyPollDeps extends ExpiryDeps {
  readonly wakeUp: Pick<WakeUp, "notify" | "notifyLocal" | "topics">;
}

const INTERVAL_MS = 2_000;
const BATCH = 500;
/** Waiters notified per pool and round. */
const MAX_NOTIFIED = 50;

type WaitedTopic = { readonly topic: Topic; readonly orgId: string; readonly id: string };

export function safetyPoll(deps: SafetyPollDeps) {
  let seqs = new Map<Topic, number>();
  const poll = async () => {
    const waited = deps.wakeUp.topics().map((topic) => ({ topic, ...parseTopic(topic) }));
    const requests = waited.filter(({ kind }) => kind === "request");
    seqs = await pollRequests(deps, requests, seqs);
    for (const { kind, topic, orgId, id } of waited)
      if (kind === "pool") await pollPool(deps, { topic, orgId, id });
      else if (kind === "agent") deps.wakeUp.notifyLocal(topic);
  };
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    round ??= poll()
      // The next round tries again.
      .catch(() => {})
      .finally(() => {
        round = undefined;
      });
  }, INTERVAL_MS);
  timer.unref();
  return {
    poll,
    stop: async (): Promise<void> => {
      clearInterval(timer);
      await round;
    },
  };
}

function parseTopic(topic: Topic): { kind: string; orgId: string; id: string } {
  const [kind = "", orgId = "", id = ""] = topic.split(":");
  return { kind, orgId, id };
}

/** @returns the `seq` of each request */
async function pollRequests(
  { database, clock, wakeUp }: SafetyPollDeps,
  waited: readonly WaitedTopic[],
  before: ReadonlyMap<Topic, number>,
): Promise<Map<Topic, number>> {
  const seqs = new Map<Topic, number>();
  for (let start = 0; start < waited.length; start += BATCH) {
    const batch = waited.slice(start, start + BATCH).map(({ orgId, id }) => ({ orgId, requestId: id }));
    for (const { orgId, id, seq, isDue } of await listSeqs(database.query, batch, clock())) {
      const topic = requestTopic(orgId, id);
      seqs.set(topic, seq);
      // In the first round it is unknown what the waiters have read.
      if (isDue || before.get(topic) !== seq) wakeUp.notifyLocal(topic);
    }
  }
  return seqs;
}

async function pollPool(deps: SafetyPollDeps, { topic, orgId, id: poolId }: WaitedTopic): Promise<void> {
  await expireInPool(deps, orgId, poolId);
  const pending = { orgId, poolId, now: deps.clock(), limit: MAX_NOTIFIED };
  const count = await countPending(deps.database.query, pending);
  for (let notified = 0; notified < count; notified++) deps.wakeUp.notifyLocal(topic);
}
