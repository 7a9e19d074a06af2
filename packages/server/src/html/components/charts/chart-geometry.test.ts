import assert from "node:assert/strict";
import { test } from "node:test";
import { stackedBars, steppedLine, upperEdge } from "./chart-geometry.ts";

const BOX = { width: 600, height: 120 };

/** Numbers that look random and are the same in every run. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

test("the upper edge is round, even and at least the maximum", () => {
  const tops = [0, 1, 2, 3, 7, 9, 10, 11, 99, 100, 101, 1_000, 1_999, 123_456].map(upperEdge);
  assert.deepEqual(tops, [2, 2, 2, 4, 8, 10, 10, 12, 100, 100, 120, 1_000, 2_000, 160_000]);
  for (const max of [1, 5, 1e6, 1e15, Number.MAX_SAFE_INTEGER]) assert.ok(upperEdge(max) >= max);
});

test("keeps every bar inside its slot, and visible above zero", () => {
  const random = numbers(7);
  for (let run = 0; run < 200; run++) {
    const points = Math.floor(random() * 100);
    const scale = 10 ** Math.floor(random() * 17);
    const stacks = Array.from({ length: points }, () =>
      [random() * scale, random() < 0.5 ? 0 : random() * 3].map(Math.floor),
    );
    const places = stackedBars(stacks, BOX);
    assert.equal(places.length, points);
    let right = 0;
    for (const [index, bars] of places.entries()) {
      for (const [kind, { x, y, width, height }] of bars.entries()) {
        assert.ok(x >= right - 0.02 && x + width <= BOX.width + 0.02);
        assert.ok(y >= 0 && height >= 0 && y + height <= BOX.height + 0.02, `${y} ${height}`);
        assert.equal(height > 1.9, stacks[index]?.[kind] !== 0);
      }
      right = (bars[0]?.x ?? 0) + (bars[0]?.width ?? 0);
    }
  }
});

test("draws zero, one and huge values, and counts NaN as zero", () => {
  assert.deepEqual(stackedBars([], BOX), []);
  assert.deepEqual(
    stackedBars([[0, 0]], BOX)[0]?.map(({ height }) => height),
    [0, 0],
  );
  assert.equal(stackedBars([[2]], BOX)[0]?.[0]?.height, BOX.height);
  const odd = [
    [Number.NaN, -5],
    [Number.POSITIVE_INFINITY, Number.MAX_VALUE],
    [Number.MAX_VALUE, 1],
  ];
  const bars = stackedBars(odd, BOX).flat();
  assert.equal(bars.length, 6);
  for (const { y, height } of bars) assert.ok(y >= 0 && height >= 0 && y + height <= BOX.height + 0.02);
});

test("stacks bars from the baseline up", () => {
  const [stack = []] = stackedBars([[6, 4]], BOX);
  const [lower, upper] = stack;
  assert.deepEqual([lower?.y, lower?.height], [48, 72]);
  assert.deepEqual([upper?.y, upper?.height], [0, 48]);
});

test("a stepped line spans the box, and its area closes at the baseline", () => {
  assert.deepEqual(steppedLine([], BOX), { line: "", area: "" });
  assert.deepEqual(steppedLine([1, 2], BOX), { line: "M0 60H300V0H600", area: "M0 60H300V0H600V120H0Z" });
  const { area } = steppedLine([5, 0, 9e15, Number.NaN], BOX);
  const heights = [...area.matchAll(/V([^A-Z]*)/g)].map(([, y]) => Number(y));
  assert.equal(heights.length, 4);
  for (const y of heights) assert.ok(y >= 0 && y <= BOX.height, area);
});
