/** What a client that came too early finds when it comes again: its own tokens, of its pool, with time left, or new ones. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeApplication } from "../../../../core/applications/application-changes.ts";
import { setApplicationStatus } from "../../../../core/applications/applications.ts";
import type { SigningPool } from "../../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { makeAgent, makePool, setTokenWait, type TestAgent } from "../../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { headerOf } from "../../../../testing/probes/answers.ts";
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
  let clock: FakeClock;
  let org: TestOrganisation;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const newPool = async () => {
    const settings = {
      issuerMode: "organisation",
      maxTokenLifetimeSeconds: 60,
      tokenWaitSeconds: 0,
    } as const;
    const pool = await makePool(running.service, org, settings);
    const agent = await makeAgent(running.service, org, pool);
    await agent.call("queue?max=0");
    return { pool, agent };
  };
  const newClient = (pool: SigningPool) =>
    makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      signingPoolId: pool.id,
    });
  const askToken = (client: TestClient) =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(client) });
  const moveTo = ({ application }: TestClient, { id: signingPoolId }: SigningPool) => {
    const { id, orgId } = application;
    return changeApplication(running.service, { orgId, id, actor: "test" }, ({ name, settings }) => ({
      name,
      settings: { ...settings, signingPoolId },
      disabled: false,
    }));
  };
  const signNext = async (agent: TestAgent) => {
    const claimed = await agent.claim();
    assert.ok(claimed);
    assert.equal((await agent.sign(claimed)).status, 200);
  };

  test("signs anew instead of releasing tokens with less than half of their lifetime left", async () => {
    const { pool, agent } = await newPool();
    const client = await newClient(pool);
    assert.equal((await askToken(client)).status, 503);
    await signNext(agent);
    clock.advance(31_000);
    await agent.call("queue?max=0");
    assert.equal((await askToken(client)).status, 503, "another one is queued");
    await signNext(agent);
    const { status, body } = await askToken(client);
    assert.deepEqual([status, body["expires_in"]], [200, 60]);
  });

  test("an application moved to another pool gets no tokens of the first one", async () => {
    const [first, second] = [await newPool(), await newPool()];
    const client = await newClient(first.pool);
    assert.equal((await askToken(client)).status, 503);
    await signNext(first.agent);
    await moveTo(client, second.pool);
    assert.equal((await askToken(client)).status, 503);
    await signNext(second.agent);
    const { status, body } = await askToken(client);
    assert.equal(status, 200);
    assert.equal(headerOf(body["access_token"])["kid"], second.agent.keys[0]?.kid);
  });

  test("an application disabled while its client waits gets no tokens", async () => {
    const { pool, agent } = await newPool();
    await setTokenWait(running.service, pool, 8);
    const client = await newClient(pool);
    const asking = askToken(client);
    const claimed = await agent.claim({ wait: 2 });
    assert.ok(claimed);
    const { orgId, id } = client.application;
    await setApplicationStatus(running.service, { orgId, id, disabled: true, actor: "test" });
    assert.equal((await agent.sign(claimed)).status, 200);
    const { status, body } = await asking;
    assert.deepEqual([status, body["access_token"]], [503, undefined]);
  });
});
