import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../../core/applications/applications.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import {
  askUser,
  decideOn,
  makeCibaClient,
  openNewest,
  pollRequest,
} from "../../../testing/fixtures/ciba.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import { assertAudited } from "../../../testing/probes/written-actions.ts";
import {
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let client: TestClient;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      passwords: quickPasswords,
      env: { SIGNET_RATE_LIMITS: "ciba-client-user=50/900,ciba-user=60/900" },
    });
    org = await makeOrganisation(running.service);
    client = await makeCibaClient(running.service, org);
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const approved = async (more: Record<string, string> = {}) => {
    const asked = await askUser(org, client, more);
    await decideOn(browser, await openNewest(browser, org));
    return asked;
  };

  test("issues tokens for the user after the approval, whose authentication they tell", async () => {
    const asked = await approved();
    const { status, body } = await pollRequest(org, asked);
    assert.equal(status, 200);
    assert.equal(body["token_type"], "Bearer");
    assert.equal(body["scope"], "openid profile");
    const { iss, aud, sub, auth_time, acr, nonce } = payloadOf(body["id_token"]);
    assert.deepEqual([iss, aud, sub], [org.issuer, client.application.id, org.user.id]);
    assert.ok(Number(auth_time) > 0 && typeof acr === "string" && nonce === undefined);
    const refreshed = await postForm(`${org.issuer}/token`, {
      ...{ grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) },
      ...credentials(client),
    });
    assert.equal(refreshed.status, 200);
  });

  test("answers polls with authorization_pending, early ones with slow_down, which lasts", async () => {
    const asked = await askUser(org, client);
    assertOAuthError(await pollRequest(org, asked), 400, "authorization_pending");
    assertOAuthError(await pollRequest(org, asked), 400, "slow_down");
    clock.advance(5_000);
    assertOAuthError(await pollRequest(org, asked), 400, "slow_down");
    clock.advance(15_000);
    assertOAuthError(await pollRequest(org, asked), 400, "authorization_pending");
  });

  test("answers a denial with access_denied, and a request past its time with expired_token", async () => {
    const denied = await askUser(org, client);
    await decideOn(browser, await openNewest(browser, org), "deny");
    assertOAuthError(await pollRequest(org, denied), 400, "access_denied");
    const late = await askUser(org, client, { requested_expiry: "30" });
    clock.advance(30_000);
    assertOAuthError(await pollRequest(org, late), 400, "expired_token");
  });

  test("redeems one of many polls at once; a later one revokes what it issued", async () => {
    const asked = await approved();
    const answers = await Promise.all(Array.from({ length: 10 }, () => pollRequest(org, asked)));
    const won = answers.filter(({ status }) => status === 200);
    assert.equal(won.length, 1);
    for (const answer of answers) if (answer !== won[0]) assertOAuthError(answer, 400, "invalid_grant");
    const introspected = await postForm(`${org.issuer}/introspect`, {
      token: String(won[0]?.body["refresh_token"]),
      ...credentials(client),
    });
    assert.equal(introspected.body["active"], false);
    await assertAudited(running.service.database.query, "ciba-request.replayed");
  });

  test("refuses another client's, another organisation's, an unknown and a missing auth_req_id", async () => {
    const asked = await approved();
    const other = await makeCibaClient(running.service, org);
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const foreign = await makeCibaClient(running.service, elsewhere);
    assertOAuthError(await pollRequest(org, { ...asked, client: other }), 400, "invalid_grant");
    assertOAuthError(await pollRequest(elsewhere, { ...asked, client: foreign }), 400, "invalid_grant");
    assertOAuthError(await pollRequest(org, { client, authReqId: "sgn_ar_x" }), 400, "invalid_grant");
    assertOAuthError(await pollRequest(org, asked, { auth_req_id: "" }), 400, "invalid_request");
    assert.equal((await pollRequest(org, asked)).status, 200, "none of them has used it up");
  });

  test("ends with its application", async () => {
    const app = await makeCibaClient(running.service, org);
    const asked = await askUser(org, app);
    const { id } = app.application;
    const status = { orgId: org.organisation.id, id, actor: "test" };
    await setApplicationStatus(running.service, { ...status, disabled: true });
    await setApplicationStatus(running.service, { ...status, disabled: false });
    assertOAuthError(await pollRequest(org, asked), 400, "expired_token");
  });
});
