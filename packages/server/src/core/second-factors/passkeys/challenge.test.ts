import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { keyRing } from "../../encryption/key-ring.ts";
import { type ChallengePurpose, passkeyChallenges } from "./challenge.ts";
import { createRelyingParty, passkeyName, readPasskeyAnswer, userIdOfHandle } from "./passkeys.ts";

const purpose: ChallengePurpose = { orgId: "org", use: "sign-in", browser: "browser" };
const challenges = passkeyChallenges(keyRing(randomBytes(32)));

test("a challenge is valid for its purpose until it expires", () => {
  const challenge = challenges.issue(purpose, 2_000);
  assert.ok(challenges.isGenuine(challenge, purpose, 1_999));
  assert.ok(!challenges.isGenuine(challenge, purpose, 2_000));
  const others: ChallengePurpose[] = [
    { ...purpose, orgId: "other" },
    { ...purpose, use: "second-factor" },
    { ...purpose, use: "registration" },
    { ...purpose, browser: "other" },
    { ...purpose, userId: "uma" },
  ];
  for (const other of others)
    assert.ok(!challenges.isGenuine(challenge, other, 1_000), JSON.stringify(other));
});

test("an altered, truncated or foreign challenge is rejected", () => {
  const challenge = challenges.issue(purpose, 2_000);
  const bytes = Buffer.from(challenge, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const altered = Buffer.from(bytes);
    altered[at] = (altered[at] ?? 0) ^ 1;
    assert.ok(!challenges.isGenuine(altered.toString("base64url"), purpose, 1_000), `byte ${at}`);
  }
  const foreign = passkeyChallenges(keyRing(randomBytes(32))).issue(purpose, 2_000);
  for (const text of ["", "AAAA", challenge.slice(0, -2), `${challenge}AA`, `${challenge}A`, foreign])
    assert.ok(!challenges.isGenuine(text, purpose, 1_000), text);
});

test("challenges are unique", () => {
  const made = Array.from({ length: 100 }, () => challenges.issue(purpose, 2_000));
  assert.equal(new Set(made).size, 100);
});

test("the relying party is the host and origin of the base URL", () => {
  assert.deepEqual(createRelyingParty("https://id.example.com/signet"), {
    id: "id.example.com",
    origin: "https://id.example.com",
  });
  assert.deepEqual(createRelyingParty("http://localhost:8080"), {
    id: "localhost",
    origin: "http://localhost:8080",
  });
});

test("a user handle converts to a user id and nothing else", () => {
  const id = "5c0d4c1e-9f0a-4b7e-8a57-2f6f0e1c9d3b";
  assert.equal(userIdOfHandle(Buffer.from(id.replaceAll("-", ""), "hex").toString("base64url")), id);
  for (const handle of [undefined, "", "AAAA", Buffer.alloc(17).toString("base64url")])
    assert.equal(userIdOfHandle(handle), undefined);
});

test("a passkey's name is cleaned and truncated", () => {
  assert.equal(passkeyName("  Work laptop "), "Work laptop");
  assert.equal(passkeyName("a\u202Eb\u0000c"), "abc");
  assert.equal(passkeyName("x".repeat(200))?.length, 60);
  for (const text of ["", "   ", "\u200B\u202E"]) assert.equal(passkeyName(text), undefined);
});

test("malformed passkey responses are rejected", () => {
  const clientDataJSON = (data: unknown) => Buffer.from(JSON.stringify(data)).toString("base64url");
  const answer = (data: unknown, id: unknown = "id") =>
    JSON.stringify({ id, response: { clientDataJSON: clientDataJSON(data) } });
  assert.equal(readPasskeyAnswer(answer({ challenge: "abc" }))?.challenge, "abc");
  for (const text of [
    undefined,
    "",
    "{",
    "null",
    "[]",
    "5",
    answer({}),
    answer(null),
    answer({ challenge: 5 }),
    answer({ challenge: "a" }, 5),
    `${" ".repeat(20_000)}${answer({ challenge: "a" })}`,
  ])
    assert.equal(readPasskeyAnswer(text), undefined, String(text).slice(0, 60));
});
