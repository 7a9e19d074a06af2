/**
 * The metrics of several workers as those of one service. A worker that does not answer in time counts with what it said last, and
 * one that has ended with its last counts for ever: a counter that went down would look like a restart, and be counted twice.
 */
import cluster, { type Worker } from "node:cluster";
import { type Exposition, sumOfEnded, textOf } from "../../telemetry/exposition.ts";
import type { Exposed } from "../../telemetry/families.ts";

interface Asked {
  readonly metricsAsked: number;
}

interface Told {
  readonly metricsTold: number;
  readonly values: readonly Exposed[];
}

const isAsked = (message: unknown): message is Asked =>
  typeof message === "object" && message !== null && "metricsAsked" in message;

const isTold = (message: unknown): message is Told =>
  typeof message === "object" && message !== null && "metricsTold" in message && "values" in message;

const ANSWER_MS = 2_000;

/** In a worker. @returns the end */
export function answerMetrics({ values }: Pick<Exposition, "values">): () => void {
  const onMessage = (message: unknown) => {
    if (!isAsked(message)) return;
    void values().then((found) => {
      if (process.connected)
        process.send?.({ metricsTold: message.metricsAsked, values: found } satisfies Told);
    });
  };
  process.on("message", onMessage);
  return () => void process.off("message", onMessage);
}

/** In the process that has started the workers. */
export function workerMetrics() {
  const last = new Map<number, readonly Exposed[]>();
  let ended: readonly Exposed[] = [];
  let number = 0;
  const waiting = new Map<number, { readonly of: Set<number>; readonly done: () => void }>();

  const onMessage = ({ id }: Worker, message: unknown) => {
    if (!isTold(message)) return;
    last.set(id, message.values);
    const round = waiting.get(message.metricsTold);
    round?.of.delete(id);
    if (round?.of.size === 0) round.done();
  };
  const onExit = ({ id }: Worker) => {
    const values = last.get(id);
    last.delete(id);
    for (const round of waiting.values()) if (round.of.delete(id) && round.of.size === 0) round.done();
    if (!values) return;
    const before = ended;
    adding = adding.then(async () => {
      ended = await sumOfEnded([before.length > 0 ? ended : [], values]);
    });
  };
  let adding: Promise<void> = Promise.resolve();
  cluster.on("message", onMessage);
  cluster.on("exit", onExit);

  const ask = async () => {
    const workers = Object.values(cluster.workers ?? {}).filter((one) => one?.isConnected());
    if (workers.length === 0) return;
    const round = number++;
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.set(round, { of: new Set(workers.flatMap((one) => one?.id ?? [])), done: resolve });
    const late = setTimeout(resolve, ANSWER_MS);
    for (const worker of workers) worker?.send({ metricsAsked: round } satisfies Asked);
    await promise;
    clearTimeout(late);
    waiting.delete(round);
  };
  return {
    text: async (): Promise<string> => {
      await ask();
      await adding;
      return textOf([ended, ...last.values()]);
    },
    close: (): void => {
      cluster.off("message", onMessage);
      cluster.off("exit", onExit);
    },
  };
}
