import assert from "node:assert/strict";
import { argon2Sync, pbkdf2Sync, scryptSync } from "node:crypto";
import { test } from "node:test";
import {
  boundedArgon2,
  firebaseHash,
  foreignHashText,
  fromBase64,
  readForeignHash,
  UnusableHash,
  verifyForeignHash,
} from "./foreign-hashes.ts";
import { createPasswordHasher } from "./password-hasher.ts";

const PASSWORD = "correct horse";
/** Of libxcrypt, by perl's crypt(). */
const bcrypt = [
  "$2b$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu",
  "$2a$04$abcdefghijklmnopqrstuujydOTSfIH/d5oUHpsygqV5X9xJLQc6e",
  // Apache's htpasswd.
  "$2y$05$QZX4ALIwy15ydlT7p8S7tuW59h7hXUklT6hDR5KtjMPZId/TIjiZC",
];
const salt = Buffer.from("a salt of sixteen");
const text = (bytes: Buffer) => bytes.toString("base64").replaceAll("=", "");
const argon2Of = (type: "argon2id" | "argon2i" | "argon2d") =>
  `$${type}$v=19$m=1024,t=2,p=1$${text(salt)}$${text(
    argon2Sync(type, {
      message: PASSWORD,
      nonce: salt,
      parallelism: 1,
      tagLength: 32,
      memory: 1024,
      passes: 2,
    }),
  )}`;
const pbkdf2Of = (digest: string, bytes: number) =>
  `$pbkdf2-${digest}$i=1000$${text(salt)}$${text(pbkdf2Sync(PASSWORD, salt, 1000, bytes, digest))}`;

const hashes = [
  ...bcrypt,
  ...(["argon2id", "argon2i", "argon2d"] as const).map(argon2Of),
  pbkdf2Of("sha1", 64),
  pbkdf2Of("sha256", 64),
  pbkdf2Of("sha512", 64),
  `$scrypt$ln=10,r=8,p=1$${text(salt)}$${text(scryptSync(PASSWORD, salt, 64, { N: 1024 }))}`,
];

test("hashes of other programs verify their password and no other, and ask for a rehash", async () => {
  const passwords = createPasswordHasher();
  for (const hash of hashes) {
    const stored = foreignHashText(readForeignHash(hash));
    assert.equal(await passwords.verify(stored, PASSWORD, "org"), true, hash);
    assert.equal(await passwords.verify(stored, "correct horsf", "org"), false, hash);
    assert.equal(await passwords.verify(stored, "", "org"), false, hash);
    assert.equal(passwords.needsRehash(stored, PASSWORD), true, hash);
    assert.equal(foreignHashText(readForeignHash(stored)), stored);
  }
});

test("whatever scrypt's costs are taken over, a password can be tried against them", async () => {
  const [salt, hash] = [text(Buffer.alloc(16, 1)), text(Buffer.alloc(32, 2))];
  for (const costs of ["ln=1,r=1,p=500000", "ln=2,r=8,p=30000", "ln=15,r=1,p=1", "ln=17,r=8,p=1"])
    assert.equal(await verifyForeignHash(`$scrypt$${costs}$${salt}$${hash}`, "any"), false, costs);
});

test("published hashes: zitadel's of scrypt, Firebase's own", async () => {
  const scrypt = "$scrypt$ln=16,r=8,p=1$cmFuZG9tc2FsdGlzaGFyZA$Rh+NnJNo1I6nRwaNqbDm6kmADswD1+7FTKZ7Ln9D8nQ";
  assert.equal(await verifyForeignHash(scrypt, "password"), true);
  const signerKey = fromBase64(
    "jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==",
  );
  const hash = fromBase64(
    "lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==",
  );
  const whole = Buffer.concat([fromBase64("42xEC+ixf3L2lw=="), fromBase64("Bw==")]);
  const stored = foreignHashText(firebaseHash(hash, signerKey, { ln: 14, r: 8, salt: whole }));
  assert.equal(await verifyForeignHash(stored, "user1password"), true);
  assert.equal(await verifyForeignHash(stored, "user2password"), false);
  for (const secret of [signerKey, hash])
    assert.ok(!stored.includes(text(secret).slice(0, 20)), "neither the signer key nor the hash is stored");
});

test("only the first block of PBKDF2 is kept: the others cost as much again", async () => {
  const stored = foreignHashText(readForeignHash(pbkdf2Of("sha1", 64)));
  assert.equal(Buffer.from(stored.split("$").at(-1) ?? "", "base64").length, 20);
});

test("passlib's form of PBKDF2 is read too", async () => {
  const hash = pbkdf2Sync(PASSWORD, salt, 29_000, 32, "sha256");
  const passlib = `$pbkdf2-sha256$29000$${text(salt).replaceAll("+", ".")}$${text(hash).replaceAll("+", ".")}`;
  assert.equal(await verifyForeignHash(foreignHashText(readForeignHash(passlib)), PASSWORD), true);
});

