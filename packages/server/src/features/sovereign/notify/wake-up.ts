/**
 * Who waits on this node, and for what. Nothing here is authoritative: a waiter that is woken reads the database again,
 * and one that is never woken looks by itself now and then (safety-poll.ts).
 *
 * Of those who wait to take something from a pool one is woken for each new request; when it comes away with empty hands
 * it passes the news on, so that a crowd of idle agents does not fall upon every request.
 */

import type { Database } from "../../../db/open.ts";
import { openWakeCalls } from "../../../db/wake-calls.ts";

export type Topic = `request:${string}:${string}` | `pool:${string}:${string}` | `agent:${string}:${string}`;

export const requestTopic = (orgId: string, requestId: string): Topic => `request:${orgId}:${requestId}`;
export const poolTopic = (orgId: string, poolId: string): Topic => `pool:${orgId}:${poolId}`;
export const agentTopic = (orgId: string, agentId: string): Topic => `agent:${orgId}:${agentId}`;

export interface WakeUp {
  /** After the commit. Wakes here and on the other nodes. */
  wake(...topics: Topic[]): void;
  /** Wakes on this node only. */
  wakeHere(topic: Topic): void;
  /** What somebody waits for on this node. */
  topics(): readonly Topic[];
  /**
   * Looks, sleeps until it is woken, and looks again, until there is something.
   * @param wait.taking one waiter is woken for each wake: what is looked for goes to one
   * @returns undefined when the time is over, the signal aborts or the node stops
   */
  until<T>(wait: Wait, look: () => Promise<T | undefined>): Promise<T | undefined>;
  close(): Promise<void>;
}

export interface Wait {
  readonly topics: readonly Topic[];
  readonly taking: boolean;
  readonly ms: number;
  readonly signal?: AbortSignal | undefined;
}

interface Waiter {
  readonly taking: boolean;
  /** Woken since its last look began. */
  isWoken: boolean;
  /** The news that woke it, by topic, until it has looked. */
  news: Map<Topic, number>;
  /** The last news of each topic that reached it. */
  readonly heard: Map<Topic, number>;
  rise(): void;
}

interface Crowd {
  readonly waiters: Set<Waiter>;
  /** How many news there were. */
  news: number;
}

export async function openWakeUp(database: Database): Promise<WakeUp> {
  const crowds = new Map<Topic, Crowd>();
  const stopped = new AbortController();
  const wakeHere = (topic: Topic) => {
    const crowd = crowds.get(topic);
    if (!crowd) return;
    crowd.news++;
    for (const waiter of crowd.waiters) if (!waiter.taking) rouse(waiter, topic, crowd.news);
    rouseOne(crowd, topic);
  };
  const calls = await openWakeCalls(database, {
    onCall: (topic) => wakeHere(topic as Topic),
    onGap: () => {
      for (const [topic, crowd] of crowds)
        for (const waiter of crowd.waiters) rouse(waiter, topic, ++crowd.news);
    },
  });
  return {
    wake: (...topics) => {
      for (const topic of topics) {
        wakeHere(topic);
        calls.call(topic);
      }
    },
    wakeHere,
    topics: () => [...crowds.keys()],
    until: (wait, look) => waitUntil(crowds, stopped.signal, wait, look),
    close: async () => {
      stopped.abort();
      await calls.close();
    },
  };
}

async function waitUntil<T>(
  crowds: Map<Topic, Crowd>,
  stopped: AbortSignal,
  wait: Wait,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const { taking, topics } = wait;
  const waiter: Waiter = { taking, isWoken: false, news: new Map(), heard: new Map(), rise: () => {} };
  const ends = wait.signal ? [wait.signal, stopped] : [stopped];
  const deadline = performance.now() + wait.ms;
  join(crowds, topics, waiter);
  try {
    // Who has gone takes nothing any more.
    while (!hasEnded(ends)) {
      const { news } = waiter;
      waiter.isWoken = false;
      waiter.news = new Map();
      const found = await look();
      if (found !== undefined) return found;
      passOn(crowds, waiter, news);
      const left = deadline - performance.now();
      if (left <= 0) return undefined;
      await sleep(waiter, left, ends);
      // The time is over, and nothing came: the last look was the last.
      if (!waiter.isWoken) return undefined;
    }
    return undefined;
  } finally {
    leave(crowds, topics, waiter);
    // Woken, but it never looked.
    passOn(crowds, waiter, waiter.news);
  }
}

const hasEnded = (ends: readonly AbortSignal[]): boolean => ends.some(({ aborted }) => aborted);

/** Until it is woken (also when that was while it looked), the time is over or a signal aborts. */
function sleep(waiter: Waiter, ms: number, ends: readonly AbortSignal[]): Promise<void> {
  if (waiter.isWoken || hasEnded(ends)) return Promise.resolve();
  return new Promise((resolve) => {
    const rise = () => {
      clearTimeout(timer);
      for (const end of ends) end.removeEventListener("abort", rise);
      resolve();
    };
    const timer = setTimeout(rise, ms);
    for (const end of ends) end.addEventListener("abort", rise, { once: true });
    waiter.rise = rise;
  });
}

function join(crowds: Map<Topic, Crowd>, topics: readonly Topic[], waiter: Waiter): void {
  for (const topic of topics) {
    const crowd = crowds.get(topic) ?? { waiters: new Set(), news: 0 };
    crowds.set(topic, crowd);
    crowd.waiters.add(waiter);
    // It looks right after this.
    waiter.heard.set(topic, crowd.news);
  }
}

function leave(crowds: Map<Topic, Crowd>, topics: readonly Topic[], waiter: Waiter): void {
  for (const topic of topics) {
    const crowd = crowds.get(topic);
    crowd?.waiters.delete(waiter);
    if (crowd?.waiters.size === 0) crowds.delete(topic);
  }
}

function rouse(waiter: Waiter, topic: Topic, news: number): void {
  waiter.news.set(topic, news);
  waiter.heard.set(topic, news);
  waiter.isWoken = true;
  waiter.rise();
}

/** News goes to the first who waits to take and has not been woken already. */
function rouseOne({ waiters, news }: Crowd, topic: Topic): void {
  for (const waiter of waiters) {
    if (!waiter.taking || waiter.isWoken) continue;
    rouse(waiter, topic, news);
    break;
  }
}

/** What came to nothing here goes to the next who has not heard of it, so that no news goes round and round. */
function passOn(crowds: Map<Topic, Crowd>, { taking }: Waiter, passed: ReadonlyMap<Topic, number>): void {
  if (!taking) return;
  for (const [topic, news] of passed) {
    for (const waiter of crowds.get(topic)?.waiters ?? []) {
      if (!waiter.taking || (waiter.heard.get(topic) ?? 0) >= news) continue;
      rouse(waiter, topic, news);
      break;
    }
  }
}
