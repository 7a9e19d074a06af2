import assert from "node:assert/strict";
import { test } from "node:test";
import { emailKey, isEmail } from "./user.ts";

test("compares email addresses regardless of case, width, surrounding spaces and accents' encoding", () => {
  for (const [one, other] of [
    ["Uma@Acme.Example", "uma@acme.example"],
    ["  uma@acme.example\n", "uma@acme.example"],
    ["ｕｍａ@acme.example", "uma@acme.example"],
    ["jose\u0301@acme.example", "jos\u00e9@acme.example"],
  ] as const)
    assert.equal(emailKey(one), emailKey(other));
  assert.notEqual(emailKey("uma+x@acme.example"), emailKey("uma@acme.example"));
  assert.notEqual(emailKey("u.ma@acme.example"), emailKey("uma@acme.example"));
});

test("accepts valid email addresses", () => {
  for (const email of [
    "a@bc",
    "uma@acme.example",
    "o'brien+tag@mail.acme.example",
    "josé@bücher.example",
    `${"a".repeat(64)}@acme.example`,
  ])
    assert.equal(isEmail(email), true, email);
});

test("rejects addresses with missing parts, two @, spaces, control characters or excess length", () => {
  for (const email of [
    "",
    "@",
    "uma",
    "uma@",
    "@acme.example",
    "a@b@c",
    "u ma@acme.example",
    "uma@acme .example",
    "uma@acme.example\n",
    "uma\u0000@acme.example",
    "uma\u200b@acme.example",
    "uma\u202e@acme.example",
    "uma@acme.example.",
    `${"a".repeat(65)}@acme.example`,
    `a@${"b".repeat(253)}`,
  ])
    assert.equal(isEmail(email), false, JSON.stringify(email));
});

test("checks hostile input quickly", () => {
  const began = process.cpuUsage().user;
  for (const email of [`a@${".".repeat(300_000)}`, `${"@".repeat(300_000)}`, `a@${"b.".repeat(126)}\n`])
    isEmail(email);
  // The square of their length would take minutes.
  assert.ok(process.cpuUsage().user - began < 5_000_000);
});