test("an argon2 hash of a password that was not normalised verifies as typed", async () => {
  const typed = "cafe\u0301 au lait";
  const tag = argon2Sync("argon2id", {
    ...{ message: typed, nonce: salt, parallelism: 1, tagLength: 32, memory: 1024, passes: 2 },
  });
  const stored = `$argon2id$v=19$m=1024,t=2,p=1$${text(salt)}$${text(tag)}`;
  assert.equal(await createPasswordHasher().verify(stored, typed, "org"), true);
});

test("bcrypt reads UTF-8, and 72 bytes of a password, as libxcrypt does", async () => {
  const accents = "$2y$04$abcdefghijklmnopqrstuuusvfeYzFuQdqd.KjimlRKkZ2QcoHWhO";
  assert.equal(await verifyForeignHash(accents, "caf\u00e9"), true);
  const long = "$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i";
  assert.equal(await verifyForeignHash(long, "x".repeat(80)), true);
  assert.equal(await verifyForeignHash(long, "x".repeat(71)), false);
});

test("a null byte ends no password: bcrypt would cut it there", async () => {
  assert.equal(await verifyForeignHash(bcrypt[0] ?? "", `${PASSWORD}\0and more`), false);
  assert.equal(await verifyForeignHash(bcrypt[0] ?? "", PASSWORD), true);
});

test("argon2's costs are whole numbers, as no other text of them can be read again", () => {
  const costs = { m: 64, t: 1, p: 1 };
  const rest = {
    kind: "argon2",
    type: "id",
    version: 19,
    salt: Buffer.alloc(16),
    hash: Buffer.alloc(32),
  } as const;
  assert.ok(boundedArgon2({ ...costs, ...rest }));
  for (const odd of [{ m: 64.5 }, { p: 1.5 }, { t: 1.5 }])
    assert.throws(() => boundedArgon2({ ...costs, ...odd, ...rest }), /not possible/);
});

test("what would cost a sign-in too much, or is malformed, is refused in words", () => {
  const hash = text(Buffer.alloc(32));
  const refused: ReadonlyArray<readonly [string, RegExp]> = [
    ["$2b$15$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu", /cost 15/],
    ["$2b$31$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu", /expensive/],
    ["$2b$03$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu", /malformed/],
    ["$2b$10$short", /malformed/],
    ["$2x$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu", /neither bcrypt/],
    [`$scrypt$ln=20,r=8,p=1$c2FsdA$${hash}`, /expensive/],
    [`$scrypt$ln=1,r=1,p=999999999$c2FsdA$${hash}`, /expensive/],
    [`$scrypt$ln=999999999,r=8,p=1$c2FsdA$${hash}`, /not possible/],
    [`$scrypt$ln=0,r=8,p=1$c2FsdA$${hash}`, /not possible/],
    [`$scrypt$ln=16,r=1,p=1$c2FsdA$${hash}`, /not possible/],
    [`$scrypt$ln=1,r=500000,p=1$c2FsdA$${hash}`, /expensive/],
    [`$scrypt$r=8,p=1$c2FsdA$${hash}`, /lacks/],
    [`$argon2id$v=19$m=4194304,t=1,p=1$c2FsdHNhbHQ$${hash}`, /expensive/],
    [`$argon2id$v=19$m=19456,t=1000000,p=1$c2FsdHNhbHQ$${hash}`, /expensive/],
    [`$argon2id$v=19$m=19456,t=2,p=17$c2FsdHNhbHQ$${hash}`, /expensive/],
    [`$argon2id$v=19$m=19456,t=0,p=1$c2FsdHNhbHQ$${hash}`, /not possible/],
    [`$argon2id$v=18$m=19456,t=2,p=1$c2FsdHNhbHQ$${hash}`, /version/],
    [`$pbkdf2-sha256$i=99999999$c2FsdA$${hash}`, /expensive/],
    [`$pbkdf2-sha256$i=0$c2FsdA$${hash}`, /not possible/],
    [`$pbkdf2-md5$i=1000$c2FsdA$${hash}`, /malformed/],
    ["$pbkdf2-sha256$i=1000$c2FsdA$c2hvcnQ", /5 bytes/],
    [`$pbkdf2-sha256$i=1000$c2 FsdA$${hash}`, /base64/],
    ["5f4dcc3b5aa765d61d8327deb882cf99", /neither bcrypt/],
    ["correct horse", /neither bcrypt/],
    [`$firebase-scrypt$ln=30,r=8,p=1$c2FsdA$${hash}`, /expensive/],
    ["$".repeat(10_000), /longer than/],
  ];
  for (const [given, words] of refused)
    assert.throws(
      () => readForeignHash(given),
      (error) => error instanceof UnusableHash && words.test(error.message),
      given.slice(0, 60),
    );
});
