import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { findOrganisation, setOrganisationRecord } from "../../../core/organisations/organisations.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { callApi, makeSystemAccount } from "../../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  const clock = fakeClock();
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(() => running.close());

  test("a partial policy change leaves the other members unchanged", async () => {
    const { query } = running.service.database;
    const { id, name, settings } = org.organisation;
    const account = await makeSystemAccount(running.service, org, { administrator: true });
    const address = `${running.baseUrl}/devices/manage/${id}/policy`;
    await callApi(address, account);
    // By another node, a moment ago: this one has not heard of it yet.
    await setOrganisationRecord(query, id, {
      name,
      settings: { ...settings, deviceAttestation: "required" },
    });
    const body = { ekTrust: "both" };
    const told = await callApi(address, account, { method: "POST", body, strictAt: clock() });
    assert.deepEqual([told.status, told.body], [200, { attestation: "required", ekTrust: "both" }]);
    const now = await findOrganisation(query, id);
    assert.equal(now?.settings.deviceAttestation, "required");
  });
});
