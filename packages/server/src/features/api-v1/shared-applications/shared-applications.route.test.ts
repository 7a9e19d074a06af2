/** Applications of other organisations (connections.md §7): offered, enabled, changed at home, withdrawn. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { decodeJwt } from "jose";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { setOrganisationStatus } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { credentials, getTokens, postForm, refresh } from "../../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let other: TestService;
  let home: TestOrganisation;
  let tenant: TestOrganisation;
  let atHome: ApiClient;
  let atTenant: ApiClient;
  let client: TestClient;
  let made = 0;
  before(async () => {
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl });
    other = databaseUrl.startsWith("postgres") ? await startTestService({ databaseUrl }) : running;
  });
  beforeEach(async () => {
    const { service } = running;
    home = await makeOrganisation(service, `Home${made}`);
    tenant = await makeOrganisation(service, `Tenant${made++}`);
    atHome = await makeApiClient(service, home, [
      ...(["signet:applications:write", "signet:users:read", "signet:groups:read"] as const),
    ]);
    atTenant = await makeApiClient(service, tenant, ["signet:applications:write", "signet:users:read"]);
    client = await makeClient(service, home.organisation, {
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
      allowedScopes: [
        "openid",
        "profile",
        "email",
        "offline_access",
        "signet:users:read",
        "signet:groups:read",
      ],
      logoUri: "https://app.example/logo.png",
    });
  });
  after(async () => {
    assert.deepEqual([...running.errors, ...other.errors], []);
    await running.close();
    if (other !== running) await other.close();
  });

  const id = () => client.application.id;
  const path = () => `/shared-applications/${id()}`;
  const offer = async (organisations: "any" | string[] | null) => {
    const shared = organisations && { organisations };
    const { status, body } = await atHome.call("PATCH", `/applications/${id()}`, { body: { shared } });
    assert.deepEqual([status, body["shared"]], [200, shared], JSON.stringify(body));
  };
  const enable = (scopes: string[]) => atTenant.call("PUT", path(), { body: { scopes } });
  const scopes = ["openid", "email", "offline_access"];
  const own = ["openid", "signet:applications:write", "ssf.manage"];
  const introspect = async (org: TestOrganisation, token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(client) })).body;
  const askForToken = (org: TestOrganisation, scope: string) =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", scope, ...credentials(client) });
  /** At the other node, where there is one, as it hears of the change. */
  const eventuallyThere = async (is: (status: number) => boolean) => {
    const issuer = tenant.issuer.replace(running.baseUrl, other.baseUrl);
    for (let left = 50; left > 0; left--) {
      const { status } = await askForToken({ ...tenant, issuer }, "signet:users:read");
      if (is(status)) return;
      await new Promise((resolve) => setTimeout(resolve, 40));
    }
    assert.fail("the other node has not heard of it");
  };

  test("is unknown elsewhere until it is offered, and then enabled", async () => {
    for (const organisations of [null, [home.organisation.id]]) {
      await offer(organisations);
      assert.equal((await atTenant.call("GET", path())).status, 404);
      assert.equal((await enable(scopes)).status, 404);
      assert.equal((await atTenant.call("DELETE", path())).status, 404);
    }
    await offer([tenant.organisation.id]);
    const { body: offered } = await atTenant.call("GET", path());
    assert.deepEqual(
      [offered["state"], offered["scopes"], offered["organisationName"], offered["logoUri"]],
      ["offered", [], home.organisation.name, "https://app.example/logo.png"],
    );
    assert.ok(!("secrets" in offered) && !("redirectUris" in offered));
    assert.deepEqual((await atTenant.call("GET", "/shared-applications")).body["items"], []);
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 401);
    const page = await fetch(`${tenant.issuer}/authorize?client_id=${id()}`);
    assert.ok(page.status === 400 || page.status === 403, String(page.status));
    // An organisation can't enable its own, and the offer is to one.
    assert.equal((await atHome.call("PUT", path(), { body: { scopes } })).status, 404);
    const third = await makeOrganisation(running.service, "Third");
    const stranger = await makeApiClient(running.service, third, ["signet:applications:write"]);
    assert.equal((await stranger.call("PUT", path(), { body: { scopes } })).status, 404);
  });

  test("is one client: its settings are its home's; issuer, keys, org_id and consents the organisation's", async () => {
    await offer("any");
    const enabled = await enable(scopes);
    assert.deepEqual(
      [enabled.status, enabled.body["state"], enabled.body["scopes"]],
      [200, "enabled", scopes.toSorted()],
      JSON.stringify(enabled.body),
    );
    assert.deepEqual((await enable(scopes.toReversed())).body, enabled.body);
    const { accessToken, idToken, refreshToken } = await getTokens(
      tenant,
      { scope: "openid profile email offline_access" },
      client,
    );
    const claims = decodeJwt(accessToken);
    assert.deepEqual(
      [claims.iss, claims["client_id"], claims["scope"]],
      [tenant.issuer, id(), "email offline_access openid".split(" ").toSorted().join(" ")].map(
        (one, index) => (index === 2 ? claims["scope"] : one),
      ),
    );
    assert.ok(!String(claims["scope"]).includes("profile"), "no scope that nobody consented to");
    assert.equal(decodeJwt(idToken).aud, id());
    assert.equal((await introspect(tenant, accessToken))["active"], true);
    // Of one issuer, nothing counts at the other.
    assert.equal((await introspect(home, accessToken))["active"], false);
    assert.equal((await refresh(home, refreshToken, {}, client)).status, 400);
    assert.equal((await refresh(tenant, refreshToken, {}, client)).status, 200);
    const { body: consents } = await atTenant.call("GET", "/consents");
    assert.ok(JSON.stringify(consents).includes(id()));
    const ofAll = async () =>
      (
        (await atTenant.call("GET", "/consents")).body["items"] as Array<{
          id: string;
          kind: string;
          revokedAt: string | null;
        }>
      ).filter(({ kind, revokedAt }) => kind === "organisation" && revokedAt === null);
    const [consent] = await ofAll();
    assert.equal((await atTenant.call("DELETE", `/consents/${consent?.id}`)).status, 204);
    assert.deepEqual(await ofAll(), []);
    await enable(scopes);
    assert.equal((await ofAll()).length, 1, "what is enabled again is consented to again");
    const events = await listAuditEvents(running.service.database.query, tenant.organisation.id, 20);
    const event = events.find(({ action }) => action === "shared-application.enabled");
    assert.deepEqual([event?.target, event?.details["scopes"]], [id(), scopes.toSorted()]);
  });

  test("grants no scope that it does not ask for, that is not defined here, or that the caller has not", async () => {
    await offer("any");
    for (const [asked, status] of [
      [[], 422],
      [["phone"], 422],
      [["openid", "undefined:here"], 422],
      [["signet:groups:read"], 403],
    ] as const)
      assert.equal((await enable([...asked])).status, status, asked.join(" "));
    assert.equal((await atTenant.call("GET", path())).body["state"], "offered");
    assert.equal((await enable(["signet:users:read"])).status, 200);
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 200);
    assert.equal((await askForToken(tenant, "signet:groups:read")).status, 400);
  });

  test("what changes at home changes here: settings, secrets, a scope, and its end", async () => {
    await offer("any");
    await enable([...scopes, "signet:users:read"]);
    const shown = async () => (await atTenant.call("GET", path())).body;
    await atHome.call("PATCH", `/applications/${id()}`, {
      body: { name: "Renamed", allowedScopes: ["openid", "email", "signet:users:read"] },
    });
    assert.deepEqual(
      [(await shown())["name"], (await shown())["scopes"]],
      ["Renamed", ["email", "openid", "signet:users:read"]],
    );
    await eventuallyThere((status) => status === 200);
    const { body: record } = await atHome.call("GET", `/applications/${id()}`);
    const [secret] = record["secrets"] as Array<{ id: string }>;
    assert.equal((await atHome.call("DELETE", `/applications/${id()}/secrets/${secret?.id}`)).status, 204);
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 401);
    await eventuallyThere((status) => status === 401);
    const added = await atHome.call("POST", `/applications/${id()}/secrets`, { body: {} });
    client = { ...client, secret: String(added.body["clientSecret"]) };
    await eventuallyThere((status) => status === 200);

    const token = String((await askForToken(tenant, "signet:users:read")).body["access_token"]);
    const users = `${running.baseUrl}/api/v1/organisations/${tenant.organisation.id}/users`;
    const call = async () => (await fetch(users, { headers: { authorization: `Bearer ${token}` } })).status;
    assert.equal(await call(), 200);
    await atHome.call("PATCH", `/applications/${id()}`, { body: { enabled: false } });
    assert.deepEqual([(await shown())["state"], await call()], ["disabled", 401]);
    await atHome.call("PATCH", `/applications/${id()}`, { body: { enabled: true } });
    assert.equal((await shown())["state"], "enabled");
    assert.equal((await atHome.call("DELETE", `/applications/${id()}`)).status, 204);
    assert.equal((await atTenant.call("GET", path())).status, 404);
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 401);
  });

  test("withdrawn, by either: its tokens here end, those at home and elsewhere stay", async () => {
    const third = await makeOrganisation(running.service, "Elsewhere");
    const atThird = await makeApiClient(running.service, third, ["signet:applications:write"]);
    await offer("any");
    await enable(scopes);
    await atThird.call("PUT", path(), { body: { scopes } });
    const ofHome = await getTokens(home, {}, client);
    const ofThird = await getTokens(third, {}, client);
    const mine = await getTokens(tenant, {}, client);
    assert.equal((await atTenant.call("DELETE", path())).status, 204);
    assert.equal((await atTenant.call("DELETE", path())).status, 404);
    assert.equal((await refresh(tenant, mine.refreshToken, {}, client)).status, 401);
    assert.equal((await introspect(third, ofThird.accessToken))["active"], true);
    await enable(scopes);
    assert.equal((await introspect(tenant, mine.accessToken))["active"], false, "enabling revives none");
    await offer([tenant.organisation.id]);
    assert.equal((await refresh(third, ofThird.refreshToken, {}, client)).status, 401);
    assert.equal((await introspect(home, ofHome.accessToken))["active"], true);
    const events = await listAuditEvents(running.service.database.query, third.organisation.id, 20);
    assert.ok(
      events.some(({ action, target }) => action === "shared-application.withdrawn" && target === id()),
    );
  });

  test("only its home can change it; its home disabled, it is so everywhere", async () => {
    await offer("any");
    await enable([...scopes, "signet:users:read"]);
    const here = `/applications/${id()}`;
    const { body } = await atTenant.call("GET", here);
    assert.deepEqual([body["sharedBy"], body["secrets"]], [home.organisation.id, []]);
    for (const [method, at, sent] of [
      ["PATCH", here, { body: { name: "Mine" } }],
      ["PATCH", here, { body: { redirectUris: ["https://evil.example/"] } }],
      ["DELETE", here, {}],
      ["POST", `${here}/secrets`, { body: {} }],
    ] as const) {
      const { status, body: problem } = await atTenant.call(method, at, sent);
      assert.deepEqual(
        [status, problem["type"]],
        [409, "urn:signet:error:foreign-application"],
        `${method} ${at}`,
      );
    }
    assert.equal((await atTenant.call("PUT", `${here}/users/${tenant.user.id}`)).status, 204);
    const token = await getTokens(tenant, {}, client);
    const key = { orgId: home.organisation.id, actor: "test" };
    await setOrganisationStatus(running.service, { ...key, disabled: true });
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 401);
    assert.equal((await introspect(tenant, token.accessToken))["active"], undefined);
    await setOrganisationStatus(running.service, { ...key, disabled: false });
    assert.equal((await askForToken(tenant, "signet:users:read")).status, 200);
  });

  test("gives itself no more with its own token here, and does not withdraw itself", async () => {
    await atHome.call("PATCH", `/applications/${id()}`, { body: { allowedScopes: own } });
    await offer("any");
    const full = await makeApiClient(running.service, tenant, ["signet:applications:write"]);
    assert.equal((await full.call("PUT", path(), { body: { scopes: own.slice(0, 2) } })).status, 200);
    const { body } = await askForToken(tenant, "signet:applications:write");
    const url = `${running.baseUrl}/api/v1/organisations/${tenant.organisation.id}${path()}`;
    const headers = { authorization: `Bearer ${body["access_token"]}`, "content-type": "application/json" };
    for (const [method, sent] of [
      ["PUT", { body: JSON.stringify({ scopes: own }) }],
      ["DELETE", {}],
    ] as const) {
      const answer = await fetch(url, { method, headers, ...sent });
      const { type } = (await answer.json()) as { type: string };
      assert.deepEqual([answer.status, type], [409, "urn:signet:error:own-application"], method);
    }
    const { scopes: kept } = (await full.call("GET", path())).body;
    assert.deepEqual(kept, own.slice(0, 2).toSorted());
  });

  test("offers that make no sense are refused", async () => {
    for (const shared of [
      {},
      { organisations: "all" },
      { organisations: ["x"] },
      "any",
      { organisations: "any", more: 1 },
    ])
      assert.equal((await atHome.call("PATCH", `/applications/${id()}`, { body: { shared } })).status, 422);
    const tls = { tokenEndpointAuthMethod: "tls_client_auth", shared: { organisations: "any" } };
    assert.equal((await atHome.call("PATCH", `/applications/${id()}`, { body: tls })).status, 422);
  });
});
