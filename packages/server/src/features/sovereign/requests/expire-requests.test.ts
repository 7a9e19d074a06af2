import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import { SECOND, withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import { renewLeases } from "../agent-api/agent-queue.ts";
import { challengeUser } from "./challenge/challenge-user.ts";
import { type ClaimedRequest, claimRequest } from "./claim-request.ts";
import { keepTokens } from "./release-request.ts";

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  const challenge = (held: ClaimedRequest, challengeId = "c1", ttl = 120) =>
    challengeUser(harness.signing, agent.caller, held, {
      challengeId,
      type: "confirm",
      prompt: "Sure?",
      ttl,
    });

  test("an expired lease returns the request to the queue at most three times", async () => {
    const requestId = await steps.create(withBrowser);
    for (const attempt of [1, 2, 3]) {
      const held = await steps.claimed(requestId);
      assert.equal(held.attempt, attempt);
      clock.advance(30 * SECOND);
      assert.equal((await steps.sign(held)).outcome, attempt < 3 ? "lease_lost" : "already_final");
    }
    assert.deepEqual(await steps.stateOf(requestId), ["failed", "max_attempts"]);
  });

  test("renews a lease, and reports a lost one", async () => {
    const requestId = await steps.create(withBrowser);
    const held = await steps.claimed(requestId);
    clock.advance(29 * SECOND);
    const first = await renewLeases(harness.signing, agent.caller, [requestId, "unknown"]);
    assert.deepEqual(first, { renewed: [{ requestId, leaseSeconds: 30 }], lost: ["unknown"] });
    assert.deepEqual(await renewLeases(harness.signing, other.caller, [requestId]), {
      renewed: [],
      lost: [requestId],
    });
    clock.advance(29 * SECOND);
    await challenge(held);
    const { renewed } = await renewLeases(harness.signing, agent.caller, [requestId]);
    assert.deepEqual(renewed, [{ requestId, leaseSeconds: 45 }]);
    clock.advance(45 * SECOND);
    const late = await renewLeases(harness.signing, agent.caller, [requestId]);
    assert.deepEqual(late, { renewed: [], lost: [requestId] });
  });

  test("a request expires in every state, and clears its secrets", async () => {
    const ids = [await steps.create(), await steps.create(), await steps.create()];
    await steps.claimed(ids[1] ?? "");
    await steps.sign(await steps.claimed(ids[2] ?? ""));
    clock.advance(60 * SECOND);
    assert.deepEqual(await steps.stateOf(ids[0] ?? ""), ["expired", null]);
    assert.deepEqual(await steps.stateOf(ids[2] ?? ""), ["signed", null], "kept for two minutes");
    clock.advance(60 * SECOND);
    assert.equal(await steps.release(ids[2] ?? ""), undefined);
    for (const id of ids.slice(1)) {
      assert.deepEqual((await steps.stateOf(id))?.[0], "expired");
      const row = await steps.rowOf(id);
      for (const column of ["claims", "rendering", "signed", "answer", "challenge"])
        assert.equal(row[column], null, column);
    }
  });

  test("reports request_expired to the agent", async () => {
    const requestId = await steps.create();
    const held = await steps.claimed(requestId);
    clock.advance(60 * SECOND);
    assert.equal((await steps.sign(held)).outcome, "request_expired");
    const claim = await claimRequest(harness.signing, agent.caller, { requestId, kids: [agent.kid] });
    assert.equal(claim.outcome, "not_claimable");
  });

  test("keeps signed tokens until their code expires", async () => {
    const requestId = await steps.create(withBrowser);
    await steps.sign(await steps.claimed(requestId));
    const until = clock() + 600 * SECOND;
    const kept = { orgId: harness.orgId, requestId, until };
    assert.equal(await keepTokens(harness.signing, harness.database.query, kept), true);
    clock.advance(599 * SECOND);
    assert.ok(await steps.release(requestId));
    assert.equal(await keepTokens(harness.signing, harness.database.query, kept), false);
  });
});
