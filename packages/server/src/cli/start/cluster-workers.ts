/** Processes that serve one port, by node:cluster: as the process that starts them sees them, and as one of them sees itself. */
import cluster, { type Worker } from "node:cluster";
import type { SupervisedWorker, WorkerEvents, Workers } from "./supervise-workers.ts";

interface Beat {
  /** How long the worker's database has been stuck. */
  readonly stuckMs: number;
}

const BEAT_MS = 1_000;

const isBeat = (message: unknown): message is Beat =>
  typeof message === "object" &&
  message !== null &&
  "stuckMs" in message &&
  typeof message.stuckMs === "number";

export interface CurrentWorker {
  readonly id: number;
  /** Says that it serves, and from then on that it lives. */
  ready(stuckFor: () => number): void;
  /** Lets the process end. */
  leave(): void;
}

/** Undefined in a process that is not a worker. */
export function currentWorker(): CurrentWorker | undefined {
  const { worker } = cluster;
  if (!worker) return undefined;
  return {
    id: worker.id,
    ready: (stuckFor) => {
      const beat = () => {
        if (worker.isConnected()) process.send?.({ stuckMs: stuckFor() } satisfies Beat);
      };
      beat();
      setInterval(beat, BEAT_MS).unref();
    },
    leave: () => {
      if (worker.isConnected()) worker.disconnect();
    },
  };
}

export function clusterWorkers(): Workers {
  // Each worker takes connections from the one queue of the port. Handed out by this process in turn instead, a connection on its
  // way to a worker that is killed would never be answered nor closed, and each would cost one more message.
  cluster.schedulingPolicy = cluster.SCHED_NONE;
  return {
    start: (events) => {
      const worker = cluster.fork();
      listen(worker, events);
      return supervised(worker);
    },
  };
}

function listen(worker: Worker, { onBeat, onExit }: WorkerEvents): void {
  worker.on("message", (message: unknown) => {
    if (isBeat(message)) onBeat(message.stuckMs);
  });
  worker.once("exit", (code: number | null, signal: string | null) => onExit(code, signal));
}

const supervised = (worker: Worker): SupervisedWorker => ({
  id: worker.id,
  // Not the worker's own `kill`, which disconnects it first and waits for its connections.
  signal: (name) => void worker.process.kill(name),
});
