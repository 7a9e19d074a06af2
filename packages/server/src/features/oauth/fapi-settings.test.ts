/** The FAPI 2.0 switch is kept by every way that changes an application: API v1, the legacy API, and the configuration file. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { applyFile } from "../../core/configuration/apply.ts";
import { exportOrganisation } from "../../core/configuration/export.ts";
import { FILE_FORMAT, type OrganisationFile } from "../../core/configuration/organisation-file.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { requestKey } from "../../testing/fixtures/request-object.ts";
import { callApi, makeSystemAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

/** Each contradicts the profile alone. */
const weaker: ReadonlyArray<Readonly<Record<string, unknown>>> = [
  { tokenEndpointAuthMethod: "client_secret_basic" },
  { dpopBoundAccessTokens: false },
  { requirePkce: false },
  { redirectUris: ["http://127.0.0.1/callback"] },
  { grantTypes: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"] },
  { idTokenSignedResponseAlg: "RS256" },
  { userinfoSignedResponseAlg: "RS256" },
  { introspectionSignedResponseAlg: "RS256" },
];

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let bank: TestClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    const { jwk } = await requestKey();
    bank = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: ["https://bank.example/callback"], jwks: { keys: [{ ...jwk }] } },
      ...{ tokenEndpointAuthMethod: "private_key_jwt", dpopBoundAccessTokens: true },
      securityProfile: "fapi2",
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  test("by a PATCH of API v1", async () => {
    const api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const path = `/applications/${bank.application.id}`;
    for (const body of weaker) {
      const { status, body: told } = await api.call("PATCH", path, { body });
      assert.equal(status, 422, JSON.stringify([body, told]));
    }
    assert.equal((await api.call("GET", path)).body["securityProfile"], "fapi2");
  });

  test("by a PUT of the legacy API", async () => {
    const admin = await makeSystemAccount(running.service, org, { administrator: true });
    const url = `${running.baseUrl}/legacy/api/oauth/clients/${bank.application.id}`;
    const { body: record } = await callApi(url, admin);
    for (const member of weaker) {
      const answer = await callApi(url, admin, { method: "PUT", body: { ...record, ...member } });
      assert.equal(answer.status, 422, JSON.stringify([member, answer.body]));
    }
  });

  test("by a configuration file", async () => {
    const orgId = org.organisation.id;
    const { file } = (await exportOrganisation(running.service.database.query, orgId)) ?? {};
    const own = file?.applications?.find(({ id }) => id === bank.application.id);
    assert.ok(own);
    const others = file?.applications?.filter((one) => one !== own) ?? [];
    for (const member of weaker) {
      const changed: OrganisationFile = {
        ...file,
        format: FILE_FORMAT,
        applications: [...others, { ...own, ...member }],
      };
      const applying = { orgId, actor: "test", file: changed, prune: false };
      await assert.rejects(
        applyFile({ ...running.service, baseUrl: running.baseUrl }, applying),
        /security profile/,
        JSON.stringify(member),
      );
    }
  });
});
