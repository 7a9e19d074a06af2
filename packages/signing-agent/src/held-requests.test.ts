import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { heldRequests, Interrupted } from "./held-requests.ts";

const never = new AbortController().signal;
const response = (challengeId: string, requestId = "r") => ({
  requestId,
  challengeId,
  outcome: "answered",
  answer: challengeId,
});

describe("what an agent holds", () => {
  test("a request that comes again while it is held ends the first, whose end lets go of nothing else", async () => {
    let now = 0;
    const held = heldRequests(() => now);
    const first = held.hold("r");
    const second = held.hold("r");
    assert.ok(first.signal.reason instanceof Interrupted && first.signal.reason.by === "lost");
    held.letGo(first);
    now = 60_000;
    assert.deepEqual([held.toRenew(), held.counts.working], [["r"], 1]);
    assert.equal(second.signal.aborted, false);
    held.letGo(second);
    await held.empty(never);
    assert.deepEqual(held.toRenew(), []);
  });

  test("an answer is there for who asks later, and is known from then on", async () => {
    const held = heldRequests();
    const one = held.hold("r");
    held.deliver({ responses: [response("c"), response("x", "another agent's")], lost: [] });
    assert.equal(await one.response("c", never), "c");
    assert.deepEqual(held.known(), ["c", "x"]);
  });

  test("keeps no more than it can ask for, however much a service sends", async () => {
    const held = heldRequests();
    const one = held.hold("r");
    const responses = Array.from({ length: 60 }, (_, index) => response(`c${index}`));
    held.deliver({ responses, lost: [] });
    assert.equal(held.known().length, 50);
    assert.equal(held.known().at(-1), "c59");
    assert.equal(await one.response("c0", never), "c0");
    await assert.rejects(one.response("c59", AbortSignal.abort(new Error("not kept"))), /not kept/);
  });

  test("a lease is renewed once the request takes its time, and while it waits for a user at once", () => {
    let now = 0;
    const held = heldRequests(() => now);
    const one = held.hold("r");
    assert.deepEqual(held.toRenew(), []);
    one.setWaiting(true);
    assert.deepEqual([held.toRenew(), held.counts.waiting], [["r"], 1]);
    one.setWaiting(false);
    now = 5_000;
    assert.deepEqual(held.toRenew(), ["r"]);
  });
});
