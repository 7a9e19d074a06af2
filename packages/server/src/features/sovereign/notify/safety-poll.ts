/**
 * For what nobody calls out: a call between nodes that was lost, a lease that lapsed. Every two seconds one statement
 * asks for all the requests that somebody on this node waits for, and one for each pool; idle waiters ask nothing
 * themselves, however many there are.
 */
import { countPending, listSeqs } from "../requests/expire-requests.store.ts";
import { settlePool } from "../requests/expire-requests.ts";
import type { LapseDeps } from "../requests/request-deps.ts";
import { requestTopic, type Topic, type WakeUp } from "./wake-up.ts";

export interface SafetyPollDeps extends LapseDeps {
  readonly wakeUp: Pick<WakeUp, "wake" | "wakeHere" | "topics">;
}

export interface SafetyPoll {
  /** One round; those that fail say nothing: the next one comes. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

const EVERY_MS = 2_000;
const BATCH = 500;
/** Of one pool: as many waiters are woken. */
const MOST_WOKEN = 50;

interface Waited {
  readonly topic: Topic;
  readonly orgId: string;
  readonly id: string;
}

export function safetyPoll(deps: SafetyPollDeps): SafetyPoll {
  let seen = new Map<Topic, number>();
  const look = async () => {
    const waited = deps.wakeUp.topics().map((topic) => ({ topic, ...partsOf(topic) }));
    seen = await lookAtRequests(
      deps,
      waited.filter(({ kind }) => kind === "request"),
      seen,
    );
    for (const { kind, topic, orgId, id } of waited)
      if (kind === "pool") await lookAtPool(deps, { topic, orgId, id });
      else if (kind === "agent") deps.wakeUp.wakeHere(topic);
  };
  let round: Promise<void> | undefined;
  const timer = setInterval(() => {
    round ??= look()
      .catch(() => {})
      .finally(() => {
        round = undefined;
      });
  }, EVERY_MS);
  timer.unref();
  return {
    look,
    stop: async () => {
      clearInterval(timer);
      await round;
    },
  };
}

function partsOf(topic: Topic): { kind: string; orgId: string; id: string } {
  const [kind = "", orgId = "", id = ""] = topic.split(":");
  return { kind, orgId, id };
}

/** @returns how far each is now */
async function lookAtRequests(
  { database, clock, wakeUp }: SafetyPollDeps,
  waited: readonly Waited[],
  before: ReadonlyMap<Topic, number>,
): Promise<Map<Topic, number>> {
  const seen = new Map<Topic, number>();
  for (let start = 0; start < waited.length; start += BATCH) {
    const some = waited.slice(start, start + BATCH).map(({ orgId, id }) => ({ orgId, requestId: id }));
    for (const { orgId, id, seq, isDue } of await listSeqs(database.query, some, clock())) {
      const topic = requestTopic(orgId, id);
      seen.set(topic, seq);
      // The first time it is not known what its waiters have read.
      if (isDue || before.get(topic) !== seq) wakeUp.wakeHere(topic);
    }
  }
  return seen;
}

async function lookAtPool(deps: SafetyPollDeps, { topic, orgId, id: poolId }: Waited): Promise<void> {
  await settlePool(deps, orgId, poolId);
  const wanted = { orgId, poolId, now: deps.clock(), limit: MOST_WOKEN };
  const waiting = await countPending(deps.database.query, wanted);
  for (let woken = 0; woken < waiting; woken++) deps.wakeUp.wakeHere(topic);
}
