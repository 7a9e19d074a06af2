import assert from "node:assert/strict";
import { test } from "node:test";
import * as argon2 from "@node-rs/argon2";
import { createPasswordHasher, PasswordQueueFull } from "./password-hasher.ts";

test("verifies equivalent Unicode input, and rejects a wrong or missing password", async () => {
  const passwords = createPasswordHasher();
  const stored = await passwords.hash("caf\u00e9 au lait", "org");
  assert.match(stored, /^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  assert.equal(await passwords.verify(stored, "cafe\u0301 au lait", "org"), true);
  assert.equal(await passwords.verify(stored, "cafe au lait", "org"), false);
  assert.equal(await passwords.verify(undefined, "no account has this password", "org"), false);
});

test("weaker parameters need a rehash, current ones don't", async () => {
  const passwords = createPasswordHasher();
  assert.equal(passwords.needsRehash(await argon2.hash("x", { memoryCost: 8_192, timeCost: 1 }), "x"), true);
  assert.equal(passwords.needsRehash(await passwords.hash("x", "org"), "x"), false);
  const bcrypt = "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy";
  assert.equal(passwords.needsRehash(bcrypt, "é".repeat(36)), true, "72 bytes");
  assert.equal(passwords.needsRehash(bcrypt, "é".repeat(36).concat("x")), false, "its end was not verified");
});

test("a full queue rejects immediately, and drains", async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxWaiting: 2 });
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map(() => passwords.hash("x", "org")));
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "fulfilled", "fulfilled", "rejected", "rejected"],
  );
  assert.ok(results[4]?.status === "rejected" && results[4].reason instanceof PasswordQueueFull);
  await passwords.hash("fits again", "org");
});

test("an unknown account costs the same verification as a known one", async () => {
  const verified: Array<readonly [hash: string, password: string]> = [];
  const watched: typeof argon2.verify = (hashed, password) => {
    verified.push([String(hashed), String(password)]);
    return argon2.verify(hashed, password);
  };
  const passwords = createPasswordHasher({ argon2: { hash: argon2.hash, verify: watched } });
  const stored = await passwords.hash("right", "org");
  await passwords.verify(stored, "wrong", "org");
  await passwords.verify(undefined, "wrong", "org");
  await passwords.verify(undefined, "wrong", "org");
  assert.equal(verified.length, 3);
  const parameters = verified.map(([hashed]) => hashed.split("$").slice(0, 4).join("$"));
  assert.deepEqual(new Set(parameters), new Set(["$argon2id$v=19$m=19456,t=2,p=1"]));
  assert.equal(verified[1]?.[0], verified[2]?.[0], "the hash for nobody is made once");
  assert.deepEqual(new Set(verified.map(([, password]) => password)), new Set(["wrong"]));
});

test("hashes run up to the concurrency limit", async () => {
  let underWay = 0;
  let most = 0;
  const slow: typeof argon2.verify = async () => {
    most = Math.max(most, ++underWay);
    await new Promise(setImmediate);
    underWay--;
    return false;
  };
  const passwords = createPasswordHasher({ concurrency: 2, argon2: { hash: argon2.hash, verify: slow } });
  await Promise.all(Array.from({ length: 20 }, () => passwords.verify("stored", "x", "org")));
  assert.equal(most, 2);
});

test("a failed check frees its slot", async () => {
  const passwords = createPasswordHasher({ concurrency: 1, maxWaiting: 0 });
  await assert.rejects(passwords.verify("no hash at all", "x", "org"));
  assert.equal(await passwords.verify(undefined, "x", "org"), false);
});
