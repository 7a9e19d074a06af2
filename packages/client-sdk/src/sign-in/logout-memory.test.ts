import assert from "node:assert/strict";
import { test } from "node:test";
import {
  createLogoutMemory,
  hasEnded,
  localSessionKey,
  providerSessionKey,
  subjectKey,
} from "./logout-memory.ts";

const issuer = "https://id.example";
const session = { id: "own", sid: "s1", sub: "u1", since: 1_000 };

test("a session ends by its own id, by the provider's, or with all of its user", async () => {
  for (const key of [localSessionKey("own"), providerSessionKey(issuer, "s1"), subjectKey(issuer, "u1")]) {
    const memory = createLogoutMemory();
    assert.equal(await hasEnded(memory, issuer, session), false);
    await memory.remember(key, 2_000, 60);
    assert.equal(await hasEnded(memory, issuer, session), true, key);
  }
});

test("other sessions, users and providers are unaffected", async () => {
  const memory = createLogoutMemory();
  await memory.remember(localSessionKey("other"), 2_000, 60);
  await memory.remember(providerSessionKey(issuer, "s2"), 2_000, 60);
  await memory.remember(providerSessionKey("https://other.example", "s1"), 2_000, 60);
  await memory.remember(subjectKey(issuer, "u2"), 2_000, 60);
  await memory.remember(subjectKey(issuer, "own"), 2_000, 60);
  assert.equal(await hasEnded(memory, issuer, session), false);
  assert.equal(await hasEnded(memory, issuer, { ...session, sid: undefined }), false);
});

test("a user who signs in again stays signed in, and an older message doesn't bring the end forward", async () => {
  const memory = createLogoutMemory();
  await memory.remember(subjectKey(issuer, "u1"), 2_000, 60);
  await memory.remember(subjectKey(issuer, "u1"), 1_500, 60);
  assert.equal(await hasEnded(memory, issuer, { ...session, since: 2_000 }), true);
  assert.equal(await hasEnded(memory, issuer, { ...session, since: 2_001 }), false);
});

test("entries are forgotten in time, the oldest first when there are too many", async () => {
  let now = 0;
  const memory = createLogoutMemory({ clock: () => now, most: 2 });
  for (const key of ["a", "b", "c"]) await memory.remember(key, 1, 60);
  assert.deepEqual(await memory.recall(["a", "b", "c"]), [undefined, 1, 1]);
  now = 60_000;
  assert.deepEqual(await memory.recall(["b", "c"]), [undefined, undefined]);
});

test("an unavailable memory lets nobody in", async () => {
  const away = {
    remember: () => {},
    recall: () => Promise.reject(new Error("store away")),
  };
  await assert.rejects(hasEnded(away, issuer, session), /store away/);
});
