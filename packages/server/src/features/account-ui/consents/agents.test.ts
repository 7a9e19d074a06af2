/** What acts for a user: where clients come from, what they use, and who acts through them; an agent is revoked in one click. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { createExchangePolicy } from "../../../core/token-exchange/exchange-policies.ts";
import { policySettings } from "../../../core/token-exchange/policy-schemas.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { agentDocument, type DocumentHost, documentHost } from "../../../testing/fakes/document-host.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { credentials, getTokens, postForm } from "../../../testing/fixtures/client.ts";
import { follow, logIn, showsLogin } from "../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange" as const;
const PAY = "https://pay.example/api";
const REDIRECT = "http://127.0.0.1:51000/callback";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let host: DocumentHost;
  let api: ApiClient;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    host = await documentHost();
    const env = { SIGNET_OUTBOUND_ALLOW: "localhost" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    browser = testBrowser();
    const scope = { displayName: "Pay", description: "", claims: [], sensitive: false };
    await createCustomScope(running.service, {
      ...{ orgId: org.organisation.id, name: "pay", ...scope, actor: "test" },
    });
    const resource = { identifier: PAY, name: "Payments", scopes: ["pay"] };
    assert.equal((await api.call("POST", "/resources", { body: resource })).status, 201);
    const policy = { mode: "allowlist", hosts: [host.host], allowedScopes: ["openid", "pay"] };
    assert.equal((await api.call("PUT", "/client-id-metadata-policy", { body: policy })).status, 200);
  });
  after(async () => {
    await running.close();
    await host.close();
    assert.deepEqual(running.errors, []);
  });

  const consentsOf = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, accept: "application/json" };
    const answer = await fetch(`${org.issuer}/user/consents`, { headers });
    assert.equal(answer.status, 200);
    const { items } = (await answer.json()) as { items: Array<Record<string, unknown>> };
    return items;
  };

  /** The tokens of an agent that nobody has registered. */
  const agentTokens = async (name: string) => {
    const clientId = `https://${host.host}/${name}.json`;
    host.served.set(`/${name}.json`, agentDocument(clientId, { client_name: name }));
    const { parameters, verifier } = authorizationRequest(clientId, REDIRECT, { scope: "openid pay" });
    const query = new URLSearchParams(parameters);
    const first = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
    const page = showsLogin(first) ? await logIn(browser, org, first) : first;
    const answer = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision: "allow" });
    const { body } = await postForm(`${org.issuer}/token`, {
      ...{ grant_type: "authorization_code", code_verifier: verifier, redirect_uri: REDIRECT },
      ...{ client_id: clientId, code: new URL(answer.location ?? "").searchParams.get("code") ?? "" },
    });
    return { clientId, accessToken: String(body["access_token"]) };
  };

  test("an agent's consent says where it comes from, what for, and when it was used last", async () => {
    const { clientId, accessToken } = await agentTokens("helper");
    const [item] = await consentsOf(accessToken);
    assert.ok(item);
    assert.deepEqual(
      [item["clientId"], item["clientSource"], item["scopes"], item["resources"], item["actors"]],
      [clientId, "metadata-document", ["openid", "pay"], [PAY], []],
    );
    assert.equal(item["lastUsedAt"], new Date(clock()).toISOString());
  });

  test("who exchanged a user's token for one of its own is an actor", async () => {
    const actor = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: [EXCHANGE], allowedScopes: ["profile"], audience: "https://orders.example" },
    });
    const portal = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], audience: "https://orders.example" },
    });
    const settings = policySettings({
      ...{
        name: "Pay",
        clientId: actor.application.id,
        target: PAY,
        scopes: ["pay"],
        maxLifetimeSeconds: 60,
      },
    });
    await createExchangePolicy(
      { ...running.service, baseUrl: running.baseUrl },
      { orgId: org.organisation.id, actor: "test", settings },
    );
    const { accessToken } = await getTokens(org, { scope: "openid profile" }, portal);
    assert.deepEqual((await consentsOf(accessToken))[0]?.["actors"], []);
    const exchanged = await postForm(`${org.issuer}/token`, {
      ...{ grant_type: EXCHANGE, ...credentials(actor), subject_token: accessToken, resource: PAY },
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
    });
    assert.equal(exchanged.status, 200, JSON.stringify(exchanged.body));
    const [item] = await consentsOf(accessToken);
    assert.deepEqual([item?.["actors"], item?.["clientSource"]], [[actor.application.id], "registered"]);
    const page = await browser.get(`${org.issuer}/user/consents`);
    assert.match(page.body, /data-actors><bdi>Acting through it: Web</);
  });

  test("an agent is revoked by one form, and its tokens end with it; others are asked about first", async () => {
    const { accessToken } = await agentTokens("courier");
    const [item] = await consentsOf(accessToken);
    const page = await browser.get(`${org.issuer}/user/consents`);
    assert.match(page.body, /data-resources><bdi>Can use: Payments</);
    assert.ok(page.body.includes(host.host));
    const action = `/oauth/${org.organisation.id}/user/consents/${item?.["id"]}/revoke`;
    assert.ok(page.body.includes(`<form method="post" action="${action}">`));
    const done = await browser.post(`${org.issuer}/user/consents/${item?.["id"]}/revoke`, {
      csrf: page.hidden["csrf"] ?? "",
    });
    assert.equal(done.location, `${org.issuer}/user/consents?done=revoked`);
    const headers = { authorization: `Bearer ${accessToken}` };
    assert.equal((await fetch(`${org.issuer}/userinfo`, { headers })).status, 401);
    assert.ok(!(await browser.get(`${org.issuer}/user/consents`)).body.includes(action));
  });
});
