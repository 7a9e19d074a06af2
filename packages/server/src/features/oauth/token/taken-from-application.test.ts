import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import {
  type Application,
  type ApplicationSettings,
  deviceCodeGrantType,
} from "../../../core/applications/application.ts";
import { disableApplication } from "../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { authorizationRequest, authorize } from "../../../testing/fakes/browser.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { credentials, refresh } from "../../../testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  poll,
  showsDone,
  typeCode,
} from "../../../testing/fixtures/device.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const ONE = "https://one.example";
const TWO = "https://two.example";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    await source.code();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const newClient = () =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "refresh_token", deviceCodeGrantType],
      allowedScopes: ["openid", "email", "vault"],
      allowedResources: [ONE, TWO],
    });
  const takeAway = async ({ application }: TestClient, change: Partial<ApplicationSettings>) => {
    const { database, changes } = running.service;
    await database.query
      .updateTable("application")
      .set({ settings: JSON.stringify({ ...application.settings, ...change }) })
      .where("id", "=", application.id)
      .execute();
    await changes.publish(database.query, { orgId: org.organisation.id, topic: "application" });
  };
  const disable = ({ orgId, id }: Application, disabled: boolean) =>
    disableApplication(running.service, { orgId, id, disabled, actor: "test" });
  const approvedCode = async (client: TestClient, more: Record<string, string> = {}) => {
    const codes = await askForCodes(org, client.application, { ...credentials(client), ...more });
    assert.ok(showsDone(await decideDeviceCode(source.browser, org, codes)));
    return codes;
  };
  const audience = (body: Record<string, unknown>) => [payloadOf(body["access_token"])["aud"]].flat();
  const scopes = (body: Record<string, unknown>) => String(body["scope"]).split(" ");

  test("issues no token for a resource that the application is no longer allowed", async () => {
    const client = await newClient();
    const { body } = await redeemWith(org, await source.code({ resource: ONE }, client), {}, client);
    assert.deepEqual(audience(body).slice(0, 1), [ONE]);
    const token = String(body["refresh_token"]);
    const waiting = {
      code: await source.code({ resource: ONE }, client),
      device: await approvedCode(client, { resource: ONE }),
    };
    await takeAway(client, { allowedResources: [TWO] });
    const answers = {
      refreshed: await refresh(org, token, {}, client),
      named: await refresh(org, token, { resource: ONE }, client),
      code: await redeemWith(org, waiting.code, {}, client),
      device: await poll(org, waiting.device, credentials(client)),
    };
    for (const [grant, answer] of Object.entries(answers))
      assertOAuthError(answer, 400, "invalid_target", grant);
    await takeAway(client, {});
    assert.equal((await refresh(org, token, {}, client)).status, 200, "nothing was used up");
  });

  test("keeps the resources that are still allowed", async () => {
    const client = await newClient();
    const { query, verifier } = authorizationRequest(client.application.id, REDIRECT_URI, { resource: ONE });
    const both = `${query}&${new URLSearchParams({ resource: TWO })}`;
    const answer = await authorize(source.browser, { issuer: org.issuer, query: both, ...org.user });
    const { body } = await redeemWith(org, { code: String(answer.get("code")), verifier }, {}, client);
    assert.deepEqual(audience(body), [ONE, TWO, org.issuer]);
    await takeAway(client, { allowedResources: [TWO] });
    const refreshed = await refresh(org, String(body["refresh_token"]), {}, client);
    assert.deepEqual(audience(refreshed.body), [TWO, org.issuer]);
  });

  test("grants no scope that the application is no longer allowed", async () => {
    const client = await newClient();
    const scope = "openid vault";
    const code = await source.code({ scope }, client);
    const device = await approvedCode(client, { scope });
    const { refreshToken } = await source.tokens({ scope }, client);
    await takeAway(client, { allowedScopes: ["openid"] });
    for (const answer of [
      await redeemWith(org, code, {}, client),
      await poll(org, device, credentials(client)),
      await refresh(org, refreshToken, {}, client),
    ]) {
      assert.equal(answer.status, 200);
      assert.deepEqual(scopes(answer.body), ["openid"]);
    }
    await takeAway(client, { allowedScopes: ["vault"] });
    const only = await source.code({ scope: "vault" }, client);
    await takeAway(client, { allowedScopes: ["openid"] });
    assertOAuthError(await redeemWith(org, only, {}, client), 400, "invalid_grant");
  });

  test("invalidates pending codes of a disabled application, permanently", async () => {
    const client = await newClient();
    const approved = await approvedCode(client);
    const pending = await askForCodes(org, client.application, credentials(client));
    await disable(client.application, true);
    await disable(client.application, false);
    assertOAuthError(await poll(org, approved, credentials(client)), 400, "expired_token");
    assertOAuthError(await poll(org, pending, credentials(client)), 400, "expired_token");
    const page = await source.browser.get(`${org.issuer}/device/verify`);
    const typed = await typeCode(source.browser, org, page, pending.userCode);
    assert.match(typed.body, /That code is wrong or has expired/);
  });
});
