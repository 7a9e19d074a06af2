/** What the end of an agent does to what it has claimed, and what its limits are. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fake-clock.ts";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../../testing/test-agent.ts";
import { credentials, postForm } from "../../testing/test-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { addAgentKeys, deactivateAgent, MOST_KEYS } from "./agents.ts";
import { disablePool } from "./pools.ts";
import { SovereignError } from "./sovereign-error.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });
  const deps = () => ({ ...running.service, baseUrl: running.baseUrl });
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const hasCode = (code: string) => (error: unknown) =>
    error instanceof SovereignError && error.code === code;

  test("what a deactivated agent has claimed is another's at once, and its own signature comes too late", async () => {
    const pool = await makePool(running.service, org);
    const [first, second] = [
      await makeAgent(running.service, org, pool),
      await makeAgent(running.service, org, pool),
    ];
    const client = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: [],
      signingPoolId: pool.id,
    });
    await second.call("queue");
    const waiting = postForm(`${org.issuer}/token`, {
      grant_type: "client_credentials",
      ...credentials(client),
    });
    const claimed = await first.claim({ wait: 5 });
    assert.ok(claimed);
    assert.equal(await second.claim(), undefined, "it is the first one's");
    await deactivateAgent(deps(), by(), { agentId: first.agentId, compromised: false });
    assert.equal((await first.sign(claimed)).status, 401);
    const again = await second.claim({ wait: 5 });
    assert.equal(again?.requestId, claimed.requestId);
    assert.ok(again);
    assert.equal((await second.sign(again)).status, 200);
    assert.equal((await waiting).status, 200);
  });

  test("a disabled pool takes no agents and no keys", async () => {
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    assert.equal(await disablePool(deps(), by(), { id: pool.id, disabled: true }), true);
    assert.equal(await disablePool(deps(), by(), { id: pool.id, disabled: true }), false);
    await assert.rejects(makeAgent(running.service, org, pool), hasCode("pool_disabled"));
    const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
    await assert.rejects(
      addAgentKeys(deps(), by(), { agentId: agent.agentId, keys }),
      hasCode("pool_disabled"),
    );
  });

  test("two that register the first keys of a pool at the same time: one of them comes first", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 600 });
    const made = await Promise.all([1, 2, 3].map(() => makeAgent(running.service, org, pool)));
    const keys = await running.service.signingPools.published(org.organisation.id);
    const own = keys.filter(({ key }) => made.some(({ agentId }) => agentId === key.agentId));
    assert.equal(own.filter(({ key }) => key.activeFrom <= clock()).length, 1);
    assert.equal(own.filter(({ key }) => key.activeFrom === clock() + 600_000).length, 2);
  });

  test("an agent has only so many keys that have not retired", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 600 });
    const { agentId } = await makeAgent(running.service, org, pool);
    const add = (count: number) =>
      addAgentKeys(deps(), by(), {
        agentId,
        keys: Array.from({ length: count }, () => presentedKey(running.service, pool, newAgentKey("ES256"))),
      });
    await add(MOST_KEYS - 1);
    await assert.rejects(add(1), hasCode("key_limit"));
    clock.advance(600_000 + 61_000);
    assert.equal((await add(1)).length, 1, "the first one has retired");
  });
});
