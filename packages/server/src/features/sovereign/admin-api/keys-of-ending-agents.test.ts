/** An agent's end and its new keys at the same moment, on two nodes: no key of an agent that has ended is published. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { CodedError } from "../../../http/coded-error.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { runConcurrently } from "../../../testing/fakes/in-sequence.ts";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../../../testing/fixtures/agent.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { addAgentKeys, deactivateAgent } from "./agents.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const deps = (database = running.service.database) => ({
    ...running.service,
    database,
    baseUrl: running.baseUrl,
  });
  const atOnce = (
    first: (inside: ReturnType<typeof deps>) => Promise<unknown>,
    second: () => Promise<unknown>,
  ) => runConcurrently(running.service.database, (inside) => first(deps(inside)), second);

  async function stage(compromised = true) {
    const pool = await makePool(running.service, org);
    const { agentId } = await makeAgent(running.service, org, pool);
    const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
    const add = (inside = deps()) => addAgentKeys(inside, by(), { agentId, keys });
    const end = (inside = deps()) => deactivateAgent(inside, by(), { agentId, compromised });
    const published = async () =>
      (await running.service.signingPools.published(org.organisation.id)).filter(
        ({ key }) => key.agentId === agentId && key.retiringAt === null,
      );
    return { add, end, published };
  }

  for (const compromised of [false, true]) {
    const how = compromised ? "compromised" : "deactivated";
    test(`refuses keys added while their agent is ${how}`, async () => {
      const { add, end, published } = await stage(compromised);
      const added = await atOnce(end, () => add());
      assert.ok(added.status === "rejected" && added.reason instanceof CodedError, JSON.stringify(added));
      assert.equal(added.reason.code, "agent_deactivated");
      assert.deepEqual(await published(), []);
    });

    test(`an agent ${how} while keys are added loses them, too`, async () => {
      const { add, end, published } = await stage(compromised);
      const ended = await atOnce(add, () => end());
      assert.equal(ended.status, "fulfilled");
      assert.deepEqual(await published(), []);
    });
  }
});
