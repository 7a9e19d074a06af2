// An audience that an application of this organisation and one that another organisation shares have both.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestService,
} from "../../testing/test-service.ts";
import { enableShared } from "../shared-applications/shared-applications.ts";
import { findIdsByAudience } from "./audience.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());

  test("an application that another organisation shares makes no audience here ambiguous", async () => {
    const { service } = running;
    const [home, tenant] = [
      await makeOrganisation(service, "Home"),
      await makeOrganisation(service, "Tenant"),
    ];
    const audience = "https://orders.tenant.example";
    const shared = await makeClient(service, home.organisation, {
      ...{ audience, shared: { organisations: "any" }, redirectUris: ["https://app.example/"] },
    });
    const orgId = tenant.organisation.id;
    const { id } = shared.application;
    await enableShared(service, { orgId, actor: "test", id, scopes: ["openid"] });
    const { query } = service.database;
    assert.deepEqual(await findIdsByAudience(query, orgId, audience), [id], "its own API is found");
    const own = await makeClient(service, tenant.organisation, { audience });
    assert.deepEqual(await findIdsByAudience(query, orgId, audience), [own.application.id]);
    const second = await makeClient(service, tenant.organisation, { audience });
    const both = [own.application.id, second.application.id];
    assert.deepEqual(await findIdsByAudience(query, orgId, audience), both.toSorted());
  });
});
