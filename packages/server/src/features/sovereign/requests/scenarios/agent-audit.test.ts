import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import type { FastifyRequest } from "fastify";
import { sql } from "kysely";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import type { Organisation } from "../../../../core/organisations/organisation.ts";
import { defaultRateLimits } from "../../../../core/rate-limits/rate-limits.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  openSigningHarness,
  type SigningHarness,
  type SoftAgent,
} from "../../../../testing/fixtures/signing-harness.ts";
import { type SigningSteps, signingSteps } from "../../../../testing/fixtures/signing-steps.ts";
import { authenticateAgent } from "../../agent-api/agent-authentication.ts";
import { cancelRequest } from "../challenge/challenge-user.ts";
import { claimRequest } from "../claim-request.ts";
import { rejectRequest } from "../reject-request.ts";
import { signRequest } from "../sign-request.ts";

forEachDatabase(({ fresh }) => {
  let clock: FakeClock;
  let harness: SigningHarness;
  let agent: SoftAgent;
  let steps: SigningSteps;
  before(async () => {
    clock = fakeClock();
    harness = await openSigningHarness({ databaseUrl: await fresh(), clock });
    agent = await harness.addAgent();
    steps = signingSteps(harness, agent);
  });
  after(() => harness.close());

  test("a deactivated agent or disabled pool claims nothing, even before this node knows", async () => {
    const requestId = await steps.create();
    const kids = [agent.kid];
    const { query } = harness.database;
    const { agentId, poolId } = agent.caller;
    // Written behind the node's back, as another one may have done a moment ago.
    const endings = [
      (at: number | null) => sql`update signing_agent set deactivated_at = ${at} where id = ${agentId}`,
      (at: number | null) => sql`update signing_pool set disabled_at = ${at} where id = ${poolId}`,
    ];
    for (const end of endings) {
      await end(clock()).execute(query);
      assert.equal((await claimRequest(harness.signing, agent.caller, { kids })).outcome, "nothing");
      const named = await claimRequest(harness.signing, agent.caller, { requestId, kids });
      assert.equal(named.outcome, "not_claimable");
      await end(null).execute(query);
    }
    assert.equal((await steps.sign(await steps.claimed(requestId))).outcome, "signed");
  });

  test("records the client address of signatures, rejections and refusals in the audit log", async () => {
    const { agentId, orgId } = agent.caller;
    const { query } = harness.database;
    await sql`update signing_agent set api_key_hash = ${sha256Base64url("sgn_ak_x")} where id = ${agentId}`.execute(
      query,
    );
    const deps = { database: harness.database, clock, rateLimits: defaultRateLimits };
    const raw = { socket: { remoteAddress: "192.0.2.7" } };
    const call = { headers: { authorization: "Bearer sgn_ak_x" }, raw } as FastifyRequest;
    const caller = await authenticateAgent(deps, { id: orgId } as Organisation, call);
    const held = async () => {
      const claimed = await steps.claimed(await steps.create());
      return { ...claimed, jwts: agent.signed(claimed.tokens) };
    };
    assert.equal((await signRequest(harness.signing, caller, await held())).outcome, "signed");
    const refused = { ...(await held()), reason: "policy_denied", retryable: false } as const;
    assert.equal((await rejectRequest(harness.signing, caller, refused)).outcome, "failed");
    const bad = { ...(await held()), jwts: { access_token: "x" } };
    for (let count = 0; count < 3; count++) await signRequest(harness.signing, caller, bad);
    assert.ok(
      await cancelRequest(
        harness.signing,
        { orgId, requestId: await steps.create() },
        { address: "192.0.2.8" },
      ),
    );
    const told = (await listAuditEvents(query, orgId, 4)).map(({ action, address }) => [action, address]);
    assert.deepEqual(told, [
      ["signing-request.denied", "192.0.2.8"],
      ["signing-request.failed", "192.0.2.7"],
      ["signing-request.rejected", "192.0.2.7"],
      ["signing-request.signed", "192.0.2.7"],
    ]);
  });
});
