import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { givePasskey, ownerIn } from "../../../testing/fixtures/factors.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { findPasskey, insertPasskey, recordPasskeyUse } from "./passkeys.store.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  const use = (id: string, counter: number) =>
    recordPasskeyUse(running.service.database.query, ownerIn(org), {
      id,
      counter,
      isBackedUp: false,
      now: 1,
    });

  test("the counter only grows: of two concurrent uses, one is recorded", async () => {
    const { id } = await givePasskey(running.service, org);
    assert.deepEqual((await Promise.all([use(id, 5), use(id, 5)])).sort(), [false, true]);
    assert.equal(await use(id, 4), false);
    assert.equal(await use(id, 0), false, "a counter that counted does not go back to none");
    assert.equal(await use(id, 6), true);
  });

  test("a synced passkey's counter stays 0", async () => {
    const { id } = await givePasskey(running.service, org, { isSynced: true });
    assert.equal(await use(id, 0), true);
    assert.equal(await use(id, 0), true);
  });

  test("a credential belongs to one user of the organisation", async () => {
    const { id } = await givePasskey(running.service, org);
    const { query } = running.service.database;
    const passkey = await findPasskey(query, ownerIn(org), id);
    assert.ok(passkey);
    assert.equal(await insertPasskey(query, ownerIn(org), passkey), false);
    assert.equal(await findPasskey(query, { ...ownerIn(org), userId: "other" }, id), undefined);
  });
});
