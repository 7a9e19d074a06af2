/** Clients by API: the record as the contract has it, full replacement, what ends with them. */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { makePool } from "../../../testing/fixtures/agent.ts";
import {
  credentials,
  getCode,
  getTokens,
  postForm,
  redeem,
  refresh,
} from "../../../testing/fixtures/client.ts";
import { CLIENT_MEMBERS } from "../../../testing/fixtures/client-members.ts";
import { defineScopes } from "../../../testing/fixtures/scopes.ts";
import {
  type ApiRequest,
  callApi,
  makeSystemAccount,
  type TestAccount,
} from "../../../testing/fixtures/system-account.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

describe("management API: clients", () => {
  forEachDatabase(({ fresh }) => {
    let clock: FakeClock;
    let running: TestService;
    let org: TestOrganisation;
    let admin: TestAccount;
    before(async () => {
      clock = fakeClock();
      running = await startTestService({ databaseUrl: await fresh(), clock });
      org = await makeOrganisation(running.service);
      admin = await makeSystemAccount(running.service, org, { administrator: true });
      await defineScopes(running.service, org.organisation.id, "jobs:run", "payroll");
    });
    after(async () => {
      await running.close();
      assert.deepEqual(running.errors, []);
    });

    const call = (path: string, asked: ApiRequest = {}) =>
      callApi(`${running.baseUrl}/legacy/api/oauth/clients${path}`, admin, { strictAt: clock(), ...asked });
    const create = async (more: object = {}) => {
      const body = { name: "Shop", clientType: "confidential", redirectUris: [REDIRECT_URI], ...more };
      const answer = await call("", { body });
      assert.equal(answer.status, 201, answer.text);
      return { id: String(answer.body["clientId"]), ...answer };
    };
    const put = (id: string, body: unknown, headers: Record<string, string> = {}) =>
      call(`/${id}`, { method: "PUT", body, headers });
    const paths = (body: Record<string, unknown>) =>
      (body["errors"] as { path: string }[]).map(({ path }) => path).sort();
    const web = () => makeClient(running.service, org.organisation, { redirectUris: [REDIRECT_URI] });
    const given = async ({ application }: TestClient, more: object) => {
      const { body } = await call(`/${application.id}`);
      const answer = await put(application.id, { ...body, ...more });
      assert.equal(answer.status, 200, answer.text);
      return answer;
    };

    test("a new client has the contract's members, the defaults, and its first secret once", async () => {
      const { id, body, headers } = await create();
      assert.deepEqual(Object.keys(body).sort(), [...CLIENT_MEMBERS, "clientSecret"].sort());
      assert.equal(headers.get("location"), `${running.baseUrl}/legacy/api/oauth/clients/${id}`);
      const { clientSecret, ...record } = body;
      assert.match(String(clientSecret), /^sgn_cs_/);
      const read = await call(`/${id.toUpperCase()}`);
      assert.deepEqual(read.body, record);
      assert.equal(read.headers.get("etag"), headers.get("etag"));
      assert.deepEqual(
        [
          record["AccessTokenLifetimeSeconds"],
          record["RefreshTokenLifetimeSeconds"],
          record["RequireConsent"],
        ],
        [3600, 86_400, true],
      );
      assert.deepEqual(
        [record["allowPermanentKeys"], record["requireSignedKeyCalls"], record["access"], record["enabled"]],
        [false, false, "everyone", true],
      );
      assert.match(String(record["createdAt"]), /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      const [secret] = record["secrets"] as Record<string, unknown>[];
      assert.equal(secret?.["hint"], String(clientSecret).slice(-4));
      assert.deepEqual(Object.keys(secret ?? {}).sort(), [
        "createdAt",
        "expiresAt",
        "hint",
        "id",
        "label",
        "lastUsedAt",
        "revokedAt",
      ]);
      assert.ok(!read.text.includes("sgn_cs_"));
    });

    test("the secret works immediately, and public clients get none", async () => {
      const { id, body } = await create({ grantTypes: ["client_credentials"], allowedScopes: ["jobs:run"] });
      const answer = await postForm(`${org.issuer}/token`, {
        grant_type: "client_credentials",
        client_id: id,
        client_secret: String(body["clientSecret"]),
      });
      assert.equal(answer.status, 200);
      const native = await create({ clientType: "native", redirectUris: ["com.example.app:/cb"] });
      assert.deepEqual(["clientSecret" in native.body, native.body["secrets"]], [false, []]);
      const devices = { tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSanUri: "urn:x:device:1" };
      const meters = await create({ ...devices, tlsClientCertificateBoundAccessTokens: true });
      assert.ok(!("clientSecret" in meters.body));
      assert.equal(meters.body["tlsClientAuthSanUri"], devices.tlsClientAuthSanUri);
      assert.equal(meters.body["tlsClientCertificateBoundAccessTokens"], true);
    });

    test("a client joins a pool of its organisation, and leaves it when the member is omitted", async () => {
      const [pool, elsewhere] = [
        await makePool(running.service, org),
        await makePool(running.service, await makeOrganisation(running.service, "Elsewhere")),
      ];
      const { body } = await given(await web(), { signingPoolId: pool.id });
      assert.equal(body["signingPoolId"], pool.id);
      const id = String(body["clientId"]);
      for (const signingPoolId of [elsewhere.id, org.organisation.id, "x", ""]) {
        const answer = await put(id, { ...body, signingPoolId });
        assert.equal(answer.status, 422, answer.text);
        assert.deepEqual(paths(answer.body), ["/signingPoolId"]);
      }
      // Nobody could sign its logout tokens so that it believes them.
      const told = await put(id, { ...body, backchannelLogoutUri: "https://app.example/logout" });
      assert.deepEqual([told.status, paths(told.body)], [422, ["/backchannelLogoutUri"]]);
      assert.equal((await put(id, { ...body, signingPoolId: null })).body["signingPoolId"], null);
    });

    test("a record can be sent back as read, and changed", async () => {
      const full = {
        description: "Sells things",
        logoUri: "https://shop.example/logo.png",
        homepageUri: "https://shop.example/",
        postLogoutRedirectUris: ["https://shop.example/bye"],
        returnUrls: ["https://shop.example/back"],
        grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
        allowedScopes: ["openid", "payroll"],
        tokenEndpointAuthMethod: "client_secret_basic",
        jwksUri: "https://shop.example/jwks.json",
        RequireConsent: true,
        consentMode: "organisation",
        requirePkce: false,
        AccessTokenLifetimeSeconds: 600,
        RefreshTokenLifetimeSeconds: 7200,
        refreshTokenAbsoluteLifetimeSeconds: 86_400,
        refreshTokenGraceSeconds: 0,
        issueRefreshTokenWithoutOfflineAccess: false,
        idTokenIncludesScopeClaims: true,
        idTokenSignedResponseAlg: "RS256",
        accessTokenSignedResponseAlg: "EdDSA",
        audience: "https://api.shop.example",
        backchannelLogoutUri: "https://shop.example/logout",
        contacts: ["ops@shop.example"],
        access: "assigned",
        requiredAcr: "urn:signet:acr:mfa",
        allowedResources: ["https://api.shop.example/a"],
        allowPermanentKeys: true,
        requireSignedKeyCalls: true,
      };
      const { id } = await create(full);
      const first = await call(`/${id}`);
      for (const [member, value] of Object.entries(full)) assert.deepEqual(first.body[member], value, member);
      clock.advance(1000);
      const same = await put(id, first.body);
      assert.equal(same.status, 200, same.text);
      assert.deepEqual(same.body, first.body, "nothing was written");
      const renamed = await put(id, { ...same.body, name: "Store", jwksUri: null, audience: null });
      assert.deepEqual(
        [renamed.body["name"], renamed.body["jwksUri"], renamed.body["audience"]],
        ["Store", null, null],
      );
      assert.notEqual(renamed.body["updatedAt"], first.body["updatedAt"]);
      const created = await create();
      assert.equal((await put(created.id, created.body)).status, 200, "even the answer that made it");
    });

    test("a replacement is complete: an omitted member returns to its default", async () => {
      const { application } = await makeClient(running.service, org.organisation, {
        redirectUris: [REDIRECT_URI],
        accessTokenLifetimeSeconds: 120,
        refreshTokenGraceSeconds: 0,
      });
      const { body } = await put(application.id, { name: "Bare" });
      assert.deepEqual([body["redirectUris"], body["AccessTokenLifetimeSeconds"]], [[], 3600]);
      const inside = await running.service.applications.read(org.organisation.id, application.id);
      assert.equal(inside?.settings.refreshTokenGraceSeconds, 10);
    });

    test("read-only members and records of other organisations can't be changed", async () => {
      const { id, body } = await create();
      const forged = {
        ...body,
        clientId: org.web.application.id,
        secrets: [],
        createdAt: "2000-01-01T00:00:00Z",
      };
      const after = (await put(id, forged)).body;
      assert.deepEqual(
        [after["clientId"], after["createdAt"], (after["secrets"] as unknown[]).length],
        [id, body["createdAt"], 1],
      );
      for (const member of ["orgId", "org_id", "version", "settings", "signingPoolId"]) {
        const refused = await put(id, { name: "Shop", [member]: "x" });
        assert.deepEqual([refused.status, paths(refused.body)], [422, [`/${member}`]]);
      }
      const made = await call("", { body: { name: "x", clientType: "spa", clientId: id, createdAt: "x" } });
      assert.deepEqual([made.status, paths(made.body)], [422, ["/clientId", "/createdAt"]]);
      const polluted = `{"name":"x","clientType":"spa","__proto__":{"access":"assigned"}}`;
      assert.equal((await call("", { body: polluted })).status, 422);
    });

    test("reports every fault with its path", async () => {
      const wrong = await call("", {
        body: {
          name: " ",
          clientType: "spa",
          redirectUris: ["https://ok.example/cb", "javascript:alert(1)"],
          grantTypes: ["client_credentials"],
          AccessTokenLifetimeSeconds: 59,
          RefreshTokenLifetimeSeconds: 31_536_001,
          contacts: ["a\u202eb"],
          requirePkce: false,
        },
      });
      assert.equal(wrong.status, 422);
      assert.deepEqual(paths(wrong.body), [
        "/AccessTokenLifetimeSeconds",
        "/RefreshTokenLifetimeSeconds",
        "/contacts/0",
        "/grantTypes",
        "/name",
        "/redirectUris/1",
        "/requirePkce",
      ]);
      const types = { name: 1, clientType: "desktop", redirectUris: "x", contacts: [1], enabled: "yes" };
      const misformed = await call("", { body: types });
      assert.deepEqual(
        [misformed.status, paths(misformed.body)],
        [422, ["/clientType", "/contacts/0", "/enabled", "/name", "/redirectUris"]],
      );
      const key = { kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" };
      const jwks = await call("", { body: { name: "x", clientType: "confidential", jwks: { keys: [key] } } });
      assert.deepEqual(paths(jwks.body), ["/jwks/keys/0"]);
      const { id } = await create();
      const other = await put(id, { name: "x", clientType: "spa" });
      assert.deepEqual([other.status, paths(other.body)], [422, ["/clientType"]]);
    });

    test("rejects a stale change, also under concurrency", async () => {
      const { id, body, headers } = await create();
      const etag = headers.get("etag") ?? "";
      const first = await put(id, { ...body, name: "First" }, { "if-match": etag });
      assert.equal(first.status, 200);
      const second = await put(id, { ...body, name: "Second" }, { "if-match": etag });
      assert.deepEqual([second.status, second.body["type"]], [412, "urn:signet:error:stale"]);
      assert.equal((await call(`/${id}`, { method: "DELETE", headers: { "if-match": etag } })).status, 412);
      assert.equal((await call(`/${id}`)).body["name"], "First");
      const now = first.headers.get("etag") ?? "";
      const race = await Promise.all(
        Array.from({ length: 8 }, (_, n) => put(id, { ...body, name: `N${n}` }, { "if-match": now })),
      );
      assert.deepEqual(race.map(({ status }) => status).sort(), [200, ...Array(7).fill(412)]);
      const all = await Promise.all(Array.from({ length: 8 }, (_, n) => put(id, { ...body, name: `M${n}` })));
      assert.ok(
        all.every(({ status }) => status === 200),
        "without a tag the last one wins, and nobody is told to come again",
      );
      assert.equal((await put(id, body, { "if-match": "*" })).status, 200);
    });

    test("of RequireConsent and consentMode the changed one wins, and a contradiction is rejected", async () => {
      const { id, body } = await create();
      assert.deepEqual([body["RequireConsent"], body["consentMode"]], [true, "user"]);
      const consent = async (more: object) => {
        const read = await call(`/${id}`);
        const answer = await put(id, { ...read.body, ...more });
        return answer.status === 200
          ? [answer.body["RequireConsent"], answer.body["consentMode"]]
          : paths(answer.body);
      };
      assert.deepEqual(await consent({ RequireConsent: false }), [false, "preauthorized"]);
      assert.deepEqual(await consent({ RequireConsent: true }), [true, "user"]);
      assert.deepEqual(await consent({ consentMode: "preauthorized" }), [false, "preauthorized"]);
      assert.deepEqual(await consent({ consentMode: "organisation" }), [true, "organisation"]);
      assert.deepEqual(await consent({ RequireConsent: false, consentMode: "user" }), ["/consentMode"]);
      const made = { name: "x", clientType: "confidential", RequireConsent: false, consentMode: "user" };
      assert.deepEqual(paths((await call("", { body: made })).body), ["/consentMode"]);
    });

    test("disabling revokes refresh tokens and codes permanently; enabling allows new ones", async () => {
      const client = await web();
      const { refreshToken } = await getTokens(org, {}, client);
      const code = await getCode(org, {}, client);
      assert.equal((await given(client, { enabled: false })).body["enabled"], false);
      assert.equal((await refresh(org, refreshToken, {}, client)).status, 401);
      assert.equal((await given(client, { enabled: true })).body["enabled"], true);
      assert.equal((await refresh(org, refreshToken, {}, client)).body["error"], "invalid_grant");
      assert.equal((await redeem(org, code, client)).body["error"], "invalid_grant");
      await getTokens(org, {}, client);
      const made = await create({ enabled: false });
      assert.equal(made.body["enabled"], false);
      const form = { client_id: made.id, client_secret: String(made.body["clientSecret"]) };
      assert.equal((await postForm(`${org.issuer}/introspect`, { token: "x", ...form })).status, 401);
    });

    test("removed scopes are dropped from refresh tokens", async () => {
      const client = await web();
      const { refreshToken } = await getTokens(org, { scope: "openid email phone" }, client);
      await given(client, { allowedScopes: ["openid", "email"] });
      const { body } = await refresh(org, refreshToken, {}, client);
      assert.deepEqual(String(body["scope"]).split(" ").sort(), ["email", "openid"]);
    });

    test("deleting revokes everything permanently", async () => {
      const client = await web();
      const tokens = await getTokens(org, {}, client);
      const code = await getCode(org, {}, client);
      const asked = { token: tokens.accessToken, ...credentials(org.web) };
      const { id } = client.application;
      assert.equal((await call(`/${id}`, { method: "DELETE" })).status, 204);
      assert.equal((await call(`/${id}`)).status, 404);
      assert.equal((await call(`/${id}`, { method: "DELETE" })).status, 404);
      assert.equal((await put(id, { name: "Back" })).status, 404);
      assert.equal((await refresh(org, tokens.refreshToken, {}, client)).status, 401);
      assert.equal((await redeem(org, code, client)).status, 401);
      assert.equal((await postForm(`${org.issuer}/introspect`, asked)).body["active"], false);
      const headers = { authorization: `Bearer ${tokens.accessToken}` };
      assert.equal((await fetch(`${org.issuer}/userinfo`, { headers })).status, 401);
      const [event] = await listAuditEvents(running.service.database.query, org.organisation.id, 1);
      assert.deepEqual(
        [event?.action, event?.target, event?.actor],
        ["application.deleted", id, `system-account:${admin.id}`],
      );
    });

    test("a caller can't delete its own client; other accounts are deleted with theirs", async () => {
      const own = await call(`/${org.web.application.id}`, { method: "DELETE" });
      assert.deepEqual([own.status, own.body["type"]], [409, "urn:signet:error:own-application"]);
      const client = await web();
      const other = await makeSystemAccount(running.service, org, {
        administrator: true,
        applicationId: client.application.id,
      });
      const url = `${running.baseUrl}/legacy/api/oauth/clients`;
      assert.equal((await callApi(url, other)).status, 200);
      assert.equal((await call(`/${client.application.id}`, { method: "DELETE" })).status, 204);
      assert.equal((await callApi(url, other)).status, 401);
    });

    test("pages in the order of creation without gaps or duplicates under concurrent creation", async () => {
      const other = await makeOrganisation(running.service, "Paged");
      const account = await makeSystemAccount(running.service, other, { administrator: true });
      const url = `${running.baseUrl}/legacy/api/oauth/clients`;
      const all = (await callApi(url, account)).body["items"] as { clientId: string; secrets: unknown[] }[];
      assert.deepEqual(
        all.map(({ secrets }) => secrets.length),
        [1, 1, 0],
      );
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const { body } = await callApi(`${url}?limit=2${cursor && `&cursor=${cursor}`}`, account);
        seen.push(...(body["items"] as { clientId: string }[]).map(({ clientId }) => clientId));
        if (cursor === "") await callApi(url, account, { body: { name: "Late", clientType: "spa" } });
        cursor = body["nextCursor"] as string | null;
      }
      assert.equal(seen.length, 4);
      assert.deepEqual(
        seen.slice(0, 3),
        all.map(({ clientId }) => clientId),
      );
      assert.deepEqual(seen, [...seen].sort());
    });
  });
});
