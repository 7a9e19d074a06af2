/** A browser session ends with the machine that it began on, on every node, and everything that rests on it. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { listAuditEvents } from "../../../../core/audit/audit.store.ts";
import { revokeDevice } from "../../../../core/devices/revoke-device.ts";
import { issueSessionKey, validateSessionKey } from "../../../../core/session-keys/session-keys.ts";
import { acrValues } from "../../../../core/sessions/session.ts";
import { forEachDatabase, freshPostgres, type Scratch } from "../../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../../testing/fakes/browser.ts";
import { codeSource } from "../../../../testing/fakes/code-source.ts";
import { fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import {
  type CertificateFixture,
  certificateFixture,
  signInSettings,
} from "../../../../testing/fixtures/certificate-fixture.ts";
import { credentials, postForm, refresh } from "../../../../testing/fixtures/client.ts";
import {
  clientCertHeader,
  type EnrolledDevice,
  enrolledDevice,
} from "../../../../testing/fixtures/enrolled-device.ts";
import { logIn, showsLogin, tokensOf, visit } from "../../../../testing/fixtures/visit.ts";
import { assertOAuthError } from "../../../../testing/probes/answers.ts";
import { type TestListeners, testListeners } from "../../../../testing/test-listeners.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

/** A browser behind a proxy that terminates TLS and tells the certificate. */
function browserOn(device: EnrolledDevice): TestBrowser {
  const browser = testBrowser();
  const shown = { "client-cert": clientCertHeader(device.der) };
  return {
    cookies: browser.cookies,
    get: (url, headers) => browser.get(url, { ...headers, ...shown }),
    post: (url, form, headers) => browser.post(url, form, { ...headers, ...shown }),
  };
}

const behindProxy = (org: TestOrganisation, { proxyUrl }: Pick<TestListeners, "proxyUrl">) => ({
  ...org,
  issuer: `${proxyUrl}/oauth/${org.organisation.id}`,
});

