import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { setOrganisationStatus } from "../../core/organisations/organisations.ts";
import type { ApiScope } from "../../core/scopes/api-scopes.ts";
import type { AccessTokenClaims } from "../../core/tokens/claims.ts";
import { releaseTokens } from "../../core/tokens/signer.ts";
import { newTokenId } from "../../core/tokens/token-family.ts";
import { changeRole } from "../../core/users/member-record.ts";
import type { Role } from "../../core/users/user.ts";
import { createUser } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { testBrowser } from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { type ApiClient, callApiV1, makeApiClient, tokenFor } from "../../testing/fixtures/api-client.ts";
import {
  certificateFixture,
  clientCredentials,
  serviceSettings,
} from "../../testing/fixtures/certificate-fixture.ts";
import { credentials, getTokens, postForm, refresh } from "../../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode, makeDeviceApp, poll } from "../../testing/fixtures/device.ts";
import { defineOlderScope, defineScopes } from "../../testing/fixtures/scopes.ts";
import { payloadOf } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const CALLS = 40;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let second: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let reader: ApiClient;
  let api: string;
  let path: string;
  before(async () => {
    const databaseUrl = await fresh();
    clock = fakeClock();
    const env = { SIGNET_RATE_LIMITS: `api-client=${CALLS}/60` };
    running = await startTestService({ databaseUrl, clock, env, passwords: quickPasswords });
    const { baseUrl } = running;
    second = await startTestService({ databaseUrl, clock, env, passwords: quickPasswords, baseUrl });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    reader = await makeApiClient(running.service, org, ["signet:users:read"]);
    api = `${baseUrl}/api/v1`;
    path = `/users/${org.user.id}`;
  });
  after(async () => {
    await second.close();
    await running.close();
    assert.deepEqual([...running.errors, ...second.errors], []);
  });

  const client = (scopes: readonly ApiScope[] = ["signet:users:read"], of = org) =>
    makeApiClient(running.service, of, scopes);
  const grantTypes = ["client_credentials"] as const;
  const withScopes = async (...scopes: string[]) => {
    await defineScopes(
      running.service,
      org.organisation.id,
      ...scopes.filter((one) => !/^signet:/.test(one)),
    );
    return makeClient(running.service, org.organisation, {
      ...{ grantTypes, allowedScopes: scopes, allowedResources: ["https://jobs.example"] },
    });
  };
  const keyOf = ({ application }: ApiClient) => ({
    ...{ orgId: application.orgId, id: application.id, actor: "test" },
  });

  test("without a good token there is a challenge, at another organisation too", async () => {
    const none = await reader.call("GET", path, { headers: { authorization: "" } });
    assert.deepEqual([none.status, none.body["type"]], [401, "urn:signet:error:not-authenticated"]);
    assert.equal(none.headers.get("www-authenticate"), 'Bearer realm="api/v1"');
    const { accessToken } = await getTokens(org);
    const [head, body] = reader.accessToken.split(".");
    for (const [what, token] of Object.entries({
      "of a user": accessToken,
      "for another audience": await tokenFor(org, await withScopes("audited:jobs")),
      "not a token": "x",
      "with another signature": `${head}.${body}.${"A".repeat(86)}`,
    })) {
      for (const orgId of [org.organisation.id, other.organisation.id]) {
        const refused = await reader.call("GET", path, { accessToken: token, orgId });
        assert.equal(refused.status, 401, what);
        assert.match(refused.headers.get("www-authenticate") ?? "", /^Bearer .*error="invalid_token"$/, what);
      }
    }
  });

  test("another organisation is not found, whether it exists or not", async () => {
    for (const orgId of [other.organisation.id, crypto.randomUUID(), "x"])
      for (const id of [org.user.id, other.user.id]) {
        const answer = await reader.call("GET", `/users/${id}`, { orgId });
        assert.deepEqual([answer.status, answer.body["type"]], [404, "urn:signet:error:not-found"]);
      }
    assert.equal((await reader.call("GET", `/users/${other.user.id}`)).status, 404);
    assert.equal((await reader.call("GET", path)).status, 200);
  });

  test("a missing scope is named; write includes read", async () => {
    const refused = await reader.call("PATCH", path, { body: { nickname: "x" } });
    assert.deepEqual([refused.status, refused.body["type"]], [403, "urn:signet:error:insufficient-scope"]);
    const challenge = refused.headers.get("www-authenticate") ?? "";
    assert.match(challenge, /error="insufficient_scope".*scope="signet:users:write"/);
    const none = await client(["signet:organisation:write"]);
    assert.equal((await none.call("GET", path)).status, 403);
    assert.equal((await (await client(["signet:users:write"])).call("GET", path)).status, 200);
  });

  test("the audience is the API: alone, beside others, or as the resource that was asked for", async () => {
    assert.equal(payloadOf(reader.accessToken)["aud"], api);
    const mixed = await withScopes("signet:users:read", "mixed:jobs");
    const audienceOf = async (more: Record<string, string>) =>
      payloadOf(await tokenFor(org, mixed, more))["aud"];
    assert.deepEqual(await audienceOf({}), [org.issuer, api]);
    assert.equal(await audienceOf({ scope: "signet:users:read" }), api);
    assert.equal(await audienceOf({ scope: "mixed:jobs" }), org.issuer);
    assert.equal(await audienceOf({ scope: "signet:users:read", resource: api }), api);
    const elsewhere = payloadOf(await tokenFor(org, mixed, { resource: "https://jobs.example" }));
    assert.deepEqual([elsewhere["aud"], elsewhere["scope"]], ["https://jobs.example", "mixed:jobs"]);
    const form = { grant_type: "client_credentials", ...credentials(mixed) };
    const both = { ...form, resource: "https://jobs.example", scope: "signet:users:read" };
    assert.equal((await postForm(`${org.issuer}/token`, both)).body["error"], "invalid_scope");
    const without = { grant_type: "client_credentials", ...credentials(await withScopes("other:jobs")) };
    const refused = await postForm(`${org.issuer}/token`, { ...without, resource: api });
    assert.equal(refused.body["error"], "invalid_target");
  });

  const webClient = (settings: object = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: ["https://app.example/callback"],
      allowedScopes: ["openid", "signet:users:write"],
      allowedResources: ["https://jobs.example"],
      ...settings,
    });
  const setRole = (role: Role, of = org) =>
    changeRole(running.service, {
      ...{ orgId: of.organisation.id, id: of.user.id, role, actor: "test" },
    });
  const asRole = async (role: Role, work: () => Promise<void>) => {
    const { organisation } = org;
    const other = { email: `root${Math.random()}@acme.example`, password: "plum tractor ninety" };
    await createUser(running.service, {
      ...{ organisation, ...other, firstname: "", surname: "", role: "Administrator", emailVerified: true },
      actor: "test",
    });
    await setRole(role);
    await work().finally(() => setRole("Standard"));
  };

  test("no token of a user who is no administrator has access, whatever the application may ask for", async () => {
    const { body, accessToken } = await getTokens(
      org,
      { scope: "openid signet:users:write" },
      await webClient(),
    );
    assert.equal(body["scope"], "openid");
    assert.equal((await reader.call("GET", path, { accessToken })).status, 401);
  });

  test("an administrator's token has access while they are one, on every node", async () =>
    asRole("Administrator", async () => {
      const web = await webClient();
      const tokens = await getTokens(org, { scope: "openid signet:users:write offline_access" }, web);
      const { accessToken } = tokens;
      assert.equal(tokens.body["scope"], "openid signet:users:write");
      assert.deepEqual(payloadOf(accessToken)["aud"], [org.issuer, api]);
      const alone = await getTokens(org, { scope: "signet:users:write" }, web);
      assert.equal(payloadOf(alone.accessToken)["aud"], api);
      assert.equal(
        (await reader.call("PATCH", path, { accessToken, body: { nickname: "Boss" } })).status,
        403,
      );
      const ofOther = await reader.call("GET", `/users/${other.user.id}`, {
        ...{ accessToken, orgId: other.organisation.id },
      });
      assert.equal(ofOther.status, 404);
      const at = (node: TestService) =>
        callApiV1("GET", `${node.baseUrl}/api/v1/organisations/${org.organisation.id}${path}`, {
          accessToken,
        });
      for (const node of [running, second]) assert.equal((await at(node)).status, 200);
      await setRole("Standard");
      for (const node of [running, second]) assert.equal((await at(node)).status, 401);
      const refreshed = await refresh(org, tokens.refreshToken, {}, web);
      assert.equal(refreshed.body["scope"], "openid");
      await setRole("Administrator");
      await postForm(`${org.issuer}/revoke`, { token: alone.accessToken, ...credentials(web) });
      assert.equal((await reader.call("GET", path, { accessToken: alone.accessToken })).status, 401);
    }));

  test("an administrator's token for another resource gives it no access to the API", async () =>
    asRole("Administrator", async () => {
      const more = { scope: "openid signet:users:write", resource: "https://jobs.example" };
      const { body, accessToken } = await getTokens(org, more, await webClient());
      assert.equal(body["scope"], "openid");
      assert.ok(![payloadOf(accessToken)["aud"]].flat().includes(api));
    }));

  test("a device's token has access when an administrator has approved it", async () => {
    for (const [role, scope] of [
      ["Administrator", "openid signet:users:read"],
      ["Standard", "openid"],
    ] as const)
      await asRole(role, async () => {
        const device = await makeDeviceApp(running.service, org, {
          allowedScopes: ["openid", "signet:users:read"],
        });
        const codes = await askForCodes(org, device, { scope: "openid signet:users:read" });
        await decideDeviceCode(testBrowser(), org, codes);
        assert.equal((await poll(org, codes)).body["scope"], scope);
      });
  });

  test("a genuine token that names a user as its subject gives no access", async () => {
    const { application, accessToken } = reader;
    const claims = payloadOf(accessToken) as unknown as AccessTokenClaims;
    const sign = async (more: Partial<AccessTokenClaims>) => {
      const unsigned = { organisation: org.organisation, application, accessToken: { ...claims, ...more } };
      const context = { grantType: "client_credentials", address: "" } as const;
      return (await releaseTokens(await running.service.signer.sign(unsigned, context))).accessToken;
    };
    const call = async (more: Partial<AccessTokenClaims>) =>
      (await reader.call("GET", path, { accessToken: await sign(more) })).status;
    assert.equal(await call({}), 200);
    assert.equal(await call({ sub: org.user.id }), 401);
    assert.equal(await call({ jti: newTokenId(crypto.randomUUID()) }), 401);
  });

  test("an organisation's own older scope of that name gives no access", async () => {
    const far = await makeOrganisation(running.service, "Far");
    const orgId = far.organisation.id;
    await defineOlderScope(running.service, orgId, "signet:users:read");
    const own = await client(["signet:users:read"], far);
    assert.equal(payloadOf(own.accessToken)["scope"], "signet:users:read");
    assert.equal((await own.call("GET", `/users/${far.user.id}`)).status, 401);
    const made = defineScopes(running.service, org.organisation.id, "signet:users:delete");
    await assert.rejects(made, /must not begin with signet:/);
  });

  test("what ends a token ends its access at once, and at another node within a second", async () => {
    const ends: Record<string, (one: ApiClient) => Promise<unknown>> = {
      revoked: (one) => postForm(`${org.issuer}/revoke`, { token: one.accessToken, ...credentials(one) }),
      disabled: (one) => setApplicationStatus(running.service, { ...keyOf(one), disabled: true }),
      "without the scope": (one) => changeSettings(one, { allowedScopes: ["openid"] }),
      "without the grant": (one) =>
        changeSettings(one, { grantTypes: ["authorization_code"], redirectUris: ["https://a.example/c"] }),
    };
    for (const [what, end] of Object.entries(ends)) {
      const one = await client();
      const at = (node: TestService) =>
        callApiV1("GET", `${node.baseUrl}/api/v1/organisations/${org.organisation.id}${path}`, one);
      for (const node of [running, second]) assert.equal((await at(node)).status, 200, what);
      await end(one);
      assert.ok([401, 403].includes((await at(running)).status), what);
      await eventually(`${what}, elsewhere`, async () => [401, 403].includes((await at(second)).status));
    }
    const far = await makeOrganisation(running.service, "Closed");
    const late = await client(["signet:users:read"], far);
    await setOrganisationStatus(running.service, {
      orgId: far.organisation.id,
      disabled: true,
      actor: "test",
    });
    assert.equal((await late.call("GET", `/users/${far.user.id}`)).status, 404);
  });

  const changeSettings = (one: ApiClient, settings: object) =>
    changeApplication(running.service, keyOf(one), (before) => ({
      ...{ name: before.name, disabled: false },
      settings: { ...before.settings, ...settings },
    }));

  test("an expired token is refused", async () => {
    const one = await client();
    assert.equal((await one.call("GET", path)).status, 200);
    clock.advance(one.application.settings.accessTokenLifetimeSeconds * 1000 + 1);
    assert.equal((await one.call("GET", path)).status, 401);
    reader = await client();
  });

  test("each client has its own limit, and every answer says how much of it is left", async () => {
    const [one, neighbour] = [await client(), await client()];
    const first = await one.call("GET", path);
    assert.equal(first.headers.get("ratelimit-policy"), `"api-client";q=${CALLS};w=60`);
    assert.equal(first.headers.get("ratelimit"), `"api-client";r=${CALLS - 1};t=60`);
    const missing = await one.call("GET", `/users/${crypto.randomUUID()}`);
    assert.match(missing.headers.get("ratelimit") ?? "", new RegExp(`r=${CALLS - 2};`));
    for (let count = 2; count < CALLS; count += 1) await one.call("GET", path);
    const over = await one.call("GET", path);
    assert.deepEqual([over.status, over.headers.get("retry-after")], [429, "60"]);
    assert.match(over.headers.get("ratelimit") ?? "", /r=0;/);
    assert.equal((await neighbour.call("GET", path)).status, 200);
    clock.advance(60_000);
    assert.equal((await one.call("GET", path)).status, 200);
  });
});

forEachDatabase(({ fresh }) => {
  test("a token that is bound to a certificate opens the API with that certificate only", async () => {
    const fixture = await certificateFixture(await fresh());
    try {
      const bound = { tlsClientCertificateBoundAccessTokens: true, allowedScopes: ["signet:users:read"] };
      const meters = await fixture.application({ ...serviceSettings, ...bound });
      const [mine, others] = [fixture.client(await fixture.device()), fixture.client(await fixture.device())];
      const { body } = await fixture.post(mine, "token", clientCredentials(meters.application));
      const path = `/api/v1/organisations/${fixture.org.organisation.id}/users/${fixture.org.user.id}`;
      const authorization = `Bearer ${String(body["access_token"])}`;
      assert.equal((await mine.get(path, { authorization })).status, 200);
      assert.equal((await others.get(path, { authorization })).status, 401);
      assert.equal((await fixture.client().get(path, { authorization })).status, 401);
    } finally {
      await fixture.close();
    }
  });
});
