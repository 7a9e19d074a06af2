import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { credentials, getTokens, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { logIn, showsConsent, showsLogin, visit, withUser } from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

interface Item {
  readonly id: string;
  readonly clientId: string;
  readonly clientName: string;
  readonly scopes: readonly string[];
  readonly grantedAt: string;
  readonly lastUsedAt: string;
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let otto: TestOrganisation;
  let other: TestOrganisation;
  let browser: TestBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    otto = await withUser(running.service, org, "otto@acme.example");
    other = await makeOrganisation(running.service, "Other");
    browser = testBrowser();
    await logIn(browser, org, await visit(browser, org));
  });
  after(() => running.close());

  const newApp = (at = org) => makeClient(running.service, at.organisation, { redirectUris: [REDIRECT_URI] });
  const bearer = (token: string) => ({ authorization: `Bearer ${token}`, accept: "application/json" });
  const records = (at = org) => `${at.issuer}/user/consents`;
  const list = async (token: string, at = org) => {
    const answer = await fetch(records(at), { headers: bearer(token) });
    return {
      status: answer.status,
      headers: answer.headers,
      body: (await answer.json()) as { items: Item[] },
    };
  };
  const consentTo = async (app: TestClient, token: string) =>
    (await list(token)).body.items.find(({ clientId }) => clientId === app.application.id)?.id ?? "";
  const revokeAs = async (token: string, id: string, at = org) =>
    (await fetch(`${records(at)}/${id}/revoke`, { method: "POST", headers: bearer(token) })).status;
  const userinfo = async (token: string) =>
    (await fetch(`${org.issuer}/userinfo`, { headers: bearer(token) })).status;
  const isActive = async (token: string, app: TestClient) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(app) })).body["active"];

  test("returns the list as JSON for an access token", async () => {
    const app = await newApp();
    const { accessToken } = await getTokens(org, { scope: "openid email" }, app);
    const { status, headers, body } = await list(accessToken);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/json/);
    assert.equal(headers.get("cache-control"), "no-store");
    const item = body.items.find(({ clientId }) => clientId === app.application.id);
    assert.ok(item);
    const { id, grantedAt, lastUsedAt, ...rest } = item;
    assert.deepEqual(rest, {
      ...{ clientId: app.application.id, clientName: "Web", clientSource: "registered" },
      ...{ scopes: ["openid", "email"], resources: [], actors: [] },
    });
    assert.ok(Math.abs(Date.parse(lastUsedAt) - Date.now()) < 60_000);
    assert.match(id, /^[0-9a-f-]{36}$/);
    assert.ok(Math.abs(Date.parse(grantedAt) - Date.now()) < 60_000);
  });

  test("revoking by API ends the tokens based on the consent and no others", async () => {
    const app = await newApp();
    const more = { scope: "openid email offline_access" };
    const first = await getTokens(org, more, app);
    const second = await getTokens(org, more, app);
    const ottos = await getTokens(otto, more, app);
    const elsewhere = await getTokens(org, more);
    const id = await consentTo(app, first.accessToken);
    assert.equal(await revokeAs(elsewhere.accessToken, id), 404, "another application's token");
    assert.equal(await userinfo(first.accessToken), 200);
    assert.equal(await revokeAs(second.accessToken, id), 204, "any token of the client");
    for (const { accessToken, refreshToken } of [first, second]) {
      assert.equal(await userinfo(accessToken), 401);
      assert.equal(await isActive(accessToken, app), false);
      assert.equal(await isActive(refreshToken, app), false);
      assert.equal((await refresh(org, refreshToken, {}, app)).body["error"], "invalid_grant");
    }
    assert.equal(await userinfo(ottos.accessToken), 200);
    assert.equal((await refresh(org, ottos.refreshToken, {}, app)).status, 200);
    assert.equal(await userinfo(elsewhere.accessToken), 200);
    const again = await getTokens(org, more, app);
    assert.equal(await revokeAs(again.accessToken, id), 404, "already revoked");
    assert.ok(!(await list(again.accessToken)).body.items.some((item) => item.id === id));
    assert.equal(await revokeAs(again.accessToken, await consentTo(app, again.accessToken)), 204);
    const clientId = app.application.id;
    assert.ok(showsConsent(await visit(browser, org, { clientId, more })), "consent is requested again");
  });

  test("an access token lists its own client's consent only; the account page lists all", async () => {
    const [one, two] = [await newApp(), await newApp()];
    const ofOne = await getTokens(org, { scope: "openid email" }, one);
    const ofTwo = await getTokens(org, {}, two);
    const clientIds = async (token: string) => (await list(token)).body.items.map(({ clientId }) => clientId);
    assert.deepEqual(await clientIds(ofOne.accessToken), [one.application.id]);
    assert.deepEqual(await clientIds(ofTwo.accessToken), [two.application.id]);
    const page = (await browser.get(records())).body;
    for (const [app, { accessToken }] of [
      [one, ofOne],
      [two, ofTwo],
    ] as const)
      assert.ok(page.includes(`user/consents?id=${await consentTo(app, accessToken)}`));
  });

  test("an access token lists and revokes only its user's consents", async () => {
    const app = await newApp();
    const { accessToken } = await getTokens(org, {}, app);
    const id = await consentTo(app, accessToken);
    const ottos = await getTokens(otto, {}, app);
    const stranger = await getTokens(other);
    assert.ok(!(await list(ottos.accessToken)).body.items.some((item) => item.id === id));
    assert.equal(await revokeAs(ottos.accessToken, id), 404);
    assert.equal(await revokeAs(stranger.accessToken, id, other), 404);
    assert.equal(await revokeAs(stranger.accessToken, id), 401);
    assert.equal((await list(stranger.accessToken)).status, 401);
    for (const odd of ["x", "00000000-0000-7000-8000-000000000000", "..%2f"])
      assert.equal(await revokeAs(accessToken, odd), 404, odd);
    assert.equal(await userinfo(accessToken), 200);
  });

  test("API requests without a valid token get a challenge; the session cookie is ignored", async () => {
    const cookie = [...browser.cookies].map((pair) => pair.join("=")).join("; ");
    for (const [headers, code] of [
      [{ accept: "application/json" }, undefined],
      [{ accept: "application/json", cookie }, undefined],
      [{ ...bearer("x"), cookie }, "invalid_token"],
      [{ authorization: "Bearer x" }, "invalid_token"],
    ] as const) {
      const answer = await fetch(records(), { headers });
      assert.equal(answer.status, 401);
      const challenge = answer.headers.get("www-authenticate") ?? "";
      assert.match(challenge, /^Bearer /);
      assert.equal(challenge.includes("invalid_token"), code !== undefined);
      assert.match(answer.headers.get("content-type") ?? "", /json/);
    }
    const batch = { grant_type: "client_credentials", ...credentials(org.batch) };
    const { body } = await postForm(`${org.issuer}/token`, batch);
    assert.equal((await list(String(body["access_token"]))).status, 403);
    const { accessToken } = await getTokens(org, { scope: "email" });
    const answer = await list(accessToken);
    assert.equal(answer.status, 403);
    assert.match(answer.headers.get("www-authenticate") ?? "", /insufficient_scope.*scope="openid"/);
  });

  test("the page requires a session, lists consents, and revokes after confirmation", async () => {
    const stranger = testBrowser();
    assert.ok(showsLogin(await stranger.get(records())));
    const app = await newApp();
    const { accessToken } = await getTokens(org, { scope: "openid phone" }, app);
    const id = await consentTo(app, accessToken);
    const page = await browser.get(records());
    assert.equal(page.status, 200);
    assert.ok(page.body.includes(`href="/oauth/${org.organisation.id}/user/consents?id=${id}"`));
    assert.ok(page.body.includes('data-scope="phone"'));
    const question = await browser.get(`${records()}?id=${id}`);
    assert.match(question.body, /id="consent-revoke"/);
    assert.equal(await userinfo(accessToken), 200, "viewing revokes nothing");
    const done = await browser.post(`${records()}/${id}/revoke`, question.hidden);
    assert.equal(done.location, `${records()}?done=revoked`);
    assert.match((await browser.get(done.location ?? "")).body, /id="consents-done"/);
    assert.equal(await userinfo(accessToken), 401);
    assert.equal((await browser.get(`${records()}?id=${id}`)).status, 404);
    const again = await browser.post(`${records()}/${id}/revoke`, question.hidden);
    assert.equal(again.location, `${records()}?done=already`, "already revoked");
    assert.match(
      (await browser.get(again.location ?? "")).body,
      /Nothing was changed: this had already been done/,
    );
  });

  test("rejects an invalid CSRF token, a GET and another user's consent", async () => {
    const app = await newApp();
    const { accessToken } = await getTokens(org, {}, app);
    const id = await consentTo(app, accessToken);
    const { hidden } = await browser.get(`${records()}?id=${id}`);
    const at = `${records()}/${id}/revoke`;
    const forged = [{}, { csrf: "" }, { csrf: `${hidden["csrf"]}x` }];
    for (const form of forged) assert.equal((await browser.post(at, form)).status, 403);
    const site = { "sec-fetch-site": "cross-site", origin: "https://evil.example" };
    assert.equal((await browser.post(at, hidden, site)).status, 403);
    assert.equal((await browser.get(at)).status, 405);
    const ottos = testBrowser();
    await logIn(ottos, otto, await visit(ottos, org));
    assert.equal((await ottos.get(`${records()}?id=${id}`)).status, 404);
    const { hidden: own } = await ottos.get(`${org.issuer}/account/security/browsers`);
    await ottos.post(at, own);
    assert.ok(showsLogin(await testBrowser().post(at, hidden)));
    assert.equal(await userinfo(accessToken), 200);
    assert.equal(await consentTo(app, accessToken), id);
  });
});
