import assert from "node:assert/strict";
import { afterEach, mock, test } from "node:test";
import { auditedRequest, duringRequest } from "../../core/audit/audited-request.ts";
import { type Admission, createAdmission } from "./admission.ts";
import type { AdmissionLimits } from "./admission-limits.ts";
import type { LoopGauge } from "./loop-gauge.ts";
import type { Entry } from "./room.ts";

const limits = {
  ...{ all: 4, least: 2, each: 3, waiting: 6 },
  ...{ burstMs: 60_000, standMs: 60_000, calmMs: 0, waitMs: 100, workMs: 500 },
};

/** An admission with a clock of its own, and what became of each request by its name. */
function stage(changed: Partial<AdmissionLimits> = {}, gauge?: LoopGauge) {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const admission: Admission = createAdmission({ ...limits, ...changed }, Date.now, gauge);
  const log: string[] = [];
  const answered = new Set<string>();
  const ask = (organisation: string, name: string) => {
    const entry: Entry = {
      ...{ organisation, since: 0, state: "outside" },
      isAnswered: () => answered.has(name),
      start: () => log.push(`+${name}`),
      refuse: () => log.push(`-${name}`),
    };
    admission.enter(entry);
    return Object.assign(() => admission.leave(entry), { close: () => admission.close(entry) });
  };
  const pass = (ms: number) => mock.timers.tick(ms);
  return { admission, log, answered, ask, pass };
}

// The next file of this process needs its own clock back.
afterEach(() => mock.timers.reset());

test("a request starts at once while there is a place, and waits when there is none", () => {
  const { admission, log, ask } = stage();
  const [leave] = [ask("a", "a1"), ask("a", "a2"), ask("b", "b1"), ask("b", "b2")];
  ask("b", "b3");
  assert.deepEqual(log, ["+a1", "+a2", "+b1", "+b2"]);
  assert.deepEqual(admission.counts(), { working: 4, waiting: 1, places: 4 });
  leave?.();
  assert.equal(log.at(-1), "+b3");
});

test("one organisation never has every place: another one's request starts beside its flood", () => {
  const { log, ask } = stage();
  for (let number = 1; number <= 5; number += 1) ask("flood", `f${number}`);
  ask("other", "o1");
  assert.deepEqual(log, ["+f1", "+f2", "+f3", "+o1"]);
});

test("those that wait take turns by organisation, not in the order in which they came", () => {
  const { log, ask } = stage();
  const leaves = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3"), ask("c", "c1")];
  for (const name of ["a4", "a5", "a6"]) ask("a", name);
  ask("b", "b1");
  for (const leave of leaves) leave();
  assert.deepEqual(log.slice(4), ["+a4", "+b1", "+a5", "+a6"]);
});

test("whoever waited for too long is refused, and nobody before", () => {
  const { admission, log, ask, pass } = stage();
  for (const name of ["a1", "a2", "a3", "a4"]) ask("a", name);
  pass(90);
  assert.deepEqual(log, ["+a1", "+a2", "+a3"]);
  pass(20);
  assert.deepEqual(log, ["+a1", "+a2", "+a3", "-a4"]);
  assert.deepEqual(admission.counts(), { working: 3, waiting: 0, places: 4 });
});

test("room to wait is taken from whoever has most of it, never from those with less", () => {
  const { log, ask } = stage();
  for (let number = 1; number <= 3; number += 1) ask("flood", `f${number}`);
  ask("x", "x1");
  for (let number = 4; number <= 9; number += 1) ask("flood", `f${number}`);
  ask("flood", "f10");
  assert.equal(log.at(-1), "-f10");
  ask("other", "o1");
  assert.equal(log.at(-1), "-f9");
  assert.ok(!log.includes("-o1"));
});

test("a request that left while it waited takes no place, and leaving twice gives back one", () => {
  const { admission, log, ask } = stage();
  const first = ask("a", "a1");
  for (const name of ["a2", "a3"]) ask("a", name);
  const waiting = ask("a", "a4");
  waiting();
  first();
  first();
  assert.deepEqual(log, ["+a1", "+a2", "+a3"]);
  assert.deepEqual(admission.counts(), { working: 2, waiting: 0, places: 4 });
  ask("a", "a5");
  ask("a", "a6");
  assert.deepEqual(log, ["+a1", "+a2", "+a3", "+a5"]);
});

test("what is worked on for very long waits for somebody else: it counts no more once its place is wanted", () => {
  const { admission, log, ask, pass } = stage();
  for (const name of ["a1", "a2", "a3"]) ask("a", name);
  pass(600);
  ask("a", "a4");
  pass(10);
  assert.equal(log.at(-1), "+a4");
  assert.deepEqual(admission.counts(), { working: 1, waiting: 0, places: 4 });
});

test("an answer that is read slowly counts no more once its place is wanted, whatever was begun before it", () => {
  const { log, answered, ask, pass } = stage();
  for (const name of ["a1", "a2", "a3"]) ask("a", name);
  answered.add("a2");
  ask("a", "a4");
  ask("a", "a5");
  pass(10);
  assert.deepEqual(log.slice(3), ["+a4"]);
});

