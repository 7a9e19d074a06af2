import assert from "node:assert/strict";
import { test } from "node:test";
import { loopGauge } from "./loop-gauge.ts";

/** A gauge of an event loop that was busy for some milliseconds of each hundred. */
function gaugeOf(...busy: readonly number[]) {
  const read = { active: 0, idle: 0 };
  const gauge = loopGauge(() => ({ ...read }));
  const ask = (places: number, isWanted = true) => {
    const active = busy[asked++] ?? 0;
    read.active += active;
    read.idle += 100 - active;
    return gauge.placesAfter(places, isWanted);
  };
  let asked = 0;
  return { gauge, read, ask };
}

test("where the event loop never rests half of the places are taken away", () => {
  const { ask } = gaugeOf(100, 96, 95);
  assert.deepEqual([ask(256), ask(128), ask(64)], [128, 64, 64]);
});

test("where it rests there are more, if somebody waits for one", () => {
  const { ask } = gaugeOf(50, 50, 90);
  assert.deepEqual([ask(48), ask(48, false), ask(48)], [60, 48, 48]);
});

test("it looks at what came since it was begun, and at no less than some turns of the event loop", () => {
  const { gauge, read } = gaugeOf();
  read.idle += 10_000;
  gauge.begin();
  read.active += 40;
  assert.equal(gauge.placesAfter(256, true), 256);
  read.active += 10;
  assert.equal(gauge.placesAfter(256, true), 128);
});
