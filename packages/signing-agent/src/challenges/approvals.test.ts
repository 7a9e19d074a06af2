import assert from "node:assert/strict";
import { test } from "node:test";
import { approvals } from "./approvals.ts";

const passed = { clientId: "shop", sub: "user", aud: ["api", "issuer"], scopes: ["openid", "email"] };

test("an approval covers the same request or a smaller one, and nothing else", () => {
  let now = 1_000_000;
  const kept = approvals(() => now);
  kept.remember("one", { ...passed, at: now });
  for (const wanted of [passed, { ...passed, scopes: ["openid"] }, { ...passed, aud: ["api"] }])
    assert.equal(kept.covers("one", wanted), true);
  const others = [
    { clientId: "bank" },
    { sub: "another" },
    { scopes: ["openid", "payments"] },
    { aud: ["api", "payments"] },
  ];
  for (const other of others) assert.equal(kept.covers("one", { ...passed, ...other }), false);
  assert.equal(kept.covers("two", passed), false);
  now += 15 * 60_000;
  assert.equal(kept.covers("one", passed), false);
});

test("a journal entry without scopes covers all of them, for its audience only", () => {
  const kept = approvals(() => 0);
  kept.remember("one", { ...passed, scopes: undefined, at: 0 });
  assert.equal(kept.covers("one", { ...passed, scopes: ["payments"] }), true);
  assert.equal(kept.covers("one", { ...passed, aud: ["payments"] }), false);
});
