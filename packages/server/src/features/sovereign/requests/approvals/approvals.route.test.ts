/** Approvals of whole keys at the service: whose turn it is, what is refused by which name, and who is replaced. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { type ApprovalClaims, approvalHash } from "@signet/protocol/approvals/approval";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import {
  approvalBy,
  type Claimed,
  makeAgent,
  makePool,
  type TestAgent,
} from "../../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { type LedgerHarness, ledgerHarness } from "../../../../testing/fixtures/ledger-harness.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let ledger: LedgerHarness;
  let clock: FakeClock;
  let client: TestClient;
  let agents: TestAgent[];
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
  });
  after(() => running.close());
  beforeEach(async () => {
    org = await makeOrganisation(running.service);
    ledger = ledgerHarness(running, org);
    await ledger.set({ ledger: "public" });
    const pool = await makePool(running.service, org, { approvals: 3, tokenWaitSeconds: 20 });
    client = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"], signingPoolId: pool.id },
    });
    agents = await Promise.all(
      ["a", "b", "c", "d"].map((name) => makeAgent(running.service, org, pool, { name })),
    );
    for (const agent of agents) await agent.call("queue");
  });

  const askToken = () =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(client) });
  const approvalOf = (agent: TestAgent, claimed: Claimed, changes: Partial<ApprovalClaims> = {}) =>
    approvalBy(agent, claimed, { iat: Math.floor(clock() / 1000), ...changes });
  const approve = (agent: TestAgent, { requestId, leaseToken }: Claimed, approval: string) =>
    agent.call("approve", { requestId, leaseToken, approval });
  const isOwn = (agent: TestAgent, { tokens }: Claimed) => agent.keys[0]?.kid === tokens[0]?.kid;
  /** Whoever's turn it is. */
  const nextTurn = async (without: readonly TestAgent[] = []) => {
    for (let round = 0; round < 100; round++)
      for (const agent of agents) {
        const claimed = without.includes(agent) ? undefined : await agent.claim();
        if (claimed) return { agent, claimed };
      }
    return assert.fail("it is nobody's turn");
  };
  /** Until the one that signs has it. */
  const approveAll = async (without: readonly TestAgent[] = []) => {
    const approvals: string[] = [];
    for (;;) {
      const { agent, claimed } = await nextTurn(without);
      if (isOwn(agent, claimed)) return { agent, claimed, approvals };
      const approval = approvalOf(agent, claimed);
      assert.equal((await approve(agent, claimed, approval)).status, 200);
      approvals.push(approval);
    }
  };
  const signWith = (agent: TestAgent, claimed: Claimed, approval?: string) =>
    agent.call("sign", {
      ...{ requestId: claimed.requestId, leaseToken: claimed.leaseToken },
      ...{ jwts: agent.signatures(claimed), ...(approval === undefined ? {} : { approval }) },
    });

  test("two approve, the third sees theirs and signs; leaf and audit log name all three", async () => {
    const token = askToken();
    const { agent, claimed, approvals } = await approveAll();
    assert.equal(approvals.length, 2);
    assert.deepEqual((claimed as unknown as { approvals: { given: unknown } }).approvals.given, approvals);
    const own = approvalOf(agent, claimed);
    assert.equal((await signWith(agent, claimed, own)).status, 200);
    const { status, body } = await token;
    assert.equal(status, 200);
    await ledger.grow();
    const { entry } = await ledger.prove(String(body["access_token"]));
    assert.deepEqual(entry.approvals, [...approvals, own].map(approvalHash));
    const events = await running.service.database.query
      .selectFrom("audit_event")
      .select("action")
      .where("org_id", "=", org.organisation.id)
      .where("target", "=", claimed.requestId)
      .orderBy("seq")
      .execute();
    assert.deepEqual(
      events.map(({ action }) => action),
      ["signing-request.approved", "signing-request.approved", "signing-request.signed"],
    );
  });

  test("an approval that is none of this agent, of other bytes or another request is refused; the third fails it", async () => {
    const token = askToken();
    const { agent, claimed } = await nextTurn();
    const other = agents.find((one) => one !== agent);
    assert.ok(other);
    const refused = async (approval: string, reason: string) => {
      const { status, body } = await approve(agent, claimed, approval);
      assert.deepEqual([status, body["error"], body["reason"]], [422, "invalid_approval", reason]);
    };
    await refused("a.b.c", "malformed");
    await refused(approvalOf(other, claimed), "bad_signature");
    await refused(approvalOf(agent, claimed, { request: "another" }), "bytes_mismatch");
    assert.equal((await token).status, 503);
    assert.equal((await approve(agent, claimed, approvalOf(agent, claimed))).status, 409);
  });

  test("a signature without its own approval is refused, and nobody approves twice or signs out of turn", async () => {
    const token = askToken();
    const first = await nextTurn();
    // It has the lease, and no key that the tokens name.
    const { requestId, leaseToken } = first.claimed;
    const taken = await first.agent.call("sign", { requestId, leaseToken, jwts: { access_token: "a.b.c" } });
    assert.equal(taken.body["error"], "lease_lost");
    const approval = approvalOf(first.agent, first.claimed);
    assert.equal((await approve(first.agent, first.claimed, approval)).status, 200);
    assert.equal((await approve(first.agent, first.claimed, approval)).body["error"], "lease_lost");
    assert.equal(await first.agent.claim(), undefined);
    const { agent, claimed } = await approveAll();
    for (const wrong of [undefined, approval]) {
      const { status, body } = await signWith(agent, claimed, wrong);
      assert.deepEqual([status, body["error"]], [422, "invalid_approval"]);
    }
    assert.equal((await approve(agent, claimed, approvalOf(agent, claimed))).body["error"], "lease_lost");
    assert.equal((await signWith(agent, claimed, approvalOf(agent, claimed))).status, 200);
    assert.equal((await token).status, 200);
  });

  test("who took it and is away is replaced, and so is who does not come to sign: with new bytes and new approvals", async () => {
    const token = askToken();
    const away = await nextTurn();
    clock.advance(5_001);
    const others = await approveAll([away.agent]);
    assert.notEqual(others.claimed.tokens[0]?.payload, away.claimed.tokens[0]?.payload);
    clock.advance(5_001);
    const without = [away.agent, others.agent];
    const [left, last] = agents.filter((one) => !without.includes(one));
    assert.ok(left && last);
    const { agent, claimed, approvals } = await approveAll([others.agent]);
    assert.equal(approvals.length, 2);
    assert.equal((await signWith(agent, claimed, approvalOf(agent, claimed))).status, 200);
    assert.equal((await token).status, 200);
    const late = await signWith(others.agent, others.claimed, approvalOf(others.agent, others.claimed));
    assert.equal(late.body["error"], "already_final");
  });

  test("one that refuses ends it: nothing is signed", async () => {
    const token = askToken();
    const first = await nextTurn();
    assert.equal(
      (await approve(first.agent, first.claimed, approvalOf(first.agent, first.claimed))).status,
      200,
    );
    const second = await nextTurn();
    assert.equal((await second.agent.reject(second.claimed, "policy_denied")).status, 200);
    assert.equal((await token).body["error"], "access_denied");
    for (const agent of agents) assert.equal(await agent.claim(), undefined);
  });

  test("a pool has 1 to 9, and a group key none", async () => {
    const create = (more: object) => makePool(running.service, org, { ...more });
    for (const approvals of [0, 10, 1.5])
      await assert.rejects(create({ approvals }), { code: "invalid_request" });
    const threshold = { min: 2, max: 3 };
    await assert.rejects(create({ approvals: 2, threshold, algs: ["EdDSA"] }), { code: "invalid_request" });
  });
});
