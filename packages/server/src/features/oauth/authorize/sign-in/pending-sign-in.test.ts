import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { createEncryption } from "../../../../core/encryption/encryption.ts";
import { keyRing } from "../../../../core/encryption/key-ring.ts";
import { openPending, type PendingSignIn, sealPending } from "./pending-sign-in.ts";

const seals = createEncryption(keyRing(randomBytes(32)));
const binding = { orgId: "org", browser: "browser" };
const pending: PendingSignIn = {
  id: "id",
  userId: "uma",
  authTime: 1_000,
  amr: ["pwd"],
  acr: "urn:signet:acr:pwd",
  passwordChangedAt: 500,
  sessionId: null,
  flow: { orgId: "org", parameters: [["client_id", "app"]], startedAt: 900 },
  expiresAt: 2_000,
};

test("a pending sign-in opens for its own browser and is unreadable to it", () => {
  const sealed = sealPending(seals, pending, binding);
  assert.deepEqual(openPending(seals, sealed, { ...binding, now: 1_999 }), pending);
  assert.ok(!Buffer.from(sealed.split(".")[1] ?? "", "base64url").includes("uma"));
});

test("a pending sign-in is rejected for another browser or organisation, expired or altered", () => {
  const sealed = sealPending(seals, pending, binding);
  assert.equal(openPending(seals, sealed, { ...binding, now: 2_000 }), undefined);
  assert.equal(openPending(seals, sealed, { ...binding, browser: "other", now: 1_000 }), undefined);
  assert.equal(openPending(seals, sealed, { ...binding, orgId: "other", now: 1_000 }), undefined);
  for (const text of [undefined, "", "v1.", "v1.AAAA", `${sealed}AA`, sealed.slice(0, -3)])
    assert.equal(openPending(seals, text, { ...binding, now: 1_000 }), undefined);
  const foreign = sealPending(createEncryption(keyRing(randomBytes(32))), pending, binding);
  assert.equal(openPending(seals, foreign, { ...binding, now: 1_000 }), undefined);
});
