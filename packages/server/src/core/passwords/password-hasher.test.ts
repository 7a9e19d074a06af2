import assert from "node:assert/strict";
import { test } from "node:test";
import { hash } from "@node-rs/argon2";
import { createPasswordHasher, PasswordQueueFull } from "./password-hasher.ts";

test("a password is verified whatever keyboard typed it, and a wrong or missing one is not", async () => {
  const passwords = createPasswordHasher();
  const stored = await passwords.hash("caf\u00e9 au lait");
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await passwords.verify(stored, "cafe\u0301 au lait"), true);
  assert.equal(await passwords.verify(stored, "cafe au lait"), false);
  assert.equal(await passwords.verify(undefined, "no account has this password"), false);
});

test("weaker parameters ask for a rehash, today's do not", async () => {
  const passwords = createPasswordHasher();
  assert.equal(passwords.needsRehash(await hash("x", { memoryCost: 8_192, timeCost: 1 })), true);
  assert.equal(passwords.needsRehash(await passwords.hash("x")), false);
});

test("what does not fit into the queue is refused at once, and the queue drains", async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxWaiting: 2 });
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => passwords.hash("x")));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"],
  );
  assert.ok(results[4]?.status === "rejected" && results[4].reason instanceof PasswordQueueFull);
  await passwords.hash("fits again");
});
