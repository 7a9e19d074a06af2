import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  type CertificateFixture,
  certificateFixture,
  clientCredentials,
  serviceSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import {
  clientCertHeader,
  type EnrolledDevice,
  renewedDevice,
} from "../../../testing/fixtures/enrolled-device.ts";
import { assertOAuthError, payloadOf, sendRaw } from "../../../testing/probes/answers.ts";
import type { TestClient } from "../../../testing/test-service.ts";
import { providerMetadata } from "../discovery.route.ts";

const DAY_MS = 86_400_000;

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let meters: TestClient;
  let device: EnrolledDevice;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    meters = await fixture.application(serviceSettings);
    device = await fixture.device();
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const token = (shown?: Pick<EnrolledDevice, "certificate" | "key">, more: Record<string, string> = {}) =>
    fixture.post(fixture.client(shown), "token", { ...clientCredentials(meters.application), ...more });
  const revoke = ({ id, orgId }: EnrolledDevice) =>
    revokeDevice(fixture.running.service, { orgId, deviceId: id, reason: "keyCompromise", actor: "test" });

  test("issues a token that names the device to a client with a device certificate", async () => {
    const { status, body } = await token(device);
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.equal(claims["device_id"], device.id);
    assert.equal(claims["device_attestation"], "none");
    assert.equal(claims["cnf"], undefined, "the client's tokens are not bound");
  });

  test("requires both a certificate and client_id", async () => {
    assertOAuthError(await token(), 401, "invalid_client");
    const unnamed = await fixture.post(fixture.client(device), "token", { grant_type: "client_credentials" });
    assertOAuthError(unnamed, 401, "invalid_client");
    const second = { client_secret: "sgn_cs_x" };
    assertOAuthError(await token(device, second), 401, "invalid_client");
  });

  test("rejects the certificate of another organisation's device", async () => {
    assertOAuthError(await token(await fixture.device(fixture.other)), 401, "invalid_client");
  });

  test("rejects a certificate with the same subject from another CA", async () => {
    const subject = `CN=${device.id}`;
    const forged = testCertificate({ subject, uris: [device.uri] });
    const key = forged.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    assertOAuthError(await token({ certificate: forged.pem, key }), 401, "invalid_client");
    // For the device's own public key: whoever has no private key has no use for it, and the CA has not signed it.
    const copied = testCertificate({ subject, uris: [device.uri], privateKey: device.privateKey });
    assertOAuthError(await token({ certificate: copied.pem, key: device.key }), 401, "invalid_client");
  });

  test("rejects a revoked device on a connection that was opened before", async () => {
    const lost = await fixture.device();
    const connection = fixture.client(lost);
    const form = clientCredentials(meters.application);
    assert.equal((await fixture.post(connection, "token", form)).status, 200);
    assert.equal(await revoke(lost), true);
    assertOAuthError(await fixture.post(connection, "token", form), 401, "invalid_client");
    assert.equal(connection.connections(), 1, "it was the same connection");
  });

  test("accepts a renewed device's previous certificate for one day", async () => {
    const before = await fixture.device();
    const renewed = await renewedDevice(fixture.running.service, before);
    assert.equal((await token(before)).status, 200);
    assert.equal((await token(renewed)).status, 200);
    fixture.clock.advance(DAY_MS);
    assertOAuthError(await token(before), 401, "invalid_client");
    assert.equal((await token(renewed)).status, 200);
  });

  test("rejects an expired certificate and one that is not valid yet", async () => {
    const late = await fixture.device();
    fixture.clock.advance(90 * DAY_MS);
    assertOAuthError(await token(late), 401, "invalid_client");
    fixture.clock.advance(-91 * DAY_MS);
    assertOAuthError(await token(late), 401, "invalid_client");
    fixture.clock.advance(DAY_MS);
    assert.equal((await token(late)).status, 200);
  });

  test("accepts only the device of the registered SAN URI", async () => {
    const named = await fixture.application({ ...serviceSettings, tlsClientAuthSanUri: device.uri });
    const ask = async (shown: EnrolledDevice) =>
      fixture.post(fixture.client(shown), "token", clientCredentials(named.application));
    assert.equal((await ask(device)).status, 200);
    assertOAuthError(await ask(await fixture.device()), 401, "invalid_client");
  });

  test("takes the certificate from the TLS connection, never from a header", async () => {
    const path = `/oauth/${device.orgId}/token`;
    const header = { "client-cert": clientCertHeader(device.der) };
    const form = clientCredentials(meters.application);
    assertOAuthError(
      await postForm(`${fixture.running.baseUrl}${path}`, form, header),
      401,
      "invalid_client",
    );
    assertOAuthError(await fixture.client().post(path, form, header), 401, "invalid_client");
    const byProxy = `${fixture.listeners.proxyUrl}${path}`;
    assert.equal((await postForm(byProxy, form, header)).status, 200);
    assertOAuthError(await postForm(byProxy, form), 401, "invalid_client");
  });

  test("accepts a device certificate at revoke, introspect and device authorization", async () => {
    const tv = await fixture.application({
      ...serviceSettings,
      grantTypes: ["client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
    });
    const { id } = tv.application;
    const by = fixture.client(device);
    const { body } = await fixture.post(by, "token", clientCredentials(tv.application));
    const asked = { client_id: id, token: String(body["access_token"]) };
    const introspected = await fixture.post(by, "introspect", asked);
    assert.equal(introspected.body["active"], true);
    assert.equal(introspected.body["device_id"], device.id);
    assert.equal((await fixture.post(by, "device", { client_id: id, scope: "readings:write" })).status, 200);
    const nobody = fixture.client();
    for (const endpoint of ["introspect", "revoke", "device"])
      assertOAuthError(await fixture.post(nobody, endpoint, asked), 401, "invalid_client");
    assert.equal((await fixture.post(by, "revoke", asked)).status, 200);
    assert.deepEqual((await fixture.post(by, "introspect", asked)).body, { active: false });
  });

  test("records when a device was last seen at most once a minute", async () => {
    const seen = await fixture.device();
    const lastSeen = async () =>
      (await findDevice(fixture.running.service.database.query, seen.orgId, seen.id))?.lastSeenAt;
    assert.equal(await lastSeen(), null);
    const first = fixture.clock();
    await token(seen);
    assert.equal(await lastSeen(), first);
    fixture.clock.advance(59_000);
    await token(seen);
    assert.equal(await lastSeen(), first);
    fixture.clock.advance(1_000);
    await token(seen);
    assert.equal(await lastSeen(), first + 60_000);
  });

  test("lists mTLS endpoints in the metadata only where certificates are requested", async () => {
    const { body } = await sendRaw(`${fixture.org.issuer}/.well-known/openid-configuration`, {});
    assert.equal(body["issuer"], fixture.org.issuer);
    const methods = [
      "client_secret_post",
      "client_secret_basic",
      "private_key_jwt",
      "tls_client_auth",
      "self_signed_tls_client_auth",
      "attest_jwt_client_auth",
      "attest_jwt_client_auth_dpop",
      "none",
    ];
    assert.deepEqual(body["token_endpoint_auth_methods_supported"], methods);
    assert.deepEqual(body["revocation_endpoint_auth_methods_supported"], methods);
    assert.deepEqual(body["introspection_endpoint_auth_methods_supported"], methods.slice(0, -1));
    assert.equal(body["tls_client_certificate_bound_access_tokens"], true);
    const own = `${fixture.listeners.mtlsUrl}/oauth/${device.orgId}`;
    assert.deepEqual(body["mtls_endpoint_aliases"], {
      token_endpoint: `${own}/token`,
      userinfo_endpoint: `${own}/userinfo`,
      revocation_endpoint: `${own}/revoke`,
      introspection_endpoint: `${own}/introspect`,
      device_authorization_endpoint: `${own}/device`,
      pushed_authorization_request_endpoint: `${own}/par`,
      backchannel_authentication_endpoint: `${own}/bc-authorize`,
    });
    const about = {
      baseUrl: "https://id.example",
      customScopes: [],
      detailTypes: [],
      requirePushedAuthorizationRequests: false,
      takesClientDocuments: false,
    };
    const byProxy = providerMetadata(device.orgId, { ...about, certificates: { baseUrl: undefined } });
    assert.equal(byProxy["tls_client_certificate_bound_access_tokens"], true);
    assert.equal(byProxy["mtls_endpoint_aliases"], undefined, "they are where all the others are");
    const nowhere = providerMetadata(device.orgId, { ...about, certificates: undefined });
    const withoutTls = methods.filter((method) => !method.endsWith("tls_client_auth"));
    assert.deepEqual(nowhere["token_endpoint_auth_methods_supported"], withoutTls);
    assert.equal(nowhere["tls_client_certificate_bound_access_tokens"], undefined);
  });

  test("runs no certificate look-up for a client that uses none", async () => {
    const seen = await fixture.device();
    const form = { grant_type: "client_credentials", ...credentials(fixture.org.batch) };
    const { status, body } = await fixture.post(fixture.client(seen), "token", form);
    assert.equal(status, 200);
    const claims = payloadOf(body["access_token"]);
    for (const name of ["device_id", "device_attestation", "cnf"])
      assert.equal(claims[name], undefined, name);
    const found = await findDevice(fixture.running.service.database.query, seen.orgId, seen.id);
    assert.equal(found?.lastSeenAt, null, "nobody has looked whose it is");
  });

  test("rejects a certificate for clients of other methods, and a secret for a certificate client", async () => {
    const { application } = fixture.org.batch;
    const answer = await fixture.post(fixture.client(device), "token", clientCredentials(application));
    assertOAuthError(answer, 401, "invalid_client");
    const basic = Buffer.from(`${meters.application.id}:secret`).toString("base64");
    const url = `${fixture.org.issuer}/token`;
    const headed = await postForm(
      url,
      { grant_type: "client_credentials" },
      { authorization: `Basic ${basic}` },
    );
    assertOAuthError(headed, 401, "invalid_client");
  });
});
