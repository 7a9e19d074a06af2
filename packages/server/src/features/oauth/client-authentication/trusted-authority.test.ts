/** tls_client_auth by certificates of authorities that the organisation trusts (RFC 8705 §2.1): over real TLS and behind a proxy. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { type TestCertificate, testCertificate } from "@signet/protocol/testing/test-certificate";
import { newUuid } from "@signet/protocol/uuid";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { insertClientAuthority } from "../../../core/client-authorities/client-authorities.store.ts";
import {
  changeClientAuthority,
  createClientAuthority,
  deleteClientAuthority,
} from "../../../core/client-authorities/client-authorities.ts";
import { readAuthority } from "../../../core/client-authorities/client-authority.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import {
  type CertificateFixture,
  certificateFixture,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import { type Answer, postForm } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import { makeClient, REDIRECT_URI, type TestClient } from "../../../testing/test-service.ts";

const HOUR_MS = 3_600_000;
const identityOf = (leaf: TestCertificate, ...chain: readonly TestCertificate[]) => ({
  certificate: [leaf, ...chain].map(({ pem }) => pem).join(""),
  key: leaf.privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
});

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let root: TestCertificate;
  let leaf: TestCertificate;
  let client: TestClient;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    root = testCertificate({ subject: "Partner", isCa: true });
    leaf = testCertificate({ subject: "Bank", issuer: root, hosts: ["bank.example"] });
    await trust(root);
    client = await named({ tlsClientAuthSubjectDn: "CN=Bank" });
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const trust = ({ pem: certificate }: TestCertificate, of = fixture.org) =>
    createClientAuthority(fixture.running.service, {
      ...{ orgId: of.organisation.id, actor: "test" },
      settings: { name: "Partner", certificate, enabled: true },
    });
  const named = (settings: Partial<ApplicationSettings>) =>
    fixture.application({ ...serviceSettings, ...settings });
  const token = (shown: Parameters<typeof identityOf> | undefined, of = client): Promise<Answer> =>
    fixture.post(fixture.client(shown && identityOf(...shown)), "token", clientCredentials(of.application));
  const refused = async (...shown: Parameters<typeof identityOf>) =>
    assertOAuthError(await token(shown), 401, "invalid_client");

  test("authenticates a certificate of the authority with the registered name, and names no device", async () => {
    const { status, body } = await token([leaf]);
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(
      [claims["cnf"], claims["device_id"], claims["sub"]],
      [undefined, undefined, client.application.id],
    );
    assertOAuthError(await token(undefined), 401, "invalid_client");
  });

  test("rejects certificates of other authorities, other names and other usages", async () => {
    await refused(testCertificate({ subject: "Bank" }));
    const copy = testCertificate({ subject: "Partner", isCa: true });
    await refused(testCertificate({ subject: "Bank", issuer: copy }), copy);
    await refused(testCertificate({ subject: "Thief", issuer: root }));
    await refused(testCertificate({ subject: "Bank", issuer: root, forger: copy.privateKey }));
    await refused(testCertificate({ subject: "Bank", issuer: root, isCa: true }));
    await refused(testCertificate({ subject: "Bank", issuer: root, keyUsage: [2] }));
    const times = { validFrom: new Date(Date.now() + HOUR_MS) };
    await refused(testCertificate({ subject: "Bank", issuer: root, ...times }));
    await refused(testCertificate({ subject: "Bank", issuer: root, validTo: new Date(Date.now() - 60_000) }));
  });

  test("follows the certificates that come along, up to a path of four", async () => {
    const one = testCertificate({ subject: "One", isCa: true, issuer: root });
    const two = testCertificate({ subject: "Two", isCa: true, issuer: one });
    const three = testCertificate({ subject: "Three", isCa: true, issuer: two });
    const of = (issuer: TestCertificate) => testCertificate({ subject: "Bank", issuer });
    assert.equal((await token([of(one), one])).status, 200);
    assert.equal((await token([of(two), two, one, root])).status, 200);
    await refused(of(two), two);
    await refused(of(three), three, two, one);
    const noAuthority = testCertificate({ subject: "One", issuer: root });
    await refused(of(noAuthority), noAuthority);
    const short = testCertificate({ subject: "One", isCa: true, issuer: root, pathLength: 0 });
    const below = testCertificate({ subject: "Two", isCa: true, issuer: short });
    await refused(of(below), below, short);
  });

  test("takes each kind of name, exactly", async () => {
    const whole = testCertificate({
      ...{ subject: "Bank", issuer: root, uris: ["urn:bank"], hosts: ["bank.example"] },
      ...{ addresses: ["192.0.2.1", "2001:db8::1"], emails: ["Ops@bank.example"] },
    });
    const cases: Array<[Partial<ApplicationSettings>, number]> = [
      [{ tlsClientAuthSubjectDn: String.raw`cn = B\61nk` }, 200],
      [{ tlsClientAuthSubjectDn: "CN=Bank,O=Other" }, 401],
      [{ tlsClientAuthSanDns: "BANK.example" }, 200],
      [{ tlsClientAuthSanDns: "www.bank.example" }, 401],
      [{ tlsClientAuthSanUri: "urn:bank" }, 200],
      [{ tlsClientAuthSanUri: "urn:Bank" }, 401],
      [{ tlsClientAuthSanIp: "2001:DB8:0::1" }, 200],
      [{ tlsClientAuthSanIp: "192.0.2.2" }, 401],
      [{ tlsClientAuthSanEmail: "Ops@BANK.example" }, 200],
      [{ tlsClientAuthSanEmail: "ops@bank.example" }, 401],
    ];
    for (const [settings, status] of cases)
      assert.equal((await token([whole], await named(settings))).status, status, JSON.stringify(settings));
  });

  test("without a registered name only devices authenticate", async () => {
    const any = await named({});
    assertOAuthError(await token([leaf], any), 401, "invalid_client");
    const device = await fixture.device();
    const answer = await fixture.post(fixture.client(device), "token", clientCredentials(any.application));
    assert.equal(answer.status, 200);
  });

  test("a device has the name too, and is none of the authority's once it is revoked", async () => {
    const device = await fixture.device();
    const of = await named({ tlsClientAuthSubjectDn: `CN=${device.id},O=${device.orgId}` });
    const ask = () => fixture.post(fixture.client(device), "token", clientCredentials(of.application));
    const { body } = await ask();
    assert.equal(payloadOf(body["access_token"])["device_id"], device.id);
    await revokeDevice(fixture.running.service, {
      ...{ orgId: device.orgId, deviceId: device.id, reason: "keyCompromise", actor: "test" },
    });
    assertOAuthError(await ask(), 401, "invalid_client");
    // Even where the device CA had become an authority, which its creation refuses.
    const { service } = fixture.running;
    const [ca] = await service.deviceCa.generations(device.orgId);
    const { parsed: _, ...read } = readAuthority(ca?.certificatePem ?? "", fixture.clock());
    const planted = { ...read, orgId: device.orgId, id: newUuid(), name: "Devices", enabled: true };
    const times = { createdAt: 0, updatedAt: 0, version: 1 };
    await insertClientAuthority(service.database.query, { ...planted, ...times });
    assertOAuthError(await ask(), 401, "invalid_client", "revoked at its own CA");
  });

  test("an authority counts in its own organisation alone", async () => {
    const theirs = testCertificate({ subject: "Theirs", isCa: true });
    await trust(theirs, fixture.other);
    await refused(testCertificate({ subject: "Bank", issuer: theirs }));
    const { settings } = client.application;
    const there = await makeClient(fixture.running.service, fixture.other.organisation, {
      ...{ tokenEndpointAuthMethod: "tls_client_auth", tlsClientAuthSubjectDn: "CN=Bank" },
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["signet:audit:read"] },
    });
    assert.equal(settings.tlsClientAuthSubjectDn, "CN=Bank");
    const path = `/oauth/${fixture.other.organisation.id}/token`;
    const ask = (shown: TestCertificate) =>
      fixture.client(identityOf(shown)).post(path, clientCredentials(there.application));
    assertOAuthError(await ask(leaf), 401, "invalid_client");
    assert.equal((await ask(testCertificate({ subject: "Bank", issuer: theirs }))).status, 200);
  });

  test("an authority that is disabled, deleted or expired ends at once, on an open connection too", async () => {
    const { service } = fixture.running;
    const passing = testCertificate({ subject: "Passing", isCa: true });
    const { orgId, id } = await trust(passing);
    const by = { orgId, id, actor: "test" };
    const connection = fixture.client(identityOf(testCertificate({ subject: "Bank", issuer: passing })));
    const ask = () => fixture.post(connection, "token", clientCredentials(client.application));
    assert.equal((await ask()).status, 200);
    await changeClientAuthority(service, { ...by, change: { enabled: false } });
    assertOAuthError(await ask(), 401, "invalid_client");
    await changeClientAuthority(service, { ...by, change: { enabled: true } });
    assert.equal((await ask()).status, 200);
    await deleteClientAuthority(service, by);
    assertOAuthError(await ask(), 401, "invalid_client");
    assert.equal(connection.connections(), 1);
    const soon = testCertificate({ subject: "Soon", isCa: true, validTo: new Date(Date.now() + HOUR_MS) });
    await trust(soon);
    const lasting = testCertificate({ subject: "Bank", issuer: soon });
    assert.equal((await token([lasting])).status, 200);
    fixture.clock.advance(2 * HOUR_MS);
    await refused(lasting);
    fixture.clock.advance(-2 * HOUR_MS);
  });

  test("works through the listener for proxies, with the chain in its header", async () => {
    const path = `/oauth/${fixture.org.organisation.id}/token`;
    const between = testCertificate({ subject: "Between", isCa: true, issuer: root });
    const below = testCertificate({ subject: "Bank", issuer: between });
    const header = (...chain: TestCertificate[]) => chain.map(({ x5c }) => `:${x5c}:`).join(", ");
    const ask = (headers: Record<string, string>, base = fixture.listeners.proxyUrl) =>
      postForm(`${base}${path}`, clientCredentials(client.application), headers);
    assert.equal((await ask({ "client-cert": header(leaf) })).status, 200);
    assertOAuthError(await ask({ "client-cert": header(below) }), 401, "invalid_client");
    const whole = { "client-cert": header(below), "client-cert-chain": header(between, root) };
    assert.equal((await ask(whole)).status, 200);
    assertOAuthError(await ask(whole, fixture.running.baseUrl), 401, "invalid_client", "a public listener");
    assertOAuthError(await ask({ "client-cert-chain": header(below, between) }), 401, "invalid_client");
    for (const chain of ["x", ":AAAA:", header(between, root, root, root, root)])
      assertOAuthError(
        await ask({ "client-cert": header(below), "client-cert-chain": chain }),
        400,
        "invalid_request",
      );
  });

  test("binds tokens to the certificate, which userinfo and the next refresh then ask for", async () => {
    const settings = { ...signInSettings, tokenEndpointAuthMethod: "tls_client_auth" } as const;
    const bound = { tlsClientCertificateBoundAccessTokens: true, tlsClientAuthSanDns: "bank.example" };
    const web = await fixture.application({ ...settings, ...bound });
    const { code, verifier } = await codeSource(fixture.org).code({}, web);
    const mine = fixture.client(identityOf(leaf));
    const form = { client_id: web.application.id, redirect_uri: REDIRECT_URI };
    const { status, body } = await fixture.post(mine, "token", {
      ...{ ...form, grant_type: "authorization_code", code, code_verifier: verifier },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const thumbprint = { "x5t#S256": sha256Base64url(leaf.der) };
    assert.deepEqual(payloadOf(body["access_token"])["cnf"], thumbprint);
    const userinfo = (shown: TestCertificate | undefined) =>
      fixture.client(shown && identityOf(shown)).get(`/oauth/${fixture.org.organisation.id}/userinfo`, {
        authorization: `Bearer ${String(body["access_token"])}`,
      });
    assert.equal((await userinfo(leaf)).status, 200);
    const renewed = testCertificate({ subject: "Bank", issuer: root, hosts: ["bank.example"] });
    for (const shown of [renewed, undefined]) assertOAuthError(await userinfo(shown), 401, "invalid_token");
    // A renewed certificate of the same name goes on (RFC 8705 §7.1): its tokens are bound to it.
    const refreshed = await fixture.post(fixture.client(identityOf(renewed)), "token", {
      ...{ ...form, grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) },
    });
    const { cnf } = payloadOf(refreshed.body["access_token"]) as { cnf?: unknown };
    assert.deepEqual(cnf, { "x5t#S256": sha256Base64url(renewed.der) });
  });

  test("a client of another method binds its tokens to any certificate, and to none it gets no tokens", async () => {
    const client = await fixture.application({
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["readings:write"] },
      ...{ tokenEndpointAuthMethod: "client_secret_post", tlsClientCertificateBoundAccessTokens: true },
    });
    const { createClientSecret } = await import("../../../core/applications/client-secrets.ts");
    const { plaintext } = await createClientSecret(fixture.running.service, {
      ...{ orgId: client.application.orgId, applicationId: client.application.id },
      ...{ label: "one", expiresAt: null, actor: "test" },
    });
    const form = { ...clientCredentials(client.application), client_secret: plaintext };
    const self = testCertificate({ subject: "Anything" });
    const { body } = await fixture.post(fixture.client(identityOf(self)), "token", form);
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(claims["cnf"], { "x5t#S256": sha256Base64url(self.der) });
    assertOAuthError(await fixture.post(fixture.client(), "token", form), 400, "invalid_request");
    const device = await fixture.device();
    await revokeDevice(fixture.running.service, {
      ...{ orgId: device.orgId, deviceId: device.id, reason: "keyCompromise", actor: "test" },
    });
    assertOAuthError(
      await fixture.post(fixture.client(device), "token", form),
      400,
      "invalid_request",
      "revoked",
    );
  });
});
