/** Several requests in one claim and several signatures in one call: each is judged by itself, and none is had twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import type { SoftAgent } from "../../../testing/fixtures/signing-harness.ts";
import { payloadOf, SECOND, withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import { renewLeases } from "../agent-api/agent-queue.ts";
import { type ClaimedRequest, claimRequest, claimRequests, undoClaims } from "./claim-request.ts";
import { rejectRequest } from "./reject-request.ts";
import { signRequests } from "./sign-request.ts";

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  /** Without what other tests left behind. */
  const createMany = async (count: number, more = {}) => {
    clock.advance(301 * SECOND);
    for (const one of [agent, other]) await one.seen();
    const ids: string[] = [];
    for (let index = 0; index < count; index++) {
      ids.push(await steps.create(more));
      clock.advance(1);
    }
    return ids;
  };
  const claim = async (max: number, by = agent) => {
    const claims = await claimRequests(harness.signing, by.caller, { kids: [by.kid], max });
    return claims.outcome === "claimed" ? claims.requests : assert.fail(claims.outcome);
  };
  const submission = ({ requestId, leaseToken, tokens }: ClaimedRequest, by: SoftAgent = agent) => ({
    requestId,
    leaseToken,
    jwts: by.signed(tokens),
  });
  const sign = async (held: readonly ClaimedRequest[], by = agent) => {
    const submissions = held.map((one) => submission(one, by));
    const outcomes = await signRequests(harness.signing, by.caller, submissions);
    return outcomes.map(({ outcome }) => outcome);
  };
  const signedEvents = async (requestId: string) => {
    const { query } = harness.database;
    const events = query.selectFrom("audit_event").select("details").where("target", "=", requestId);
    return events.where("action", "=", "signing-request.signed").execute();
  };

  test("a claim takes the oldest, no more than asked for, each with its own lease and token id", async () => {
    const ids = await createMany(5);
    const held = await claim(3);
    assert.deepEqual(
      held.map(({ requestId }) => requestId),
      ids.slice(0, 3),
    );
    assert.equal(new Set(held.map(({ leaseToken }) => leaseToken)).size, 3);
    assert.equal(new Set(held.map(({ tokens }) => payloadOf(tokens[0])["jti"])).size, 3);
    assert.deepEqual(
      (await claim(9)).map(({ requestId }) => requestId),
      ids.slice(3),
    );
    assert.deepEqual(await claim(9), []);
    // A lease is good for its own request only.
    const [one, two] = held;
    assert.ok(one && two);
    const swapped = { ...submission(one), leaseToken: two.leaseToken };
    const [{ outcome } = assert.fail()] = await signRequests(harness.signing, agent.caller, [swapped]);
    assert.equal(outcome, "lease_lost");
  });

  test("concurrent claims of several agents and nodes never take the same request", async () => {
    const ids = await createMany(24);
    const node = await harness.addNode();
    const claims = await Promise.all(
      Array.from({ length: 12 }, (_, index) => {
        const by = index % 2 ? agent : other;
        const wanted = { kids: [by.kid], max: 1 + (index % 5) };
        return claimRequests(index % 3 ? harness.signing : node, by.caller, wanted);
      }),
    );
    const got = claims.flatMap((one) => (one.outcome === "claimed" ? one.requests : []));
    assert.deepEqual(got.map(({ requestId }) => requestId).toSorted(), ids.toSorted());
  });

  test("skips what the agent has rejected, and what a deactivated agent claims", async () => {
    const [first, second] = await createMany(2);
    const [held] = await claim(1);
    const back = { reason: "key_unavailable", retryable: true } as const;
    await rejectRequest(harness.signing, agent.caller, { ...(held ?? assert.fail()), ...back });
    assert.deepEqual(
      (await claim(5)).map(({ requestId }) => requestId),
      [second],
    );
    assert.deepEqual(
      (await claim(5, other)).map(({ requestId }) => requestId),
      [first],
    );
    assert.deepEqual(await claimRequests(harness.signing, agent.caller, { kids: [other.kid], max: 5 }), {
      outcome: "no_usable_key",
    });
  });

  test("half of the leases have expired: the others are signed, and those go to the next agent", async () => {
    const ids = await createMany(4, withBrowser);
    const held = await claim(4);
    clock.advance(20 * SECOND);
    await renewLeases(harness.signing, agent.caller, ids.slice(0, 2));
    clock.advance(15 * SECOND);
    assert.deepEqual(await sign(held), ["signed", "signed", "lease_lost", "lease_lost"]);
    const again = await claim(4, other);
    assert.deepEqual(
      again.map(({ requestId, attempt }) => [requestId, attempt]),
      ids.slice(2).map((id) => [id, 2]),
    );
    assert.deepEqual(await sign(again, other), ["signed", "signed"]);
    for (const id of ids) assert.equal((await signedEvents(id)).length, 1);
  });

  test("every signature of a call gets its own outcome, also a repeated one and one that comes twice", async () => {
    const ids = await createMany(6, withBrowser);
    const held = await claim(6);
    const [good, bad, stale, rejected, repeated, twice] = held;
    assert.ok(good && bad && stale && rejected && repeated && twice);
    assert.deepEqual(await sign([repeated]), ["signed"]);
    for (const seconds of [25, 25, 25, 25, 25]) {
      clock.advance(seconds * SECOND);
      await renewLeases(harness.signing, agent.caller, ids);
    }
    await rejectRequest(harness.signing, agent.caller, {
      ...rejected,
      reason: "policy_denied",
      retryable: false,
    });
    const renewed = await signRequests(
      harness.signing,
      agent.caller,
      [good, twice].map((one) => submission(one)),
    );
    const fresh = (index: number, one: ClaimedRequest) => {
      const outcome = renewed[index];
      assert.ok(outcome?.outcome === "stale_payload");
      return submission({ ...one, tokens: outcome.tokens });
    };
    const unknown = { requestId: "unknown", leaseToken: "x", jwts: {} };
    const outcomes = await signRequests(harness.signing, agent.caller, [
      fresh(0, good),
      { ...submission(bad), jwts: { access_token: "x" } },
      submission(stale),
      submission(rejected),
      submission(repeated),
      fresh(1, twice),
      fresh(1, twice),
      unknown,
    ]);
    assert.deepEqual(
      outcomes.map(({ outcome }) => outcome),
      [
        "signed",
        "invalid_signed_jwt",
        "stale_payload",
        "already_final",
        "signed",
        "signed",
        "signed",
        "not_found",
      ],
    );
    for (const { requestId } of [good, repeated, twice])
      assert.equal((await signedEvents(requestId)).length, 1);
  });

  test("the same call at two nodes at once signs each request once", async () => {
    const ids = await createMany(5);
    const held = await claim(5);
    const node = await harness.addNode();
    const calls = await Promise.all(
      [harness.signing, node, harness.signing].map((at) =>
        signRequests(
          at,
          agent.caller,
          held.map((one) => submission(one)),
        ),
      ),
    );
    assert.deepEqual([...new Set(calls.flat().map(({ outcome }) => outcome))], ["signed"]);
    for (const id of ids) {
      assert.equal((await signedEvents(id)).length, 1);
      assert.ok(await steps.release(id));
      assert.equal(await steps.release(id), undefined);
    }
  });

  test("calls with the same requests in another order do not wait for each other's rows for ever", async () => {
    const node = await harness.addNode();
    for (let round = 0; round < 4; round++) {
      await createMany(16);
      const held = (await claim(16)).map((one) => submission(one));
      const calls = await Promise.all([
        signRequests(harness.signing, agent.caller, held),
        signRequests(node, agent.caller, held.toReversed()),
      ]);
      assert.deepEqual([...new Set(calls.flat().map(({ outcome }) => outcome))], ["signed"]);
    }
  });

  test("a claimed request whose claims cannot be read keeps no other's signature from being stored", async () => {
    await createMany(2);
    const [broken, good] = await claim(2);
    if (!broken || !good) return assert.fail("claims two");
    const { query } = harness.database;
    const row = query.updateTable("signing_request").set({ claims: "not sealed" });
    await row.where("id", "=", broken.requestId).execute();
    assert.deepEqual(await sign([broken, good]), ["lease_lost", "signed"]);
    await assert.rejects(sign([broken]));
  });

  test("what an agent claimed and never heard of is pending again, its attempts uncounted", async () => {
    const ids = await createMany(3);
    await undoClaims(harness.signing, agent.caller, await claim(3));
    assert.deepEqual(
      (await claim(3, other)).map(({ requestId, attempt }) => [requestId, attempt]),
      ids.map((id) => [id, 1]),
    );
  });

  test("a request whose claims cannot be read keeps no other from its agent", async () => {
    const [first, second] = await createMany(2);
    const { query } = harness.database;
    await query
      .updateTable("signing_request")
      .set({ claims: "not sealed" })
      .where("id", "=", first ?? "")
      .execute();
    assert.deepEqual(
      (await claim(2)).map(({ requestId }) => requestId),
      [second],
    );
    clock.advance(31 * SECOND);
    await assert.rejects(claimRequest(harness.signing, agent.caller, { kids: [agent.kid] }));
  });
});
