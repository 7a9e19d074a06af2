import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import {
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { findApplication } from "./applications.store.ts";
import { secretUse } from "./client-secrets.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const stored = async ({ application }: TestClient) =>
    findApplication(running.service.database.query, application.orgId, application.id);
  const lastUsed = async (client: TestClient) => (await stored(client))?.secrets[0]?.lastUsedAt;

  test("writes uses in batches, with the time of the last one", async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    for (let time = 0; time < 3; time++) {
      clock.advance(1_000);
      assert.equal((await postForm(`${org.issuer}/token`, form)).status, 200);
    }
    const wrong = { ...form, client_secret: "wrong" };
    await postForm(`${org.issuer}/token`, wrong);
    assert.equal(await lastUsed(org.batch), null);
    await running.service.secretUse.flush();
    assert.equal(await lastUsed(org.batch), clock());
    assert.equal(await lastUsed(org.web), null);
  });

  test("never overwrites a newer use, and flushes on close", async () => {
    const application = await stored(org.batch);
    const [secret] = application?.secrets ?? [];
    assert.ok(application && secret);
    const { database } = running.service;
    const before = clock();
    const errors: unknown[] = [];
    const late = secretUse({
      database,
      clock: () => before - 60_000,
      onError: (error) => errors.push(error),
    });
    late.note(application, secret);
    await late.close();
    assert.equal(await lastUsed(org.batch), before);
    const next = secretUse({ database, clock: () => before + 5, onError: (error) => errors.push(error) });
    next.note(application, secret);
    await next.close();
    assert.equal(await lastUsed(org.batch), before + 5);
    assert.deepEqual(errors, []);
  });
});
