import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type AgentKeyTimes,
  agentKeyState,
  isPublished,
  nextStateChange,
  RETIRED_AFTER_MS,
} from "./agent-key.ts";

const times: AgentKeyTimes = { activeFrom: 1_000, retiringAt: null, lastTokenExp: null, compromisedAt: null };

test("a key is published, active, retiring until a minute after its last token expires, then retired", () => {
  const key = { ...times, retiringAt: 2_000, lastTokenExp: 5_000 };
  const gone = 5_000 + RETIRED_AFTER_MS;
  const at = (now: number) => agentKeyState(key, now);
  assert.deepEqual(
    [at(999), at(1_000), at(1_999), at(2_000), at(gone - 1), at(gone)],
    ["published", "active", "active", "retiring", "retiring", "retired"],
  );
  assert.equal(agentKeyState(times, Number.MAX_SAFE_INTEGER), "active", "as long as it has no successor");
});

test("an unused key retires a minute after its successor is active", () => {
  const key = { ...times, retiringAt: 2_000 };
  assert.equal(agentKeyState(key, 2_000 + RETIRED_AFTER_MS - 1), "retiring");
  assert.equal(agentKeyState(key, 2_000 + RETIRED_AFTER_MS), "retired");
});

test("the JWKS contains a key until it retires or is compromised", () => {
  const key = { ...times, retiringAt: 2_000 };
  assert.deepEqual(
    [0, 1_500, 2_500, 2_000 + RETIRED_AFTER_MS].map((now) => isPublished(key, now)),
    [true, true, true, false],
  );
  const known = { ...times, compromisedAt: 1 };
  assert.equal(agentKeyState(known, 1_500), "compromised");
  assert.equal(isPublished(known, 1_500), false);
});

test("computes when a key's state changes next", () => {
  const key = { ...times, retiringAt: 2_000, lastTokenExp: 5_000 };
  assert.deepEqual(
    [0, 1_000, 2_000, 5_000 + RETIRED_AFTER_MS].map((now) => nextStateChange(key, now)),
    [1_000, 2_000, 5_000 + RETIRED_AFTER_MS, Number.POSITIVE_INFINITY],
  );
});
