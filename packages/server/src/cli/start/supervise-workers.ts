/**
 * Several processes as one service (SIGNET_WORKERS): starts them, replaces one that ends or hangs, passes signals on, and ends
 * when they have ended. It serves nothing itself, so that nothing but its own fault can end it.
 */
import type { Log } from "./log.ts";

export interface WorkerEvents {
  /** The worker serves, and its database has been stuck for so long. */
  onBeat(stuckMs: number): void;
  onExit(code: number | null, signal: string | null): void;
}

export interface SupervisedWorker {
  readonly id: number;
  signal(name: NodeJS.Signals): void;
}

export interface Workers {
  start(events: WorkerEvents): SupervisedWorker;
}

export interface SupervisionOptions {
  readonly count: number;
  readonly workers: Workers;
  readonly log: Pick<Log, "info" | "warn" | "error">;
  readonly stopRequested: Promise<string>;
  readonly drainSeconds: number;
  /** All of them serve. */
  readonly onReady: () => void;
  readonly times?: SupervisionTimes;
}

/** Milliseconds. */
export interface SupervisionTimes {
  /** A worker that ends after this long is replaced at once. */
  readonly settledMs: number;
  readonly firstPauseMs: number;
  readonly maxPauseMs: number;
  /** One that has not been heard of for so long is killed, as is one whose database has been stuck for so long. */
  readonly hungMs: number;
  /** After the listeners have closed; what still runs then is killed. */
  readonly stopMs: number;
}

const TIMES: SupervisionTimes = {
  settledMs: 10_000,
  firstPauseMs: 500,
  maxPauseMs: 30_000,
  hungMs: 20_000,
  stopMs: 8_000,
};

interface Running {
  readonly worker: SupervisedWorker;
  readonly startedAt: number;
  /** Undefined until it serves. */
  heardAt: number | undefined;
}

/** @returns false when the first worker could not start, or one did not stop in order */
export async function superviseWorkers(options: SupervisionOptions): Promise<boolean> {
  const { stopRequested, log, times = TIMES } = options;
  const fleet = openFleet({ ...options, times });
  const watch = setInterval(fleet.killSilent, times.hungMs / 10);
  const onHangUp = () => fleet.signal("SIGHUP");
  process.on("SIGHUP", onHangUp);
  void stopRequested.then((reason) => {
    log.info({ signal: reason }, "stopping: the workers drain");
    fleet.stop(reason === "SIGINT" ? "SIGINT" : "SIGTERM");
  });
  const isSound = await fleet.ended;
  clearInterval(watch);
  process.off("SIGHUP", onHangUp);
  return isSound;
}

type FleetOptions = Omit<SupervisionOptions, "times"> & { readonly times: SupervisionTimes };

function openFleet({ count, workers, log, drainSeconds, onReady, times }: FleetOptions) {
  const running = new Set<Running>();
  const pauses = restartPauses(times);
  const ended = Promise.withResolvers<boolean>();
  let [isStopping, isSound, hasServed, wasReady] = [false, true, false, false];

  function start(): void {
    if (isStopping) return;
    const events: WorkerEvents = {
      onBeat: (stuckMs) => onBeat(one, stuckMs),
      onExit: (code, signal) => onExit(one, code, signal),
    };
    const one: Running = { startedAt: performance.now(), heardAt: undefined, worker: workers.start(events) };
    running.add(one);
  }

  function onBeat(one: Running, stuckMs: number): void {
    one.heardAt = performance.now();
    if (stuckMs > times.hungMs) kill(log, one, "its database is stuck");
    // The first one alone: what keeps it from serving would keep all of them.
    if (!hasServed) for (let more = 1; more < count; more++) start();
    hasServed = true;
    if (wasReady || running.size < count || [...running].some(({ heardAt }) => heardAt === undefined)) return;
    wasReady = true;
    onReady();
  }

  function onExit(one: Running, code: number | null, signal: string | null): void {
    running.delete(one);
    if (isStopping || !hasServed) {
      if (code !== 0) isSound = false;
      if (running.size === 0) ended.resolve(isSound);
      return;
    }
    const pauseMs = pauses.next(performance.now() - one.startedAt);
    log.error({ ended: one.worker.id, code, signal, pauseMs }, "a worker has ended: another is started");
    setTimeout(start, pauseMs).unref();
  }

  const signalAll = (name: NodeJS.Signals) => {
    for (const { worker } of running) worker.signal(name);
  };

  function stop(signal: "SIGTERM" | "SIGINT"): void {
    isStopping = true;
    signalAll(signal);
    if (running.size === 0) ended.resolve(isSound);
    const listeningSeconds = signal === "SIGTERM" ? drainSeconds : 0;
    setTimeout(() => signalAll("SIGKILL"), listeningSeconds * 1_000 + times.stopMs).unref();
  }

  function killSilent(): void {
    const due = performance.now() - times.hungMs;
    for (const one of running)
      if (one.heardAt !== undefined && one.heardAt < due && !isStopping) kill(log, one, "it does not answer");
  }

  start();
  return { ended: ended.promise, signal: signalAll, stop, killSilent };
}

function kill(log: FleetOptions["log"], { worker }: Running, reason: string): void {
  log.error({ hung: worker.id, reason }, "a worker hangs: it is killed");
  worker.signal("SIGKILL");
}

/** None for a worker that had served for a while; longer and longer ones when they end soon after their start. */
function restartPauses({ settledMs, firstPauseMs, maxPauseMs }: SupervisionTimes) {
  let failures = 0;
  return {
    next: (livedMs: number): number => {
      failures = livedMs >= settledMs ? 0 : failures + 1;
      return failures === 0 ? 0 : Math.min(maxPauseMs, firstPauseMs * 2 ** (failures - 1));
    },
  };
}
