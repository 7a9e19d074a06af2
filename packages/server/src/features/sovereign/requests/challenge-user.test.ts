import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import { SECOND, withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import { readQueue, renewLeases } from "../agent-api/agent-queue.ts";
import { answerChallenge, cancelRequest, challengeUser } from "./challenge-user.ts";
import type { ClaimedRequest } from "./claim-request.ts";
import { requestStatus } from "./request-status.ts";

const ANOTHER_ORG = "00000000-0000-4000-8000-000000000000";

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  const challenge = (held: ClaimedRequest, challengeId = "c1", ttl = 120) =>
    challengeUser(harness.signing, agent.caller, held, {
      challengeId,
      type: "confirm",
      prompt: "Sure?",
      ttl,
    });

  const answer = (requestId: string, challengeId = "c1") =>
    answerChallenge(harness.signing, { orgId: harness.orgId, requestId }, { challengeId, answer: "42" });

  test("a challenge is opened, answered, delivered to the agent and signed", async () => {
    const requestId = await steps.create(withBrowser);
    const held = await steps.claimed(requestId);
    assert.deepEqual(await challenge(held), { outcome: "challenge", leaseSeconds: 45 });
    const before = await steps.rowOf(requestId);
    assert.equal((await challenge(held)).outcome, "challenge", "the same once more");
    assert.deepEqual(await steps.rowOf(requestId), before);
    assert.equal((await challenge(held, "c2")).outcome, "challenge_limit", "one at a time");
    const status = await requestStatus(harness.signing, { orgId: harness.orgId, requestId });
    assert.equal(status?.challenge?.prompt, "Sure?");
    assert.equal(await answer(requestId, "other"), "stale_challenge");
    assert.equal(await answer(requestId), "accepted");
    assert.equal(await answer(requestId), "already_answered");
    assert.equal((await challenge(held)).outcome, "challenge", "once more, answered meanwhile");
    assert.equal((await steps.stateOf(requestId))?.[0], "responded");
    const { responses } = await readQueue(harness.signing, agent.caller, 0);
    assert.deepEqual(responses, [{ requestId, challengeId: "c1", outcome: "answered", answer: "42" }]);
    const heard = await readQueue(harness.signing, agent.caller, 0, ["c1"]);
    assert.deepEqual(heard.responses, [], "no news to who heard it, so that the next poll waits");
    assert.deepEqual((await readQueue(harness.signing, other.caller, 0)).responses, []);
    assert.equal((await steps.sign(held)).outcome, "signed");
    assert.equal(await answer(requestId), "stale_challenge");
    assert.equal((await steps.rowOf(requestId))["answer"], null);
  });

  test("limits challenges to three, to requests with a browser, and to two minutes", async () => {
    assert.equal((await challenge(await steps.claimed(await steps.create()))).outcome, "not_interactive");
    const requestId = await steps.create(withBrowser);
    const held = await steps.claimed(requestId);
    for (const id of ["c1", "c2", "c3"]) {
      assert.equal((await challenge(held, id)).outcome, "challenge");
      assert.equal(await answer(requestId, id), "accepted");
    }
    assert.equal((await challenge(held, "c4")).outcome, "challenge_limit");
    const long = await steps.create(withBrowser);
    await challenge(await steps.claimed(long), "c1", 10_000);
    for (let count = 0; count < 3; count++) {
      clock.advance(40 * SECOND);
      await renewLeases(harness.signing, agent.caller, [long]);
    }
    assert.deepEqual(await steps.stateOf(long), ["failed", "challenge_timeout"]);
    assert.equal(await answer(long), "stale_challenge");
  });

  test("an expired lease withdraws its challenge", async () => {
    const requestId = await steps.create(withBrowser);
    await challenge(await steps.claimed(requestId));
    clock.advance(45 * SECOND);
    assert.equal(await answer(requestId), "stale_challenge");
    assert.deepEqual(await steps.stateOf(requestId), ["pending", null]);
    const status = await requestStatus(harness.signing, { orgId: harness.orgId, requestId });
    assert.deepEqual([status?.challenge, status?.challengeCount], [undefined, 1]);
    const answered = await steps.create(withBrowser);
    await challenge(await steps.claimed(answered));
    assert.equal(await answer(answered), "accepted");
    clock.advance(45 * SECOND);
    assert.equal(await answer(answered), "stale_challenge", "answered, but withdrawn with the lease");
  });

  test("the user's refusal fails a request in every open state", async () => {
    const waiting = await steps.create(withBrowser);
    assert.equal(await cancelRequest(harness.signing, { orgId: harness.orgId, requestId: waiting }), true);
    assert.deepEqual(await steps.stateOf(waiting), ["failed", "user_denied"]);
    assert.equal(await cancelRequest(harness.signing, { orgId: harness.orgId, requestId: waiting }), false);
    const asked = await steps.create(withBrowser);
    const held = await steps.claimed(asked);
    await challenge(held);
    assert.equal(
      await cancelRequest(
        harness.signing,
        { orgId: harness.orgId, requestId: asked },
        { challengeId: "another" },
      ),
      false,
    );
    assert.equal(
      await cancelRequest(harness.signing, { orgId: ANOTHER_ORG, requestId: asked }, { challengeId: "c1" }),
      false,
    );
    assert.equal(
      await cancelRequest(harness.signing, { orgId: harness.orgId, requestId: asked }, { challengeId: "c1" }),
      true,
    );
    assert.equal((await steps.sign(held)).outcome, "already_final");
    assert.deepEqual((await renewLeases(harness.signing, agent.caller, [asked])).lost, [asked]);
    const signed = await steps.create(withBrowser);
    await steps.sign(await steps.claimed(signed));
    assert.equal(await cancelRequest(harness.signing, { orgId: harness.orgId, requestId: signed }), false);
  });
});
