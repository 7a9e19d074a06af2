import assert from "node:assert/strict";
import { test } from "node:test";
import { passwordFaultMessage } from "./password-policy.ts";

const policy = { minLength: 12, about: ["ada.lovelace@example.com", "Ada", "Lovelace"] };

test("a long password of any characters is accepted", async () => {
  for (const good of [
    "plum tractor ninety",
    "ééééabcdwxyz öö",
    "correct horse battery staple",
    `${"x".repeat(3)}Kq9-vA2mPz0`,
  ]) {
    assert.equal(await passwordFaultMessage(good, policy), undefined, good);
  }
});

test("short, long, common, repetitive, sequential and personal passwords are rejected", async () => {
  const bad = [
    "elevenchars",
    "x1".repeat(200),
    "basketball1!",
    "aaaaaaaaaaaa",
    "abcabcabcabc",
    "abcdefghijklm",
    "987654321",
    "lovelace1234",
  ];
  for (const password of bad)
    assert.equal(typeof (await passwordFaultMessage(password, policy)), "string", password);
  assert.match((await passwordFaultMessage("basketball", { minLength: 8, about: [] })) ?? "", /common/);
});
