import { performance } from "node:perf_hooks";
import { type Answer, type Connection, openConnection } from "./http-connection.ts";
import { type LoadPlan, type LoadResult, requestSource } from "./load-plan.ts";
import { percentile } from "./statistics.ts";

/** How long the answers under way may still take after the end of the interval. */
const graceMs = 10_000;

type Tally = {
  latencies: number[];
  refusals: number[];
  answers: number;
  errors: number;
  firstError?: string;
  usedUpAt?: number;
};

/**
 * Loads one server for `plan.seconds` over persistent connections, each with one request under way, and says how it
 * went. A connection whose answer is not the expected one stops there. What is answered after the end is awaited but
 * not counted. Rejects when nobody listens; never takes longer than the interval and ten seconds.
 */
export async function runLoad(plan: LoadPlan): Promise<LoadResult> {
  const tally: Tally = { latencies: [], refusals: [], answers: 0, errors: 0 };
  const source = requestSource(plan);
  const interval = { deadline: 0, stopped: Promise.withResolvers<void>(), running: source.connections };
  const stop = () => {
    interval.running -= 1;
    if (interval.running === 0) interval.stopped.resolve();
  };
  const workers: Worker[] = [];
  for (let slot = 0; slot < source.connections; slot += 1) {
    workers.push(await openWorker(plan, slot, source, interval, tally, stop));
  }
  const busy = performance.eventLoopUtilization();
  const start = performance.now();
  interval.deadline = start + plan.seconds * 1000;
  const limit = setTimeout(
    () => {
      tally.errors += interval.running;
      tally.firstError ??= "no answer in time";
      interval.stopped.resolve();
    },
    plan.seconds * 1000 + graceMs,
  );
  for (const worker of workers) worker.go();
  await interval.stopped.promise;
  clearTimeout(limit);
  for (const worker of workers) worker.close();
  const seconds = ((tally.usedUpAt ?? interval.deadline) - start) / 1000;
  return summary(tally, seconds, performance.eventLoopUtilization(busy).utilization);
}

type Worker = { go: () => void; close: () => void };

/** One connection that sends, waits, checks and sends again until the deadline. */
async function openWorker(
  plan: LoadPlan,
  slot: number,
  source: ReturnType<typeof requestSource>,
  interval: { deadline: number },
  tally: Tally,
  stop: () => void,
): Promise<Worker> {
  const expected = Buffer.from(plan.expectedText);
  let sentAt = 0;
  let stopped = false;
  const end = (error?: string) => {
    if (stopped) return;
    stopped = true;
    if (error !== undefined) {
      tally.errors += 1;
      tally.firstError ??= error;
    }
    stop();
  };
  const send = (now: number) => {
    if (now >= interval.deadline) return end();
    const request = source.next(slot);
    if (request === undefined) {
      tally.usedUpAt = now;
      return end();
    }
    sentAt = now;
    connection.send(request);
  };
  const onAnswer = (answer: Answer) => {
    const now = performance.now();
    if (plan.mayRefuse && answer.status === 503 && /\r\nretry-after: *\d/i.test(answer.head)) {
      tally.refusals.push(now - sentAt);
      return sendWhenDue(now);
    }
    if (
      answer.status !== (plan.expectedStatus ?? 200) ||
      !answer.holds(expected) ||
      !source.learn(slot, answer.body)
    ) {
      return end(`${answer.status} ${answer.body().slice(0, 300)}`);
    }
    tally.answers += 1;
    if (now <= interval.deadline) tally.latencies.push(now - sentAt);
    sendWhenDue(now);
  };
  // At a fixed rate a request counts from when it was due: what a slow answer delays is part of the latency.
  let due = 0;
  const everyMs = plan.perSecond === undefined ? 0 : (source.connections * 1000) / plan.perSecond;
  const sendWhenDue = (now: number) => {
    if (everyMs === 0) return send(now);
    due += everyMs;
    const at = due;
    if (at <= now) return send(at);
    setTimeout(() => send(at), at - now);
  };
  const connection: Connection = await openConnection(plan.port, {
    onAnswer,
    onFault: (fault) => end(fault.message),
  });
  const go = () => {
    const now = performance.now();
    // Spread over the first of their turns.
    due = now + everyMs * (slot / source.connections - 1);
    sendWhenDue(now);
  };
  return { go, close: connection.close };
}

function summary(tally: Tally, seconds: number, loadBusy: number): LoadResult {
  const { latencies, refusals, errors, firstError } = tally;
  latencies.sort((a, b) => a - b);
  refusals.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    answers: tally.answers,
    seconds,
    perSecond: latencies.length / seconds,
    p50: percentile(latencies, 0.5),
    p95: percentile(latencies, 0.95),
    p99: percentile(latencies, 0.99),
    ...(refusals.length === 0
      ? {}
      : { refused: { count: refusals.length, p99: percentile(refusals, 0.99) } }),
    errors,
    ...(firstError === undefined ? {} : { firstError }),
    loadBusy,
  };
}
