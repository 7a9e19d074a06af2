/** What waits for somebody else is not worked on: a service with one place goes on beside it. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fewPlaces } from "../../../testing/few-places.ts";
import { makeAgent, makePool, type TestAgent } from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

/** One that is held for very long would give its place back too: not in this test. */
const onePlace = fewPlaces(1, { waiting: 8, waitMs: 5_000 });

forEachDatabase(({ fresh }) => {
  for (const isFrameworkAlone of [false, true]) {
    let running: TestService;
    let org: TestOrganisation;
    let agent: TestAgent;
    let batch: TestClient;
    before(async () => {
      const databaseUrl = await fresh();
      running = await startTestService({ databaseUrl, isFrameworkAlone, admission: onePlace });
      org = await makeOrganisation(running.service);
      const pool = await makePool(running.service, org, { tokenWaitSeconds: 20 });
      agent = await makeAgent(running.service, org, pool);
      batch = await makeClient(running.service, org.organisation, {
        grantTypes: ["client_credentials"],
        allowedScopes: ["jobs:run"],
        signingPoolId: pool.id,
      });
    });
    after(() => running.close());

    test(`a held claim and the token requests that wait for its signatures take no place (framework alone: ${isFrameworkAlone})`, async () => {
      await agent.call("queue");
      const holding = agent.claimSeveral(8, { wait: 25 });
      const form = { grant_type: "client_credentials", ...credentials(batch) };
      const asked = postForm(`${org.issuer}/token`, form);
      const held = await holding;
      assert.equal(held.length, 1);
      assert.equal((await agent.signSeveral(held)).status, 200);
      assert.equal((await asked).status, 200);
    });
  }
});