test("whoever hangs up amid the work counts until it is done, and whoever waits is gone", () => {
  const { admission, log, answered, ask, pass } = stage();
  const [working] = [ask("a", "a1"), ask("a", "a2"), ask("a", "a3")];
  ask("a", "a4").close();
  assert.deepEqual(admission.counts(), { working: 3, waiting: 0, places: 4 });
  working?.close();
  ask("a", "a5");
  pass(20);
  assert.deepEqual(log.slice(3), []);
  answered.add("a1");
  pass(20);
  assert.deepEqual(log.slice(3), ["+a5"]);
});

/** One organisation's flood, of which some have waited for longer than a burst takes. */
function flooded(changed: Partial<AdmissionLimits> = {}) {
  const staged = stage({ burstMs: 30, calmMs: 50, ...changed });
  const [, , , leave] = ["f1", "f2", "f3", "f4"].map((name) => staged.ask("flood", name));
  return { ...staged, leave: () => leave?.() };
}

test("a burst may wait, all of it; once some have waited for longer, no more wait than there are places", () => {
  const { admission, log, ask, pass } = flooded({ waiting: 100 });
  for (let number = 5; number <= 20; number += 1) ask("flood", `f${number}`);
  assert.equal(admission.counts().waiting, 17);
  assert.ok(!admission.refusesNow("flood"));
  pass(30);
  assert.ok(admission.refusesNow("flood"));
  ask("flood", "late");
  assert.equal(log.at(-1), "-late");
});

test("while there is too much nobody begins to wait behind one who has waited for long", () => {
  const { log, ask, pass } = flooded({ standMs: 40 });
  pass(41);
  ask("flood", "f5");
  assert.equal(log.at(-1), "-f5");
  ask("other", "o1");
  assert.equal(log.at(-1), "+o1");
});

test("what is refused before it is read is known by organisation: others have their places and their room beside a flood", () => {
  const { admission, ask, pass } = flooded();
  for (const name of ["f5", "f6", "f7", "f8"]) ask("flood", name);
  pass(30);
  assert.ok(admission.refusesNow("flood"));
  assert.ok(!admission.refusesNow("other"));
  ask("other", "o1");
  assert.ok(!admission.refusesNow("other"), "no place is left, but room that the flood has more of");
});

test("what was let through and has not entered yet is reckoned with, until it enters", () => {
  const { admission, pass } = flooded();
  pass(30);
  const comes = Array.from({ length: 4 }, () => {
    assert.ok(!admission.refusesNow("flood"));
    return admission.expect("flood");
  });
  assert.ok(admission.refusesNow("flood"));
  for (const enters of comes) enters();
  assert.ok(!admission.refusesNow("flood"));
});

test("it is over when nobody was refused for a while, and bursts may wait again", () => {
  const { admission, ask, pass, leave } = flooded();
  const leaves = ["f5", "f6", "f7", "f8"].map((name) => ask("flood", name));
  pass(30);
  assert.ok(admission.refusesNow("flood"));
  for (const each of [leave, ...leaves]) each();
  assert.equal(admission.counts().waiting, 0);
  pass(49);
  assert.ok(admission.isOverloaded());
  pass(1);
  assert.ok(!admission.isOverloaded());
});

test("fewer places where the event loop never rests, and more again where it does while somebody waits", () => {
  const told: Array<readonly [number, boolean]> = [];
  let next = 0;
  const gauge: LoopGauge = {
    begin: () => {},
    placesAfter: (places, isWanted) => {
      told.push([places, isWanted]);
      return next;
    },
  };
  const { admission, log, ask, pass } = stage({}, gauge);
  const leaves = ["f1", "f2", "f3"].map((name) => ask("a", name));
  ask("b", "b1");
  ask("b", "b2");
  pass(10);
  assert.deepEqual([told, admission.counts().places], [[[4, true]], 2], "never fewer than the least");
  leaves[0]?.();
  leaves[1]?.();
  assert.deepEqual(log.slice(4), [], "two are still worked on");
  next = 100;
  pass(10);
  assert.deepEqual([log.slice(4), admission.counts().places], [["+b2"], 4]);
});

test("a request that gets another one's place is begun as a request of its own", () => {
  const { admission } = stage();
  const begunIn: unknown[] = [];
  const entry = (): Entry => ({
    ...{ organisation: "a", since: 0, state: "outside" },
    isAnswered: () => false,
    start: () => begunIn.push(auditedRequest()),
    refuse: assert.fail,
  });
  const entries = Array.from({ length: 4 }, entry);
  for (const one of entries) admission.enter(one);
  duringRequest({ requestId: "one", userAgent: undefined }, () => admission.leave(entries[0] as Entry));
  assert.deepEqual(begunIn, [undefined, undefined, undefined, undefined]);
});
