// An application whose access is `assigned` (wire-contract.md §4): it rules every way in, and every grant.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { assignUser, mayUse, unassignUser } from "../../core/application-access/application-access.ts";
import { deviceCodeGrantType } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../testing/fakes/browser.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { getTokens, redeem, refresh } from "../../testing/fixtures/client.ts";
import {
  askForCodes,
  decideDeviceCode,
  openVerify,
  poll,
  showsQuestion,
  typeCode,
} from "../../testing/fixtures/device.ts";
import { giveAuthenticator, showsTwoFactor } from "../../testing/fixtures/factors.ts";
import { federate, keyOf, RETURN_URL } from "../../testing/fixtures/federation.ts";
import { callApi } from "../../testing/fixtures/system-account.ts";
import { answerOf, decide, follow, logIn, showsLogin, visit } from "../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let desk: TestClient;
  let browser: TestBrowser;
  let made = 0;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
  });
  beforeEach(async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    desk = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      returnUrls: [RETURN_URL],
      grantTypes: ["authorization_code", "refresh_token", deviceCodeGrantType],
      access: "assigned",
      requireConsent: false,
      contacts: ["desk <desk@acme.example>", "Ada, room 7"],
    });
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const act = () => ({
    orgId: org.organisation.id,
    applicationId: desk.application.id,
    userId: org.user.id,
    actor: "test",
  });
  const assign = () => assignUser(running.service, act());
  const unassign = () => unassignUser(running.service, act());
  const asked = (more: Record<string, string> = {}) => ({ clientId: desk.application.id, more });
  const setAccess = (access: "everyone" | "assigned") =>
    changeApplication(
      running.service,
      { orgId: org.organisation.id, id: desk.application.id, actor: "test" },
      (before) => ({ name: before.name, settings: { ...before.settings, access }, disabled: false }),
    );

  test("shows an unassigned user whom to ask, and sends access_denied to the application", async () => {
    const page = await logIn(browser, org, await visit(browser, org, asked()));
    assert.equal(page.status, 403);
    assert.match(page.body, /You don’t have access to Web/);
    assert.match(page.body, /<li>desk &lt;desk@acme\.example&gt;<\/li>/);
    assert.match(page.body, /<li>Ada, room 7<\/li>/);
    assert.match(page.body, new RegExp(org.user.email));
    const answer = answerOf(await decide(browser, org, page, "deny"));
    assert.equal(answer.get("error"), "access_denied");
    assert.equal(
      answerOf(await visit(browser, org, asked({ prompt: "none" }))).get("error"),
      "access_denied",
    );
    assert.equal((await decide(browser, org, page, "allow")).status, 403, "no other answer helps");
    await assign();
    assert.ok(answerOf(await visit(browser, org, asked())).get("code"));
  });

  test("offers an unassigned user a sign-in with another account", async () => {
    const page = await logIn(browser, org, await visit(browser, org, asked()));
    const [, address = ""] = /href="(\/oauth\/[^"]+\/authorize\?flow=[^"]+)"/.exec(page.body) ?? [];
    assert.ok(showsLogin(await follow(browser, await browser.get(new URL(address, running.baseUrl).href))));
  });

  test("tells nothing about assignment before the second factor", async () => {
    await giveAuthenticator(running.service, org);
    assert.ok(showsTwoFactor(await logIn(browser, org, await visit(browser, org, asked()))));
  });

  test("issues a federation session key to assigned users only", async () => {
    const page = await logIn(browser, org, await federate(browser, running, desk.application));
    assert.equal(page.status, 403);
    assert.match(page.body, /You don’t have access to Web[\s\S]*desk@acme\.example/);
    const silent = await federate(browser, running, desk.application, { prompt: "none" });
    assert.equal(silent.location, `${RETURN_URL}?error=access_denied`);
    await assign();
    assert.ok(keyOf(await federate(browser, running, desk.application)));
  });

  test("refuses a device authorization by an unassigned user", async () => {
    const { id, secret } = { ...desk.application, ...desk };
    const codes = await askForCodes(org, desk.application, { client_secret: secret });
    const page = await typeCode(browser, org, await openVerify(browser, org), codes.userCode);
    assert.equal(page.status, 403);
    assert.match(page.body, /You don’t have access to Web/);
    await assign();
    assert.ok(showsQuestion(await typeCode(browser, org, await openVerify(browser, org), codes.userCode)));
    await decideDeviceCode(browser, org, codes);
    await unassign();
    const credentials = { client_id: id, client_secret: secret };
    assert.equal((await poll(org, codes, credentials)).body["error"], "invalid_grant");
    await assign();
    assert.equal((await poll(org, codes, credentials)).status, 200, "nothing was burnt");
  });

  test("revokes codes, tokens and session keys of a user who is unassigned, permanently", async () => {
    await assign();
    const { query, verifier } = authorizationRequest(desk.application.id, REDIRECT_URI);
    const page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
    const code = answerOf(await logIn(browser, org, page)).get("code") ?? "";
    const { refreshToken } = await getTokens(org, {}, desk);
    const key = keyOf(await federate(browser, running, desk.application));
    const validate = () => callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);
    assert.equal((await validate()).status, 200);
    await unassign();
    assert.equal((await redeem(org, { code, verifier }, desk)).body["error"], "invalid_grant");
    assert.equal((await refresh(org, refreshToken, {}, desk)).body["error"], "invalid_grant");
    assert.equal((await validate()).status, 401);
    await assign();
    assert.equal((await refresh(org, refreshToken, {}, desk)).body["error"], "invalid_grant");
    assert.equal((await validate()).status, 401);
  });

  test("refuses tokens and session keys of unassigned users once access is restricted", async () => {
    await setAccess("everyone");
    const { refreshToken } = await getTokens(org, {}, desk);
    const key = keyOf(await logIn(browser, org, await federate(browser, running, desk.application)));
    const validate = () => callApi(`${running.baseUrl}/legacy/api/auth/validate?key=${key}`, undefined);
    assert.equal((await validate()).status, 200);
    await setAccess("assigned");
    assert.equal((await refresh(org, refreshToken, {}, desk)).body["error"], "invalid_grant");
    assert.equal((await validate()).status, 401);
    await assign();
    assert.equal((await validate()).status, 200);
    assert.equal((await refresh(org, refreshToken, {}, desk)).status, 200, "nothing was burnt");
  });

  test("reports whether a session key's user may use another application", async () => {
    const key = keyOf(
      await logIn(browser, org, await federate(browser, running, (await portal()).application)),
    );
    const ask = (id: string) =>
      callApi(`${running.baseUrl}/legacy/api/Keys/User/${key}/Permission/${id}`, undefined);
    assert.deepEqual((await ask(org.web.application.id)).body, { Permitted: true, Role: "Standard" });
    assert.deepEqual((await ask(desk.application.id)).body, { Permitted: false, Role: "Standard" });
    await assign();
    assert.deepEqual((await ask(desk.application.id)).body, { Permitted: true, Role: "Standard" });
  });
  const portal = () => makeClient(running.service, org.organisation, { returnUrls: [RETURN_URL] });

  test("stores an assignment once, for one application of one organisation", async () => {
    assert.equal(await assign(), true);
    assert.equal(await assign(), false);
    const other = await makeOrganisation(running.service, `Other${made}`);
    assert.equal(await assignUser(running.service, { ...act(), userId: other.user.id }), "no-user");
    const foreign = { ...act(), applicationId: other.web.application.id };
    assert.equal(await assignUser(running.service, foreign), "no-application");
    const { query } = running.service.database;
    assert.ok(await mayUse(query, desk.application, org.user.id));
    const closed = { ...org.web.application, settings: desk.application.settings };
    assert.ok(!(await mayUse(query, closed, org.user.id)), "not of another application");
    assert.equal(await unassign(), true);
    assert.equal(await unassign(), false);
  });
});