const revoke = ({ service }: TestService, { orgId, id: deviceId }: EnrolledDevice) =>
  revokeDevice(service, { orgId, deviceId, reason: "keyCompromise", actor: "operator" });

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let org: TestOrganisation;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    org = behindProxy(fixture.org, fixture.listeners);
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const session = async (id: string) => {
    const row = await fixture.running.service.database.query
      .selectFrom("browser_session")
      .select(["device_id", "ended_at"])
      .where("org_id", "=", org.organisation.id)
      .where("id", "=", id)
      .executeTakeFirstOrThrow();
    return { ...row };
  };
  const isSignedIn = async (browser: TestBrowser) => !showsLogin(await visit(browser, org));
  const isActive = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.web) })).body["active"];

  test("a session that began with a device's certificate ends with the device, and what rests on it", async () => {
    const { service } = fixture.running;
    const [device, neighbour] = [await fixture.device(), await fixture.device()];
    const [browser, other, plain] = [browserOn(device), browserOn(neighbour), testBrowser()];
    const tokens = await tokensOf(browser, org, { scope: "openid offline_access" });
    const others = await tokensOf(other, org);
    await tokensOf(plain, org);
    const { sid: sessionId } = tokens.claims;
    assert.deepEqual(await session(sessionId), { device_id: device.id, ended_at: null });
    const { secret } = await service.database.transaction((tx) =>
      issueSessionKey(tx, {
        ...{ orgId: device.orgId, applicationId: org.web.application.id, userId: org.user.id, sessionId },
        ...{
          authTime: fixture.clock(),
          amr: ["pwd"],
          acr: acrValues.password,
          address: "",
          now: fixture.clock(),
        },
      }),
    );
    // The certificate is not asked for again: the cookie alone goes on.
    const copy = testBrowser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    assert.equal(await isSignedIn(copy), true);

    assert.equal(await revoke(fixture.running, device), true);
    for (const one of [browser, copy]) assert.equal(await isSignedIn(one), false);
    for (const one of [other, plain]) assert.equal(await isSignedIn(one), true);
    assert.equal((await session(sessionId)).ended_at, fixture.clock());
    assert.deepEqual([await isActive(tokens.accessToken), await isActive(others.accessToken)], [false, true]);
    assertOAuthError(await refresh(org, tokens.refreshToken), 400, "invalid_grant");
    assert.equal(typeof (await validateSessionKey(service, secret)), "string");
    const keys = service.database.query.selectFrom("session_key").select("revoked_reason");
    const ended = await keys.where("session_id", "=", sessionId).execute();
    assert.deepEqual(
      ended.map((key) => key.revoked_reason),
      ["device_revoked"],
    );
    const events = await listAuditEvents(service.database.query, device.orgId, 10);
    const [revoked, told] = ["device.revoked", "user.session-ended"].map((action) =>
      events.find((event) => event.action === action),
    );
    assert.deepEqual([revoked?.target, revoked?.details["sessions"]], [device.id, 1]);
    assert.deepEqual(
      [told?.actor, told?.target, told?.details],
      ["operator", org.user.id, { sessionId, deviceId: device.id }],
    );
  });

  test("a session that ended before leaves its refresh token with offline_access to the device", async () => {
    const device = await fixture.device();
    const browser = browserOn(device);
    const { refreshToken, claims } = await tokensOf(browser, org, { scope: "openid offline_access" });
    await fixture.running.service.database.query
      .updateTable("browser_session")
      .set({ ended_at: fixture.clock() })
      .where("id", "=", claims.sid)
      .execute();
    const next = await refresh(org, String(refreshToken));
    assert.equal(next.status, 200);
    await revoke(fixture.running, device);
    assertOAuthError(await refresh(org, String(next.body["refresh_token"])), 400, "invalid_grant");
  });

  test("nobody signs in with a revoked device's certificate; one of nobody here says nothing", async () => {
    const device = await fixture.device();
    await revoke(fixture.running, device);
    const browser = browserOn(device);
    const refused = await logIn(browser, org, await visit(browser, org));
    assert.equal(refused.status, 403);
    assert.equal(await isSignedIn(browser), false);
    const { claims } = await tokensOf(browserOn(await fixture.device(fixture.other)), org);
    assert.equal((await session(claims.sid)).device_id, null);
  });

  test("a session belongs to the machine whose client gets its code by a loopback redirect, and to no other", async () => {
    const settings = { ...signInSettings, tokenEndpointAuthMethod: "tls_client_auth" } as const;
    const native = await fixture.application({ ...settings, redirectUris: ["http://127.0.0.1:8765/back"] });
    const hosted = await fixture.application({ ...settings, redirectUris: ["https://app.example/back"] });
    for (const [client, device_id, isLeft] of [
      [hosted, null, true],
      [native, "device", false],
    ] as const) {
      const device = await fixture.device();
      const source = codeSource(fixture.org);
      const { code, verifier: code_verifier } = await source.code({}, client);
      const answer = await fixture.post(fixture.client(device), "token", {
        ...{ grant_type: "authorization_code", code, code_verifier, client_id: client.application.id },
        redirect_uri: client.application.settings.redirectUris[0] ?? "",
      });
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      const { sid } = JSON.parse(
        Buffer.from(String(answer.body["id_token"]).split(".")[1] ?? "", "base64url").toString(),
      );
      assert.equal((await session(sid)).device_id, device_id && device.id);
      const [newest] = await listAuditEvents(fixture.running.service.database.query, device.orgId, 1);
      assert.equal(newest?.action === "session.device-linked", device_id !== null);
      await revoke(fixture.running, device);
      assert.equal(!showsLogin(await visit(source.browser, fixture.org)), isLeft);
    }
  });
});

describe("two nodes on one PostgreSQL", () => {
  let database: Scratch;
  let nodes: TestService[];
  let org: TestOrganisation;
  let listeners: TestListeners;
  before(async () => {
    const clock = fakeClock();
    database = await freshPostgres();
    listeners = await testListeners();
    const shared = { databaseUrl: database.url, clock, passwords: quickPasswords };
    const first = await startTestService({ ...shared, env: listeners.env });
    const second = await startTestService({ ...shared, baseUrl: first.service.config.baseUrl });
    nodes = [first, second];
    org = await makeOrganisation(first.service);
  });
  after(async () => {
    for (const node of nodes) await node.close();
    await database.remove();
    await listeners.remove();
  });

  test("a device that one node revokes has no session at the other, at once", async () => {
    const [first, second] = nodes as [TestService, TestService];
    const device = await enrolledDevice(first.service, org.organisation.id);
    const browser = browserOn(device);
    const { refreshToken } = await tokensOf(browser, behindProxy(org, listeners));
    const there = { ...org, issuer: `${second.baseUrl}/oauth/${org.organisation.id}` };
    assert.equal(showsLogin(await visit(browser, there)), false);
    await revoke(first, device);
    assert.equal(showsLogin(await visit(browser, there)), true);
    assertOAuthError(await refresh(there, String(refreshToken)), 400, "invalid_grant");
  });
});
