import assert from "node:assert/strict";
import { test } from "node:test";
import { backoff } from "./backoff.ts";

const limits = { firstMs: 1_000, maxMs: 60_000, maxRetryAfterMs: 300_000 };

test("the pause doubles up to its bound, and is never near zero", () => {
  for (const random of [0, 1]) {
    const { next, reset } = backoff(limits, () => random);
    const pauses = Array.from({ length: 40 }, () => next());
    assert.ok(Math.min(...pauses) >= 500);
    assert.ok(Math.max(...pauses) <= 60_500);
    assert.deepEqual(pauses.slice(0, 3), random === 0 ? [500, 500, 500] : [1_500, 2_500, 4_500]);
    reset();
    assert.equal(next(), pauses[0]);
  }
});

test("Retry-After is honoured up to its bound, and never shortens the pause", () => {
  const { next } = backoff(limits, () => 0.5);
  assert.equal(next(20), 20_500);
  assert.equal(next(86_400), 300_500);
  for (let failure = 0; failure < 20; failure += 1) next();
  assert.equal(next(1), 30_500);
});
