/** Feeds and sends in the background of `signet start`, on every node: at once when the chain has grown here, and every second. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { DueRow } from "../outbox/due-rows.store.ts";
import { fairTurns } from "../outbox/fair-turns.ts";
import { type DeliverDeps, deliverTarget } from "./deliver.ts";
import { type FeedDeps, feedAll, feedOne } from "./feed.ts";
import { type DueTarget, listDueTargets } from "./targets.store.ts";

export interface EventWorker {
  /** The chain of the organisation has grown. */
  moved(orgId: string): void;
  /** Looks for what is due now. */
  run(): void;
  /** Waits for the calls under way. */
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
const FEED_ALL_MS = 10_000;
/** On one node: an organisation whose receivers hang holds 12 calls. */
const LIMITS = { all: 256, organisation: 12, queue: 1 };
const MAX_DUE = 500;

type WorkerDeps = DeliverDeps & FeedDeps & { onError(error: unknown): void };

export function startEventWorker(deps: WorkerDeps): EventWorker {
  const grown = new Set<string>();
  const work = new Set<Promise<void>>();
  let isStopped = false;
  const inBackground = (job: () => Promise<void>) => {
    const running = job()
      .catch(deps.onError)
      .finally(() => work.delete(running));
    work.add(running);
  };
  const look = dueLook(deps, () => isStopped, inBackground);
  const feed = oneAtATime(async () => {
    for (const orgId of grown) {
      grown.delete(orgId);
      if (!isStopped && (await feedOne(deps, orgId)) > 0) look();
    }
  });
  const feedEverything = oneAtATime(async () => {
    if ((await feedAll(deps, () => isStopped)) > 0) look();
  });
  const timers = [setInterval(look, EVERY_MS), setInterval(() => inBackground(feedEverything), FEED_ALL_MS)];
  for (const timer of timers) timer.unref();
  inBackground(feedEverything);
  return {
    moved: (orgId) => {
      if (isStopped) return;
      grown.add(orgId);
      inBackground(feed);
    },
    run: AsyncLocalStorage.bind(look),
    stop: async () => {
      isStopped = true;
      for (const timer of timers) clearInterval(timer);
      while (work.size > 0) await Promise.all(work);
    },
  };
}

/** Looks for due targets, and again while there are some; what is sent runs beside it. */
function dueLook(
  deps: WorkerDeps,
  isStopped: () => boolean,
  inBackground: (job: () => Promise<void>) => void,
): () => void {
  const turns = fairTurns(LIMITS);
  const kinds = Object.keys(deps.kinds);
  const look = oneAtATime(async () => {
    if (isStopped() || !turns.hasRoom()) return;
    const found = { now: deps.clock(), limit: MAX_DUE, full: turns.full(), kinds };
    const due = await listDueTargets(deps.database.query, found);
    const byRow = new Map(inPlaces(due).map((row, at) => [row, due[at] as DueTarget]));
    for (const row of turns.begin([...byRow.keys()])) {
      const target = byRow.get(row) as DueTarget;
      inBackground(async () => {
        const made = await deliverTarget(deps, target, isStopped).finally(() => turns.end(row));
        if (made > 0) run();
      });
    }
  });
  const run = () => inBackground(look);
  return run;
}

/** As those who take turns: the place of each among those of its organisation. */
function inPlaces(due: readonly DueTarget[]): DueRow[] {
  const places = new Map<string, number>();
  return due.map(({ orgId, id, dueAt }) => {
    const place = (places.get(orgId) ?? 0) + 1;
    places.set(orgId, place);
    return { orgId, id, attempts: 0, queue: `${orgId}/${id}`, place, nextAttemptAt: dueAt };
  });
}

/** Runs once more when it was asked for meanwhile, and never twice at once. */
function oneAtATime(job: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  let isWanted = false;
  const start = async (): Promise<void> => {
    do {
      isWanted = false;
      await job();
    } while (isWanted);
  };
  return () => {
    if (running) {
      isWanted = true;
      return running;
    }
    running = start().finally(() => {
      running = undefined;
    });
    return running;
  };
}
