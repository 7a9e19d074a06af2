import assert from "node:assert/strict";
import { test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../../../testing/databases.ts";
import { signingFixture } from "../../../testing/fixtures/signing-fixture.ts";
import type { SoftAgent } from "../../../testing/fixtures/signing-harness.ts";
import { headerOf, payloadOf, SECOND } from "../../../testing/fixtures/signing-steps.ts";
import { readQueue } from "../agent-api/agent-queue.ts";
import { type ClaimedRequest, claimRequest } from "./claim-request.ts";
import { rejectRequest } from "./reject-request.ts";
import { requestStatus } from "./request-status.ts";
import { signRequest } from "./sign-request.ts";

const ANOTHER_ORG = "00000000-0000-4000-8000-000000000000";

forEachDatabase(({ fresh }) => {
  const { clock, harness, agent, other, steps } = signingFixture(fresh);

  /** What other tests left behind would be claimed first. */
  const emptyQueue = async () => {
    clock.advance(301 * SECOND);
    await agent.seen();
    await other.seen();
  };

  test("a rejected request goes to another agent, and its agent can claim the next", async () => {
    await emptyQueue();
    const oldest = await steps.create();
    clock.advance(1);
    const next = await steps.create();
    const { requestId, leaseToken } = await steps.claimed(oldest);
    const back = { requestId, leaseToken, reason: "key_unavailable", retryable: true } as const;
    assert.equal((await rejectRequest(harness.signing, agent.caller, back)).outcome, "pending");
    for (const [by, expected] of [
      [agent, next],
      [other, oldest],
    ] as const) {
      const claim = await claimRequest(harness.signing, by.caller, { kids: [by.kid] });
      assert.equal(claim.outcome === "claimed" && claim.requestId, expected);
    }
  });

  test("concurrent claims take the oldest requests first, each once", async () => {
    await emptyQueue();
    const ids: string[] = [];
    for (let count = 0; count < 12; count++) {
      ids.push(await steps.create());
      clock.advance(1);
    }
    const asking = Array.from({ length: 16 }, (_, index) => (index % 2 ? agent : other));
    const claims = await Promise.all(
      asking.map(({ caller, kid }) => claimRequest(harness.signing, caller, { kids: [kid] })),
    );
    const got = claims.flatMap((claim) => (claim.outcome === "claimed" ? [claim.requestId] : []));
    assert.deepEqual(got.toSorted(), ids.toSorted());
    const late = await steps.create();
    clock.advance(1);
    await steps.create();
    const next = await claimRequest(harness.signing, agent.caller, { kids: [agent.kid] });
    assert.ok(next.outcome === "claimed" && next.requestId === late);
  });

  test("every claim renders new tokens for the agent's key, with their context", async () => {
    const requestId = await steps.create();
    const first = await steps.claimed(requestId);
    assert.deepEqual(headerOf(first.tokens[0]), { alg: "ES256", typ: "at+jwt", kid: agent.kid });
    clock.advance(31 * SECOND);
    const second = await steps.claimed(requestId, other);
    assert.deepEqual([first.attempt, second.attempt], [1, 2]);
    assert.equal(headerOf(second.tokens[0])["kid"], other.kid);
    const [before, now] = [payloadOf(first.tokens[0]), payloadOf(second.tokens[0])];
    assert.equal(now["iat"], Number(before["iat"]) + 31);
    assert.equal(Number(now["exp"]) - Number(now["iat"]), 600);
    assert.notEqual(now["jti"], before["jti"]);
    assert.equal(now["sub"], harness.applicationId);
    assert.deepEqual(second.context, {
      issuer: "https://id.example/pool",
      clientId: harness.applicationId,
      clientName: "Batch",
      grantType: "client_credentials",
      scope: ["jobs:run", "jobs:read"],
      sub: harness.applicationId,
      ip: "192.0.2.1",
      ...{ securityProfile: "none", binding: null, resources: [], authorizationDetails: [] },
      ...{ actor: null, workload: null, clientSource: "registered", requestSigned: null },
      ...{ authTime: null, amr: [], parentRequestId: null },
    });
    assert.equal((await steps.sign(first)).outcome, "lease_lost");
    assert.equal((await steps.sign(second, other)).outcome, "signed");
  });

  test("limits the token lifetime to the pool's maximum", async () => {
    const pool = await harness.addPool({ maxTokenLifetimeSeconds: 300 });
    const own = await harness.addAgent({ pool });
    const requestId = await steps.create({ poolId: pool.id });
    const { exp, iat } = payloadOf((await steps.claimed(requestId, own)).tokens[0]);
    assert.equal(Number(exp) - Number(iat), 300);
  });

  test("requires an active key of the agent with an algorithm of the pool", async () => {
    const pool = await harness.addPool({ algs: ["EdDSA"] });
    const wrongAlg = await harness.addAgent({ pool });
    const own = await harness.addAgent({ pool, alg: "EdDSA" });
    const requestId = await steps.create({ poolId: pool.id });
    const claim = (by: SoftAgent, kids: string[]) =>
      claimRequest(harness.signing, by.caller, { requestId, kids });
    assert.equal((await claim(wrongAlg, [wrongAlg.kid])).outcome, "no_usable_key");
    assert.equal((await claim(wrongAlg, [own.kid])).outcome, "no_usable_key");
    assert.equal((await claim(own, [])).outcome, "no_usable_key");
    const held = await claimRequest(harness.signing, own.caller, { requestId, kids: [agent.kid, own.kid] });
    assert.ok(held.outcome === "claimed");
    await sql`update agent_key set retiring_at = ${clock()} where kid = ${own.kid}`.execute(
      harness.database.query,
    );
    assert.equal((await steps.sign(held, own)).outcome, "lease_lost", "retiring since the claim");
    await harness.tell();
    assert.equal((await claim(own, [own.kid])).outcome, "no_usable_key");
  });

  test("hides requests of other pools and organisations", async () => {
    const pool = await harness.addPool();
    const stranger = await harness.addAgent({ pool });
    const requestId = await steps.create();
    const claim = { requestId, kids: [stranger.kid] };
    assert.equal((await claimRequest(harness.signing, stranger.caller, claim)).outcome, "not_found");
    const held = await steps.claimed(requestId);
    const { leaseToken, tokens } = held;
    const jwts = agent.signed(tokens);
    const foreign = { ...agent.caller, orgId: ANOTHER_ORG };
    for (const caller of [stranger.caller, foreign, { ...agent.caller, poolId: pool.id }])
      assert.equal(
        (await signRequest(harness.signing, caller, { requestId, leaseToken, jwts })).outcome,
        "not_found",
      );
    const sameLease = { requestId, leaseToken, jwts };
    assert.equal((await signRequest(harness.signing, other.caller, sameLease)).outcome, "lease_lost");
    assert.equal(await requestStatus(harness.signing, { orgId: ANOTHER_ORG, requestId }), undefined);
    assert.equal((await steps.sign(held)).outcome, "signed");
  });

  const reject = (held: ClaimedRequest, retryable: boolean) =>
    rejectRequest(harness.signing, agent.caller, { ...held, reason: "policy_denied", retryable });

  test("a rejection fails the request, or excludes only this agent", async () => {
    const final = await steps.claimed(await steps.create());
    assert.equal((await reject(final, false)).outcome, "failed");
    assert.deepEqual(await steps.stateOf(final.requestId), ["failed", "policy_denied"]);
    assert.equal((await reject(final, false)).outcome, "already_final");
    await emptyQueue();
    const passed = await steps.claimed(await steps.create());
    assert.equal((await reject(passed, true)).outcome, "pending");
    const { requestId } = passed;
    const kids = [agent.kid];
    assert.equal((await claimRequest(harness.signing, agent.caller, { kids })).outcome, "nothing");
    assert.equal(
      (await claimRequest(harness.signing, agent.caller, { requestId, kids })).outcome,
      "not_claimable",
    );
    assert.deepEqual((await readQueue(harness.signing, agent.caller, 50)).pending, []);
    assert.equal((await readQueue(harness.signing, other.caller, 50)).pending[0]?.requestId, requestId);
    assert.equal((await reject(passed, true)).outcome, "lease_lost");
    assert.equal((await steps.sign(await steps.claimed(requestId, other), other)).outcome, "signed");
  });
});
