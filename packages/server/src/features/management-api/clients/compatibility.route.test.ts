// The settings for clients that can do less than the defaults ask of them.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import {
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let admin: TestAccount;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    const org = await makeOrganisation(running.service);
    admin = await makeSystemAccount(running.service, org, { administrator: true });
  });
  after(() => running.close());

  test("requireNonceWithoutPkce and accessTokenType have defaults, are kept when sent back, and validated", async () => {
    const call = (path: string, asked: ApiRequest) =>
      callApi(`${running.baseUrl}/legacy/api/oauth/clients${path}`, admin, asked);
    const client = { name: "Shop", clientType: "confidential", redirectUris: [REDIRECT_URI] };
    const { body: strict } = await call("", { body: client });
    assert.deepEqual([strict["requireNonceWithoutPkce"], strict["accessTokenType"]], [false, "at+jwt"]);
    const settings = { requirePkce: false, requireNonceWithoutPkce: true, accessTokenType: "JWT" };
    const { body: made } = await call("", { body: { ...client, ...settings } });
    const { body } = await call(`/${made["clientId"]}`, { method: "PUT", body: made });
    for (const [member, value] of Object.entries(settings)) assert.equal(body[member], value, member);
    const wrong = await call("", { body: { ...client, accessTokenType: "jwt" } });
    assert.equal(wrong.status, 422);
    assert.deepEqual(
      (wrong.body["errors"] as { path: string }[]).map(({ path }) => path),
      ["/accessTokenType"],
    );
  });
});
