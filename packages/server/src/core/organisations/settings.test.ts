import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { newUuid } from "@signet/protocol/uuid";
import { forEachDatabase } from "../../testing/databases.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import type { OrganisationSettings } from "./organisation.ts";
import { findOrganisation } from "./organisations.store.ts";
import { changeOrganisationSettings } from "./organisations.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());

  const change = (orgId: string, settings: Partial<OrganisationSettings>) =>
    changeOrganisationSettings(running.service, { orgId, settings, actor: "test" });

  test("policies that are tightened at the same time are all tightened", async () => {
    const { service } = running;
    const tightened: readonly Partial<OrganisationSettings>[] = [
      { deviceAttestation: "required" },
      { deviceEkTrust: "both" },
      { secondFactor: "required" },
      { requireVerifiedEmail: true },
    ];
    for (let times = 0; times < 5; times++) {
      const { id } = (await makeOrganisation(service)).organisation;
      await Promise.all(tightened.map((one) => change(id, one)));
      const now = await findOrganisation(service.database.query, id);
      assert.deepEqual(now?.settings, { ...now?.settings, ...Object.assign({}, ...tightened) });
    }
  });

  test("who changes one is told them all; an organisation that is not there has none", async () => {
    const { id, settings } = (await makeOrganisation(running.service)).organisation;
    const changed = { ...settings, secondFactor: "required" };
    assert.deepEqual(await change(id, { secondFactor: "required" }), changed);
    assert.equal(await change(newUuid(), { secondFactor: "required" }), undefined);
  });
});
