import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { eventually } from "../../testing/eventually.ts";
import { type SupervisionTimes, superviseWorkers, type WorkerEvents } from "./supervise-workers.ts";

const TIMES: SupervisionTimes = {
  settledMs: 10_000,
  firstPauseMs: 60,
  maxPauseMs: 200,
  hungMs: 300,
  stopMs: 300,
};

/** Workers that do as they are told, and obey SIGTERM unless they are said not to. */
function supervise(count: number, more: Partial<SupervisionTimes> = {}) {
  const started: Array<{ id: number; at: number; events: WorkerEvents; signals: string[] }> = [];
  const { promise: stopRequested, resolve: stop } = Promise.withResolvers<string>();
  const state = { obeys: true, readyTimes: 0, logged: [] as string[] };
  const note = (_fields: unknown, message?: string) => void state.logged.push(message ?? "");
  const log = { info: note, warn: note, error: note } as never;
  const outcome = superviseWorkers({
    count,
    log,
    stopRequested,
    drainSeconds: 0,
    onReady: () => void state.readyTimes++,
    times: { ...TIMES, ...more },
    workers: {
      start: (events) => {
        const id = started.length + 1;
        const signals: string[] = [];
        started.push({ id, at: performance.now(), events, signals });
        return {
          id,
          signal: (name) => {
            signals.push(name);
            const ends = name === "SIGKILL" || (name !== "SIGHUP" && state.obeys);
            if (ends) setImmediate(() => events.onExit(name === "SIGKILL" ? null : 0, null));
          },
        };
      },
    },
  });
  return { started, state, stop, outcome };
}

test("the first worker alone until it serves, then the others; ready when all serve", async () => {
  const { started, state, stop, outcome } = supervise(3);
  assert.equal(started.length, 1);
  started[0]?.events.onBeat(0);
  assert.equal(started.length, 3);
  started[1]?.events.onBeat(0);
  assert.equal(state.readyTimes, 0);
  started[2]?.events.onBeat(0);
  for (const { events } of started) events.onBeat(0);
  assert.equal(state.readyTimes, 1);
  stop("SIGTERM");
  assert.equal(await outcome, true);
  assert.deepEqual(
    started.map(({ signals }) => signals),
    [["SIGTERM"], ["SIGTERM"], ["SIGTERM"]],
  );
});

test("gives up when the first worker never serves", async () => {
  const { started, outcome } = supervise(2);
  started[0]?.events.onExit(1, null);
  assert.equal(await outcome, false);
  assert.equal(started.length, 1);
});

test("replaces a worker that ends: at once when it had settled, with longer and longer pauses when not", async () => {
  const settled = supervise(1, { settledMs: 0 });
  settled.started[0]?.events.onBeat(0);
  settled.started[0]?.events.onExit(null, "SIGKILL");
  await eventually("it is replaced", () => settled.started.length === 2);
  settled.stop("SIGTERM");
  assert.equal(await settled.outcome, true);

  const { started, stop, outcome } = supervise(1);
  started[0]?.events.onBeat(0);
  for (let count = 1; count <= 4; count++) {
    started[count - 1]?.events.onExit(1, null);
    await eventually("it is replaced", () => started.length === count + 1);
  }
  const pauses = started.slice(1).map(({ at }, index) => at - (started[index]?.at ?? 0));
  assert.ok(
    pauses.every((pause, index) => pause >= ([60, 120, 200, 200][index] ?? 0) - 5),
    JSON.stringify(pauses),
  );
  stop("SIGTERM");
  assert.equal(await outcome, true);
});

test("kills and replaces a worker that is not heard of, or whose database is stuck", async () => {
  const { started, stop, outcome } = supervise(2, { settledMs: 0 });
  started[0]?.events.onBeat(0);
  started[1]?.events.onBeat(301);
  const alive = setInterval(() => started[0]?.events.onBeat(0), 20);
  await eventually("the stuck one is replaced", () => started.length === 3);
  assert.deepEqual(started[1]?.signals, ["SIGKILL"]);
  started[2]?.events.onBeat(0);
  await eventually("the silent one is replaced", () => started.length === 4);
  assert.deepEqual([started[0]?.signals, started[2]?.signals], [[], ["SIGKILL"]]);
  clearInterval(alive);
  stop("SIGTERM");
  assert.equal(await outcome, true);
});

test("passes SIGHUP and SIGINT on, starts nothing while stopping, and kills what does not stop", async () => {
  const { started, state, stop, outcome } = supervise(2);
  started[0]?.events.onBeat(0);
  started[1]?.events.onBeat(0);
  process.emit("SIGHUP");
  state.obeys = false;
  started[1]?.events.onExit(1, null);
  stop("SIGINT");
  await delay(150);
  assert.equal(started.length, 2);
  assert.equal(await outcome, false);
  assert.deepEqual(started[0]?.signals, ["SIGHUP", "SIGINT", "SIGKILL"]);
});
