/** A signing request under many hands at once, on several nodes. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import fc from "fast-check";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  openSigningHarness,
  type SigningHarness,
  type SoftAgent,
} from "../../../../testing/fixtures/signing-harness.ts";
import { isOver, type ModelRequest } from "../../../../testing/fixtures/signing-model.ts";
import { releaseNow, SECOND, signingSteps } from "../../../../testing/fixtures/signing-steps.ts";
import { answerChallenge, cancelRequest, challengeUser } from "../challenge/challenge-user.ts";
import { claimRequest, claimRequests } from "../claim-request.ts";
import { rejectRequest } from "../reject-request.ts";
import { signRequest, signRequests } from "../sign-request.ts";
import type { RenderedToken } from "../signing-request.ts";

/** Each run makes up its own steps, so that many test runs try much. SIGNET_TEST_WHOLE=1 goes on for longer. */
const RUNS =
  process.env["SIGNET_TEST_WHOLE"] === "1" ? { sqlite: 40, postgres: 40 } : { sqlite: 20, postgres: 10 };

forEachDatabase(({ name, fresh }) => {
  const runs = RUNS[name];
  let clock: FakeClock;
  let harness: SigningHarness;
  before(async () => {
    clock = fakeClock();
    harness = await openSigningHarness({ databaseUrl: await fresh(), clock });
  });
  after(() => harness.close());

  test("concurrent steps on three nodes release at most once and never leave a final state", async () => {
    const nodes = [harness.signing, await harness.addNode(), await harness.addNode()];
    const hand = fc.record({
      what: fc.constantFrom(
        "claim",
        "claims",
        "sign",
        "signs",
        "bad",
        "challenge",
        "respond",
        "cancel",
        "reject",
        "release",
      ),
      node: fc.nat(2),
      agent: fc.nat(1),
      index: fc.nat(1),
      retryable: fc.boolean(),
    });
    const rounds = fc.array(
      fc.record({ hands: fc.array(hand, { minLength: 8, maxLength: 16 }), pause: fc.constantFrom(0, 1, 31) }),
      { minLength: 4, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(rounds, async (all) => {
        const pool = await harness.addPool();
        const agents = [await harness.addAgent({ pool }), await harness.addAgent({ pool })];
        const poolId = pool.id;
        for (const agent of agents) await agent.seen();
        const { create: make, rowOf } = signingSteps(harness, agents[0] as SoftAgent);
        const ids = [await make({ poolId, interactive: true }), await make({ poolId, interactive: true })];
        const leases = new Map<
          string,
          { agent: SoftAgent; leaseToken: string; tokens: readonly RenderedToken[] }
        >();
        const releases = new Map<string, number>();
        const ended = new Map<string, unknown>();
        for (const { hands, pause } of all) {
          await Promise.all(
            hands.map(async ({ what, node, agent: at, index: of, retryable }) => {
              const requests = nodes[node] ?? harness.signing;
              const requestId = ids[of] ?? "";
              const agent = agents[at] as SoftAgent;
              const held = leases.get(requestId);
              const { orgId } = harness;
              if (what === "claim") {
                const claim = await claimRequest(requests, agent.caller, { requestId, kids: [agent.kid] });
                if (claim.outcome === "claimed") leases.set(requestId, { agent, ...claim });
              } else if (what === "claims") {
                const claims = await claimRequests(requests, agent.caller, { kids: [agent.kid], max: 2 });
                assert.ok(claims.outcome === "claimed");
                for (const claim of claims.requests) leases.set(claim.requestId, { agent, ...claim });
              } else if (what === "signs") {
                const own = [...leases].filter(([, lease]) => lease.agent === agent);
                const submissions = own.map(([id, { leaseToken, tokens }]) => ({
                  requestId: id,
                  leaseToken,
                  jwts: agent.signed(tokens),
                }));
                await signRequests(requests, agent.caller, submissions);
              } else if (what === "respond")
                await answerChallenge(requests, { orgId, requestId }, { challengeId: "c", answer: 1 });
              else if (what === "cancel" && retryable) await cancelRequest(requests, { orgId, requestId });
              else if (what === "release") {
                const tokens = await releaseNow(requests, harness.database.query, { orgId, requestId });
                if (tokens) releases.set(requestId, (releases.get(requestId) ?? 0) + 1);
              } else if (held) {
                const lease = { requestId, leaseToken: held.leaseToken };
                const { caller } = held.agent;
                if (what === "sign")
                  await signRequest(requests, caller, { ...lease, jwts: held.agent.signed(held.tokens) });
                if (what === "bad") await signRequest(requests, caller, { ...lease, jwts: {} });
                if (what === "challenge")
                  await challengeUser(requests, caller, lease, {
                    challengeId: "c",
                    type: "pin",
                    prompt: "?",
                    ttl: 60,
                  });
                if (what === "reject")
                  await rejectRequest(requests, caller, { ...lease, reason: "key_unavailable", retryable });
              }
            }),
          );
          for (const id of ids) {
            const row = await rowOf(id);
            if (ended.has(id)) assert.deepEqual(row, ended.get(id), "it left a final state");
            if (row["ended_at"] !== null) ended.set(id, row);
            assert.equal(releases.get(id) ?? 0, row["state"] === "released" ? 1 : 0);
            assert.equal(row["ended_at"] !== null, isOver({ state: row["state"] } as ModelRequest));
          }
          clock.advance(pause * SECOND);
        }
      }),
      { numRuns: runs, endOnFailure: true },
    );
  });
});
