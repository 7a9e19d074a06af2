// All that takes the rows of an organisation, its signing pools, agents, keys, requests and applications, at once and over
// again: nobody waits in a circle. (PostgreSQL ends one of a circle with 40P01.)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeApplication, deleteApplication } from "../../../../core/applications/application-changes.ts";
import { lockApplication } from "../../../../core/applications/applications.store.ts";
import { createApplication } from "../../../../core/applications/applications.ts";
import { changeOrganisationSettings } from "../../../../core/organisations/organisations.ts";
import { createCustomScope } from "../../../../core/scopes/custom-scopes.ts";
import { listAgentKeys } from "../../../../core/signing-pools/agent-key.store.ts";
import { findPool } from "../../../../core/signing-pools/signing-pool.store.ts";
import { boundTo, type Database } from "../../../../db/open.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, newAgentKey, presentedKey } from "../../../../testing/fixtures/agent.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";
import { addAgentKeys, deactivateAgent, registerAgent, retireAgentKey } from "../../admin-api/agents.ts";
import { changePool, createPool, deletePool, disablePool } from "../../admin-api/pools.ts";

const ROUNDS = 20;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
  });
  after(() => running.close());
  const database = () => running.service.database;
  const by = () => ({ orgId: org.organisation.id, actor: "test" });
  const deps = (inside: Database = database()) => ({
    ...running.service,
    database: inside,
    baseUrl: running.baseUrl,
  });

  async function round(count: number): Promise<readonly unknown[]> {
    org = await makeOrganisation(running.service);
    const { orgId } = by();
    const pool = await makePool(running.service, org);
    const { agentId } = await makeAgent(running.service, org, pool);
    const { agentId: other } = await makeAgent(running.service, org, pool);
    const settings = { grantTypes: ["client_credentials"] as const, signingPoolId: pool.id };
    const make = () =>
      createApplication(deps(), { ...by(), name: "App", clientType: "confidential", settings });
    const [one, two] = [await make(), await make()];
    const change = (inside: Database, id: string) =>
      changeApplication(deps(inside), { ...by(), id }, (it) => ({
        name: it.name,
        settings: it.settings,
        disabled: false,
      }));
    const inOne = (work: (inside: Database) => Promise<unknown>) =>
      database().transaction((tx) => work(boundTo(database(), tx)));
    const keys = () => [presentedKey(running.service, pool, newAgentKey("ES256"))];
    const kid = (await listAgentKeys(database().query, orgId, other))[0]?.kid ?? assert.fail();
    const acts: ReadonlyArray<() => Promise<unknown>> = [
      make,
      () => change(database(), one.id),
      () => inOne(async (inside) => [await lockApplication(inside.query, two), await change(inside, two.id)]),
      () => inOne(async (inside) => [await change(inside, one.id), await change(inside, two.id)]),
      () => addAgentKeys(deps(), by(), { agentId, keys: keys() }),
      () => addAgentKeys(deps(), by(), { agentId: other, keys: keys() }),
      () => deactivateAgent(deps(), by(), { agentId, compromised: true }),
      () => retireAgentKey(deps(), by(), { agentId: other, kid }),
      () => registerAgent(deps(), by(), { poolId: pool.id, name: "Agent", keys: keys() }),
      () => disablePool(deps(), by(), { id: pool.id, disabled: true }),
      async () => changePool(deps(), by(), (await findPool(database().query, orgId, pool.id)) ?? pool, pool),
      () => createPool(deps(), by(), { name: "Pool", algs: ["ES256"], maxTokenLifetimeSeconds: 60 }),
      () => deleteApplication(deps(), { ...by(), id: one.id }),
      () => deleteApplication(deps(), { ...by(), id: two.id }),
      () => deletePool(deps(), by(), pool.id),
      () => deletePool(deps(), by(), pool.id),
      () =>
        changeOrganisationSettings(deps(), { ...by(), settings: { passwordMinLength: 12 + (count % 2) } }),
      () =>
        createCustomScope(deps(), {
          ...{ ...by(), name: `scope-${count}`, displayName: "Scope", description: "" },
          ...{ claims: [], sensitive: false },
        }),
    ];
    // Another one begins each time.
    const turned = [...acts.slice(count % acts.length), ...acts.slice(0, count % acts.length)];
    const ended = await Promise.allSettled(turned.map((act) => act()));
    return ended.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  }

  test("concurrent changes of pools, agents, keys and applications don't deadlock", async () => {
    for (let count = 0; count < ROUNDS; count++)
      for (const reason of await round(count))
        assert.notEqual((reason as { code?: unknown }).code, "40P01", JSON.stringify(reason));
  });
});
