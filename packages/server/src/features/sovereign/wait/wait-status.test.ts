import assert from "node:assert/strict";
import { test } from "node:test";
import type { RequestStatus } from "../requests/request-status.ts";
import { displayKey, waitStatus } from "./wait-status.ts";

const now = 1_000_000;
const continueUrl = "https://id.example/continue";
const request: RequestStatus = {
  orgId: "o",
  requestId: "r-1",
  poolId: "p",
  applicationId: "a",
  userId: "u",
  grantType: "authorization_code",
  interactive: true,
  state: "pending",
  seq: 4,
  expiresAt: now + 299_001,
  challengeUntil: null,
  challengeCount: 0,
  failReason: null,
  agentSeen: true,
  createdAt: now - 1_000,
  signedAt: null,
  tokenExp: null,
  sealedTokens: null,
  browserSessionHash: "h",
  continuation: null,
};
const status = (changes: Partial<RequestStatus>) => waitStatus({ ...request, ...changes }, now, continueUrl);
const asked: Partial<RequestStatus> = {
  state: "challenge",
  challenge: { challengeId: "c-1", type: "confirm", prompt: "Pay?", display: "10 EUR", ttl: 120 },
  challengeUntil: now + 90_000,
};

test("maps eight states to five statuses with the remaining seconds", () => {
  assert.deepEqual(status({}), { requestId: "r-1", status: "pending", seq: 4, expiresIn: 300 });
  assert.deepEqual(status({ state: "claimed" }), status({}));
  assert.equal(status({ state: "released" }).status, "signed");
  assert.deepEqual(status({ state: "signed" }), {
    requestId: "r-1",
    status: "signed",
    seq: 4,
    expiresIn: 0,
    continueUrl,
  });
  assert.deepEqual(status({ state: "failed", failReason: "policy_denied" }), {
    requestId: "r-1",
    status: "failed",
    seq: 4,
    expiresIn: 0,
    continueUrl,
    reason: "policy_denied",
  });
  assert.equal(status({ state: "expired" }).reason, undefined);
  assert.ok(!("continueUrl" in waitStatus({ ...request, state: "signed" }, now, undefined)));
});

test("a challenge has its remaining time, limited by the request's", () => {
  const { challenge } = status(asked);
  assert.deepEqual(challenge, {
    challengeId: "c-1",
    type: "confirm",
    prompt: "Pay?",
    display: "10 EUR",
    expiresIn: 90,
  });
  assert.equal(status({ ...asked, expiresAt: now + 20_000 }).challenge?.expiresIn, 20);
  assert.equal(status({ ...asked, state: "responded" }).challenge, undefined);
});

test("drops unknown members of a challenge", () => {
  const challenge = { ...asked.challenge, secret: "x" } as unknown as NonNullable<RequestStatus["challenge"]>;
  assert.doesNotMatch(JSON.stringify(status({ ...asked, challenge })), /secret/);
});

test("the detail says why the request is pending", () => {
  assert.equal(status({ agentSeen: false }).detail, "no_agent");
  assert.equal(status({ state: "claimed", agentSeen: false }).detail, undefined);
  assert.equal(status({ state: "responded" }).detail, "answered");
  assert.equal(status({ challengeCount: 1 }).detail, "withdrawn");
  assert.equal(status({ state: "failed", challengeCount: 1 }).detail, undefined);
});

test("the display key differs exactly when the page does", () => {
  const names = [
    status({}),
    status({ agentSeen: false }),
    status({ state: "responded" }),
    status(asked),
    status({ ...asked, challenge: { challengeId: "c-2", type: "pin", prompt: "", ttl: 9 } }),
    status({ state: "signed" }),
    waitStatus({ ...request, state: "signed" }, now, undefined),
  ].map(displayKey);
  assert.equal(new Set(names).size, names.length, String(names));
  assert.equal(displayKey(status({ seq: 9, state: "claimed" })), displayKey(status({})));
});
