import assert from "node:assert/strict";
import { test } from "node:test";
import { approvals } from "./approvals.ts";

const passed = { clientId: "shop", sub: "user", aud: ["api", "issuer"], scopes: ["openid", "email"] };

test("what a user said yes to holds for as much or less, and for nothing else", () => {
  let now = 1_000_000;
  const kept = approvals(() => now);
  kept.remember("one", { ...passed, at: now });
  for (const wanted of [passed, { ...passed, scopes: ["openid"] }, { ...passed, aud: ["api"] }])
    assert.equal(kept.has("one", wanted), true);
  const others = [
    { clientId: "bank" },
    { sub: "another" },
    { scopes: ["openid", "payments"] },
    { aud: ["api", "payments"] },
  ];
  for (const other of others) assert.equal(kept.has("one", { ...passed, ...other }), false);
  assert.equal(kept.has("two", passed), false);
  now += 15 * 60_000;
  assert.equal(kept.has("one", passed), false);
});

test("a line of a journal without scopes stands for all of them, and for its audience alone", () => {
  const kept = approvals(() => 0);
  kept.remember("one", { ...passed, scopes: undefined, at: 0 });
  assert.equal(kept.has("one", { ...passed, scopes: ["payments"] }), true);
  assert.equal(kept.has("one", { ...passed, aud: ["payments"] }), false);
});
