/**
 * The waiters of this node, by topic. Nothing here is authoritative: a notified waiter reads the database again, and one
 * that is never notified is covered by the safety poll (safety-poll.ts).
 *
 * Of the exclusive waiters of a topic (agents that wait to claim) one is notified per new request; if it finds nothing it
 * passes the notification on, so that a fleet of idle agents doesn't rush at every request.
 */

import { auditedRequest } from "../../../core/audit/audited-request.ts";
import type { Database } from "../../../db/open.ts";
import { openWakeCalls } from "../../../db/wake-calls.ts";
import { level } from "../../../telemetry/families.ts";

/** Also streams of waiting pages, and token requests that wait for a signature. */
const waiters = level({
  name: "signet_waiters",
  help: "Calls that wait for something to happen: agents, waiting pages, token requests",
}).at();

export type Topic = `request:${string}:${string}` | `pool:${string}:${string}` | `agent:${string}:${string}`;

export const requestTopic = (orgId: string, requestId: string): Topic => `request:${orgId}:${requestId}`;
export const poolTopic = (orgId: string, poolId: string): Topic => `pool:${orgId}:${poolId}`;
export const agentTopic = (orgId: string, agentId: string): Topic => `agent:${orgId}:${agentId}`;

export type WakeUp = Awaited<ReturnType<typeof openWakeUp>>;

export interface Wait {
  readonly topics: readonly Topic[];
  /** One exclusive waiter is notified at a time: what it reads is taken by one (a claim). */
  readonly isExclusive: boolean;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

interface Waiter {
  readonly isExclusive: boolean;
  /** Notified since its last read began. */
  isNotified: boolean;
  /** The notifications it has not answered with a read yet: the number of the last one, by topic. */
  pending: Map<Topic, number>;
  /** The last notification of each topic that reached it. */
  readonly received: Map<Topic, number>;
  resume(): void;
}

interface WaitQueue {
  readonly waiters: Set<Waiter>;
  count: number;
}

type WaitQueues = Map<Topic, WaitQueue>;

export async function openWakeUp(database: Database) {
  const queues: WaitQueues = new Map();
  const stopped = new AbortController();
  const notifyLocal = (topic: Topic): void => {
    const queue = queues.get(topic);
    if (!queue) return;
    queue.count++;
    for (const waiter of queue.waiters) if (!waiter.isExclusive) notifyWaiter(waiter, topic, queue.count);
    const next = queue.waiters.values().find((waiter) => waiter.isExclusive && !waiter.isNotified);
    if (next) notifyWaiter(next, topic, queue.count);
  };
  const calls = await openWakeCalls(database, {
    onCall: (topic) => notifyLocal(topic as Topic),
    onGap: () => {
      for (const [topic, queue] of queues)
        for (const waiter of queue.waiters) notifyWaiter(waiter, topic, ++queue.count);
    },
  });
  return {
    /** Call it after the commit. Notifies this node and the others. */
    notify: (...topics: Topic[]): void => {
      for (const topic of topics) {
        notifyLocal(topic);
        calls.call(topic);
      }
    },
    notifyLocal,
    /** The topics with waiters on this node. */
    topics: (): Topic[] => [...queues.keys()],
    waitUntil: <T>(wait: Wait, read: () => Promise<T | undefined>) =>
      waitUntil(queues, stopped.signal, wait, read),
    close: async (): Promise<void> => {
      stopped.abort();
      await calls.close();
    },
  };
}

/**
 * Reads until there is something: at once, and after each notification.
 * @returns undefined when the time is over, the signal aborts or the node stops
 */
async function waitUntil<T>(
  queues: WaitQueues,
  stopped: AbortSignal,
  { topics, isExclusive, ms, signal }: Wait,
  read: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const waiter: Waiter = {
    isExclusive,
    isNotified: false,
    pending: new Map(),
    received: new Map(),
    resume: () => {},
  };
  const signals = signal ? [signal, stopped] : [stopped];
  const deadline = performance.now() + ms;
  join(queues, topics, waiter);
  waiters.value++;
  try {
    // A caller that has disconnected takes nothing.
    while (!isAborted(signals)) {
      const answered = waiter.pending;
      waiter.isNotified = false;
      waiter.pending = new Map();
      const result = await read();
      if (result !== undefined) return result;
      passOn(queues, waiter, answered);
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      auditedRequest()?.onWait?.();
      await sleep(waiter, left, signals);
      if (!waiter.isNotified) return undefined;
    }
    return undefined;
  } finally {
    waiters.value--;
    leave(queues, topics, waiter);
    // Notified, but it never read.
    passOn(queues, waiter, waiter.pending);
  }
}

const isAborted = (signals: readonly AbortSignal[]): boolean => signals.some(({ aborted }) => aborted);

/** Until a notification (also one that came during the read), the end of the time, or an abort. */
function sleep(waiter: Waiter, ms: number, signals: readonly AbortSignal[]): Promise<void> {
  if (waiter.isNotified || isAborted(signals)) return Promise.resolve();
  return new Promise((resolve) => {
    const resume = () => {
      clearTimeout(timer);
      for (const signal of signals) signal.removeEventListener("abort", resume);
      resolve();
    };
    const timer = setTimeout(resume, ms);
    for (const signal of signals) signal.addEventListener("abort", resume, { once: true });
    waiter.resume = resume;
  });
}

function join(queues: WaitQueues, topics: readonly Topic[], waiter: Waiter): void {
  for (const topic of topics) {
    const queue = queues.get(topic) ?? { waiters: new Set(), count: 0 };
    queues.set(topic, queue);
    queue.waiters.add(waiter);
    // It reads right after this.
    waiter.received.set(topic, queue.count);
  }
}

function leave(queues: WaitQueues, topics: readonly Topic[], waiter: Waiter): void {
  for (const topic of topics) {
    const queue = queues.get(topic);
    queue?.waiters.delete(waiter);
    if (queue?.waiters.size === 0) queues.delete(topic);
  }
}

function notifyWaiter(waiter: Waiter, topic: Topic, count: number): void {
  waiter.pending.set(topic, count);
  waiter.received.set(topic, count);
  waiter.isNotified = true;
  waiter.resume();
}

/** An unused notification goes to the next exclusive waiter that has not received it, so that none goes in circles. */
function passOn(queues: WaitQueues, { isExclusive }: Waiter, unused: ReadonlyMap<Topic, number>): void {
  if (!isExclusive) return;
  for (const [topic, count] of unused) {
    const waiters = queues.get(topic)?.waiters.values();
    const next = waiters?.find((one) => one.isExclusive && (one.received.get(topic) ?? 0) < count);
    if (next) notifyWaiter(next, topic, count);
  }
}
