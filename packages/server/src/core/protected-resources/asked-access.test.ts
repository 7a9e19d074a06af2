// Which resources an application may name that another organisation shares.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { copiedSettings } from "../applications/copied-settings.ts";
import { nameableBy, readAccessRules } from "./asked-access.ts";

const [PAY, ELSEWHERE] = ["https://pay.acme.example", "https://api.vendor.example"];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    const api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const body = { identifier: PAY, name: "Pay", scopes: [{ name: "pay" }] };
    assert.equal((await api.call("POST", "/resources", { body })).status, 201);
  });
  after(() => running.close());

  test("this organisation's by a scope that it has consented to alone, whatever its home says; others as ever", async () => {
    const { application } = await makeClient(running.service, org.organisation, {
      allowedResources: [PAY, ELSEWHERE],
      allowedScopes: ["openid", "pay"],
    });
    const rules = await readAccessRules(
      { ...running.service, baseUrl: running.baseUrl },
      org.organisation.id,
    );
    assert.deepEqual(nameableBy(application, rules).toSorted(), [ELSEWHERE, PAY]);
    const copy = (granted: readonly string[]) => ({
      ...application,
      homeOrgId: "01998d6e-0000-7000-8000-000000000000",
      settings: copiedSettings(application, granted),
    });
    assert.deepEqual(nameableBy(copy(["openid"]), rules), [ELSEWHERE]);
    assert.deepEqual(nameableBy(copy(["openid", "pay"]), rules).toSorted(), [ELSEWHERE, PAY]);
  });

  test("a type of authorization details is its home's, and no copy has one", async () => {
    const { application } = await makeClient(running.service, org.organisation, {});
    const settings = { ...application.settings, authorizationDetailsTypes: ["payment_initiation"] };
    assert.deepEqual(copiedSettings({ ...application, settings }, []).authorizationDetailsTypes, []);
  });
});
