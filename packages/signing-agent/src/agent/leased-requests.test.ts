import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Interrupted, leasedRequests } from "./leased-requests.ts";

const never = new AbortController().signal;
const response = (challengeId: string, requestId = "r") => ({
  requestId,
  challengeId,
  outcome: "answered",
  answer: challengeId,
});

describe("leased requests", () => {
  test("a request claimed again interrupts the first claim, and removing that one leaves the second", async () => {
    let now = 0;
    const leased = leasedRequests(undefined, () => now);
    const first = leased.add("r");
    const second = leased.add("r");
    assert.ok(first.signal.reason instanceof Interrupted && first.signal.reason.by === "lost");
    leased.remove(first);
    now = 60_000;
    assert.deepEqual([leased.dueForRenewal(), leased.counts.working], [["r"], 1]);
    assert.equal(second.signal.aborted, false);
    leased.remove(second);
    await leased.drained(never);
    assert.deepEqual(leased.dueForRenewal(), []);
  });

  test("an answer that arrives early is kept, and is known from then on", async () => {
    const leased = leasedRequests();
    const one = leased.add("r");
    leased.applyPoll({ responses: [response("c"), response("x", "another agent's")], lost: [] });
    assert.equal(await one.waitForAnswer("c", never), "c");
    assert.deepEqual(leased.knownChallenges(), ["c", "x"]);
  });

  test("answers and known challenges are bounded, however many a service sends", async () => {
    const leased = leasedRequests();
    const one = leased.add("r");
    const responses = Array.from({ length: 60 }, (_, index) => response(`c${index}`));
    leased.applyPoll({ responses, lost: [] });
    assert.equal(leased.knownChallenges().length, 50);
    assert.equal(leased.knownChallenges().at(-1), "c59");
    assert.equal(await one.waitForAnswer("c0", never), "c0");
    await assert.rejects(one.waitForAnswer("c59", AbortSignal.abort(new Error("not kept"))), /not kept/);
  });

  test("a lease is renewed after five seconds, and at once while a user is asked", () => {
    let now = 0;
    const leased = leasedRequests(undefined, () => now);
    const one = leased.add("r");
    assert.deepEqual(leased.dueForRenewal(), []);
    one.setWaiting(true);
    assert.deepEqual([leased.dueForRenewal(), leased.counts.waiting], [["r"], 1]);
    one.setWaiting(false);
    now = 5_000;
    assert.deepEqual(leased.dueForRenewal(), ["r"]);
  });
});
