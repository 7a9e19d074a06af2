/** Pools of which one agent alone signs nothing: those with a threshold, and those with approvals. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { recordAgentSeen } from "../../../core/signing-pools/signing-agent.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type AdministeredOrganisation,
  administeredOrganisation,
} from "../../../testing/fixtures/administered-organisation.ts";
import { makeAgent, makePool } from "../../../testing/fixtures/agent.ts";
import { type ConsoleBrowser, consoleBrowser } from "../../../testing/probes/console-browser.ts";
import { startTestService, type TestService } from "../../../testing/test-service.ts";
import { insertCeremony } from "../threshold/ceremony.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: AdministeredOrganisation;
  let clock: FakeClock;
  let browser: ConsoleBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await administeredOrganisation(running.service, "Acme");
    browser = await consoleBrowser(running, org);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const orgId = () => org.organisation.id;
  const db = () => running.service.database.query;
  const poolOf = async (id: string) => {
    const pool = await findPool(db(), orgId(), id);
    assert.ok(pool);
    return pool;
  };

  test("tells how many agents a signature takes, and when too few of them are online", async () => {
    const threshold = { min: 2, max: 3 };
    const pools = [
      await makePool(running.service, org, { name: "Board", algs: ["EdDSA"], threshold }),
      await makePool(running.service, org, { name: "Payroll", approvals: 2 }),
    ];
    for (const pool of pools) {
      const { orgId, id: poolId } = pool;
      const agents = [
        await makeAgent(running.service, org, pool),
        await makeAgent(running.service, org, pool),
      ];
      const state = async () => {
        const { body } = await browser.get(`/pools/${poolId}/status`);
        return body
          .replaceAll(/<[^>]+>/g, " ")
          .replaceAll(/\s+/g, " ")
          .trim();
      };
      assert.equal(await state(), "No agent online 0 of 2 online · 2 needed · 0 requests waiting");
      for (const [index, { agentId: id }] of agents.entries()) {
        await recordAgentSeen(db(), { orgId, id, now: clock(), every: 0 });
        assert.match(await state(), index === 0 ? /^Too few agents online 1 of 2/ : /^Online 2 of 2/);
      }
    }
  });

  test("offers a threshold pool nothing that is of whole keys, and asks for no ceremony that is under way", async () => {
    const threshold = { min: 2, max: 3 };
    const { id } = await makePool(running.service, org, { name: "Board", algs: ["EdDSA"], threshold });
    const page = await browser.get(`/pools/${id}/settings`);
    for (const field of ["algs", "approvals", "trustedRoots", "requireX5c"])
      assert.doesNotMatch(page.body, new RegExp(`name="${field}"`), field);
    const { location } = await browser.send(`/pools/${id}/settings`, { name: "Board keys" });
    assert.match(location ?? "", /done=saved$/);
    const { name, algs, approvals } = await poolOf(id);
    assert.deepEqual([name, algs, approvals], ["Board keys", ["EdDSA"], 1]);
    const setup = async () => (await browser.get(`/pools/${id}/setup`)).body;
    assert.match(await setup(), /id="setup-online"[\s\S]*id="setup-key"[\s\S]*id="setup-application"/);
    const whole = await makePool(running.service, org);
    assert.doesNotMatch((await browser.get(`/pools/${whole.id}/setup`)).body, /id="setup-key"/);
    const asks = async () =>
      /Run signet-agent threshold create/.test((await browser.get(`/pools/${id}`)).body);
    assert.equal(await asks(), true);
    const ceremony = {
      ...{ org_id: orgId(), id: newUuid(), pool_id: id, state: "joining", kind: "create" },
      ...{ min_signers: 2, max_signers: 3, begun_by: newUuid(), kid: null, from_ceremony: null },
      ...{ members: null, end_reason: null, created_at: clock(), ended_at: null },
    };
    await insertCeremony(db(), ceremony);
    assert.equal(await asks(), false);
  });
});
