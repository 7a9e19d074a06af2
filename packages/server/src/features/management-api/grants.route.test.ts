import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, getTokens, postForm, refresh } from "../../testing/fixtures/client.ts";
import { makeDetailType, payment } from "../../testing/fixtures/detail-types.ts";
import { dpopKey } from "../../testing/fixtures/dpop.ts";
import { callApi, makeSystemAccount, type TestAccount } from "../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

type Grant = Readonly<Record<string, unknown>> & { readonly id: string };

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let account: TestAccount;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    account = await makeSystemAccount(running.service, org, { administrator: true });
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
  });
  after(async () => {
    if (second !== running) await second.close();
    await running.close();
    assert.deepEqual([...running.errors, ...second.errors], []);
  });
  const call = (method: string, path: string) =>
    callApi(`${running.baseUrl}/legacy/api/oauth${path}`, account, {
      method,
      ...(method === "DELETE" ? { strictAt: clock() } : {}),
    });
  const newest = async (query = ""): Promise<Grant> => {
    const { status, body, text } = await call("GET", `/grants?limit=200${query}`);
    assert.equal(status, 200, text);
    const last = (body["items"] as Grant[]).at(-1);
    assert.ok(last, "there is a grant");
    return last;
  };
  const isActive = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];

  test("a grant says who granted what to whom, by both APIs", async () => {
    await makeDetailType(running.service, org.organisation.id, "payment");
    clock.advance(1_000);
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], authorizationDetailsTypes: ["payment"] },
    });
    const { refreshToken } = await getTokens(
      org,
      { authorization_details: JSON.stringify([payment]), scope: "openid email" },
      client,
    );
    const at = new Date(clock()).toISOString();
    const grant = await newest(`&clientId=${client.application.id}`);
    const { expiresAt, ...said } = grant;
    assert.deepEqual(said, {
      ...{ id: grant.id, clientId: client.application.id, userId: org.user.id },
      ...{ scopes: ["openid", "email"], resources: [], authorizationDetails: [payment] },
      ...{ binding: null, enabled: true, createdAt: at, lastUsedAt: at },
    });
    assert.ok(String(expiresAt) > at);
    clock.advance(60_000);
    await refresh(org, refreshToken, {}, client);
    const later = new Date(clock()).toISOString();
    assert.equal((await newest(`&clientId=${client.application.id}`))["lastUsedAt"], later);
    assert.equal((await call("GET", `/grants/${grant.id}`)).body["lastUsedAt"], later);
    const byBearer = await api.call("GET", `/grants/${grant.id}`);
    assert.deepEqual(
      [byBearer.status, byBearer.body["authorizationDetails"], byBearer.body["updatedAt"]],
      [200, [payment], later],
    );
    const filter = `clientId eq "${client.application.id}" and lastUsedAt ge "${later}"`;
    const list = await api.call("GET", `/grants?${new URLSearchParams({ filter, total: "true" })}`);
    assert.deepEqual([list.body["total"], (list.body["items"] as Grant[])[0]?.id], [1, grant.id]);
  });

  test("what tokens are bound to is told", async () => {
    const key = await dpopKey();
    const { query, verifier } = authorizationRequest(org.web.application.id, REDIRECT_URI);
    const answer = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
    const url = `${org.issuer}/token`;
    const form = {
      grant_type: "authorization_code",
      code: answer.get("code") ?? "",
      code_verifier: verifier,
    };
    const sent = { ...form, redirect_uri: REDIRECT_URI, ...credentials(org.web) };
    const { status } = await postForm(url, sent, { dpop: await key.proof({ url, now: clock() }) });
    assert.equal(status, 200);
    assert.deepEqual((await newest())["binding"], { jkt: key.jkt });
  });

  test("revoked at one node, a grant is over at the other at once", async () => {
    const { accessToken, refreshToken } = await getTokens(org);
    const at = (node: TestService) => `${node.baseUrl}/oauth/${org.organisation.id}`;
    const introspected = async (token: string) => {
      const asked = await postForm(`${at(second)}/introspect`, { token, ...credentials(org.web) });
      return asked.body["active"];
    };
    const userinfo = async () => {
      const headers = { authorization: `Bearer ${accessToken}` };
      return (await fetch(`${at(second)}/userinfo`, { headers })).status;
    };
    // The other node has seen the tokens, and might remember them.
    assert.deepEqual([await introspected(accessToken), await introspected(refreshToken)], [true, true]);
    assert.equal(await userinfo(), 200);
    assert.equal((await call("DELETE", `/grants/${(await newest()).id}`)).status, 204);
    assert.deepEqual([await introspected(accessToken), await introspected(refreshToken)], [false, false]);
    assert.equal(await userinfo(), 401);
    const form = { grant_type: "refresh_token", refresh_token: refreshToken, ...credentials(org.web) };
    const refused = await postForm(`${at(second)}/token`, form);
    assert.deepEqual([refused.status, refused.body["error"]], [400, "invalid_grant"]);
  });

  for (const [what, revoke] of Object.entries({
    "the management API": (id: string) => call("DELETE", `/grants/${id}`),
    "API v1": (id: string) => api.call("DELETE", `/grants/${id}`),
  }))
    test(`revoked by ${what}, its refresh token and access tokens end, those of others stay`, async () => {
      const [other, mine] = [await getTokens(org), await getTokens(org)];
      const { id } = await newest();
      assert.equal((await revoke(id)).status, 204);
      for (const token of [mine.accessToken, mine.refreshToken]) assert.equal(await isActive(token), false);
      const refused = await refresh(org, mine.refreshToken);
      assert.deepEqual([refused.status, refused.body["error"]], [400, "invalid_grant"]);
      const headers = { authorization: `Bearer ${mine.accessToken}` };
      assert.equal((await fetch(`${org.issuer}/userinfo`, { headers })).status, 401);
      assert.equal(await isActive(other.accessToken), true);
      assert.equal((await call("GET", `/grants/${id}`)).status, 404);
      assert.equal((await revoke(id)).status, 404, "once");
      const events = await listAuditEvents(running.service.database.query, org.organisation.id, 50);
      const told = events.filter(({ action }) => action === "grant.revoked");
      assert.deepEqual([told[0]?.details?.["grant"], told[0]?.target], [id, org.web.application.id]);
    });

  test("a grant is listed for as long as a token of it may be good", async () => {
    const { application, secret } = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], grantTypes: ["authorization_code"] },
    });
    await getTokens(org, {}, { application, secret });
    const { id } = await newest(`&clientId=${application.id}`);
    clock.advance(86_399_000);
    assert.equal((await call("GET", `/grants/${id}`)).status, 200);
    clock.advance(2_000);
    assert.equal((await call("GET", `/grants/${id}`)).status, 404);
    assert.equal((await call("DELETE", `/grants/${id}`)).status, 404);
  });

  test("a grant whose refresh token has expired is listed and ends, while its access token may be good", async () => {
    const client = await makeClient(running.service, org.organisation, {
      ...{
        redirectUris: [REDIRECT_URI],
        refreshTokenLifetimeSeconds: 300,
        accessTokenLifetimeSeconds: 3_600,
      },
    });
    const { accessToken } = await getTokens(org, {}, client);
    const { id } = await newest(`&clientId=${client.application.id}`);
    clock.advance(301_000);
    const active = async () =>
      (await postForm(`${org.issuer}/introspect`, { token: accessToken, ...credentials(client) })).body[
        "active"
      ];
    assert.equal(await active(), true);
    assert.equal((await newest(`&clientId=${client.application.id}`)).id, id);
    assert.equal((await call("DELETE", `/grants/${id}`)).status, 204);
    assert.equal(await active(), false);
  });

  test("another organisation's administrator neither sees nor ends it", async () => {
    await getTokens(org);
    const { id } = await newest();
    const other = await makeOrganisation(running.service, "Other");
    const theirs = await makeSystemAccount(running.service, other, { administrator: true });
    const path = `${running.baseUrl}/legacy/api/oauth/grants`;
    assert.deepEqual((await callApi(path, theirs, { method: "GET" })).body["items"], []);
    const refused = await callApi(`${path}/${id}`, theirs, { method: "DELETE", strictAt: clock() });
    assert.equal(refused.status, 404);
    assert.equal((await call("GET", `/grants/${id}`)).status, 200);
  });
});
