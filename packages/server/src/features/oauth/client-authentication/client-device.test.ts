import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { findDevice } from "../../../core/devices/devices.store.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  type CertificateScene,
  certificateScene,
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
  let scene: CertificateScene;
  let meters: TestClient;
  let device: EnrolledDevice;
  before(async () => {
    scene = await certificateScene(await fresh());
    meters = await scene.application(serviceSettings);
    device = await scene.device();
  });
  after(async () => {
    await scene.close();
    assert.deepEqual(scene.running.errors, []);
  });

  const token = (shown?: Pick<EnrolledDevice, "certificate" | "key">, more: Record<string, string> = {}) =>
    scene.post(scene.client(shown), "token", { ...clientCredentials(meters.application), ...more });
  const revoke = ({ id, orgId }: EnrolledDevice) =>
    revokeDevice(scene.running.service, { orgId, deviceId: id, reason: "keyCompromise", actor: "test" });

  test("a device's certificate and the client's name are a token, which names the device", async () => {
    const { status, body } = await token(device);
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.equal(claims["device_id"], device.id);
    assert.equal(claims["device_attestation"], "none");
    assert.equal(claims["cnf"], undefined, "the client's tokens are not bound");
  });

  test("without a certificate, or without saying which client it is, there is none", async () => {
    assertOAuthError(await token(), 401, "invalid_client");
    const unnamed = await scene.post(scene.client(device), "token", { grant_type: "client_credentials" });
    assertOAuthError(unnamed, 401, "invalid_client");
    const second = { client_secret: "sgn_cs_x" };
    assertOAuthError(await token(device, second), 401, "invalid_client");
  });

  test("the certificate of another organisation's device proves nothing here", async () => {
    assertOAuthError(await token(await scene.device(scene.other)), 401, "invalid_client");
  });

  test("a certificate that merely says the same is nobody's", async () => {
    const subject = `CN=${device.id}`;
    const forged = testCertificate({ subject, uris: [device.uri] });
    const key = forged.privateKey.export({ format: "pem", type: "pkcs8" }).toString();
    assertOAuthError(await token({ certificate: forged.pem, key }), 401, "invalid_client");
    // For the device's own public key: whoever has no private key has no use for it, and the CA has not signed it.
    const copied = testCertificate({ subject, uris: [device.uri], privateKey: device.privateKey });
    assertOAuthError(await token({ certificate: copied.pem, key: device.key }), 401, "invalid_client");
  });

  test("a kept-alive connection is worth nothing after the revocation", async () => {
    const lost = await scene.device();
    const connection = scene.client(lost);
    const form = clientCredentials(meters.application);
    assert.equal((await scene.post(connection, "token", form)).status, 200);
    assert.equal(await revoke(lost), true);
    assertOAuthError(await scene.post(connection, "token", form), 401, "invalid_client");
    assert.equal(connection.connections(), 1, "it was the same connection");
  });

  test("a renewed device goes on with the certificate before for a day, and no longer", async () => {
    const before = await scene.device();
    const renewed = await renewedDevice(scene.running.service, before);
    assert.equal((await token(before)).status, 200);
    assert.equal((await token(renewed)).status, 200);
    scene.clock.advance(DAY_MS);
    assertOAuthError(await token(before), 401, "invalid_client");
    assert.equal((await token(renewed)).status, 200);
  });

  test("an expired certificate is refused, and one that is not valid yet", async () => {
    const late = await scene.device();
    scene.clock.advance(90 * DAY_MS);
    assertOAuthError(await token(late), 401, "invalid_client");
    scene.clock.advance(-91 * DAY_MS);
    assertOAuthError(await token(late), 401, "invalid_client");
    scene.clock.advance(DAY_MS);
    assert.equal((await token(late)).status, 200);
  });

  test("a client that names one device's URI is spoken for by that device alone", async () => {
    const named = await scene.application({ ...serviceSettings, tlsClientAuthSanUri: device.uri });
    const ask = async (shown: EnrolledDevice) =>
      scene.post(scene.client(shown), "token", clientCredentials(named.application));
    assert.equal((await ask(device)).status, 200);
    assertOAuthError(await ask(await scene.device()), 401, "invalid_client");
  });

  test("only the connection says what certificate it is: a header does not", async () => {
    const path = `/oauth/${device.orgId}/token`;
    const header = { "client-cert": clientCertHeader(device.der) };
    const form = clientCredentials(meters.application);
    assertOAuthError(await postForm(`${scene.running.baseUrl}${path}`, form, header), 401, "invalid_client");
    assertOAuthError(await scene.client().post(path, form, header), 401, "invalid_client");
    const byProxy = `${scene.listeners.proxyUrl}${path}`;
    assert.equal((await postForm(byProxy, form, header)).status, 200);
    assertOAuthError(await postForm(byProxy, form), 401, "invalid_client");
  });

  test("revocation and introspection take the same proof, and the device grant too", async () => {
    const tv = await scene.application({
      ...serviceSettings,
      grantTypes: ["client_credentials", "urn:ietf:params:oauth:grant-type:device_code"],
    });
    const { id } = tv.application;
    const by = scene.client(device);
    const { body } = await scene.post(by, "token", clientCredentials(tv.application));
    const asked = { client_id: id, token: String(body["access_token"]) };
    const introspected = await scene.post(by, "introspect", asked);
    assert.equal(introspected.body["active"], true);
    assert.equal(introspected.body["device_id"], device.id);
    assert.equal((await scene.post(by, "device", { client_id: id, scope: "readings:write" })).status, 200);
    const nobody = scene.client();
    for (const endpoint of ["introspect", "revoke", "device"])
      assertOAuthError(await scene.post(nobody, endpoint, asked), 401, "invalid_client");
    assert.equal((await scene.post(by, "revoke", asked)).status, 200);
    assert.deepEqual((await scene.post(by, "introspect", asked)).body, { active: false });
  });

  test("when a device came last is written once a minute", async () => {
    const seen = await scene.device();
    const lastSeen = async () =>
      (await findDevice(scene.running.service.database.query, seen.orgId, seen.id))?.lastSeenAt;
    assert.equal(await lastSeen(), null);
    const first = scene.clock();
    await token(seen);
    assert.equal(await lastSeen(), first);
    scene.clock.advance(59_000);
    await token(seen);
    assert.equal(await lastSeen(), first);
    scene.clock.advance(1_000);
    await token(seen);
    assert.equal(await lastSeen(), first + 60_000);
  });

  test("the metadata says where certificates are asked for, and only where they are", async () => {
    const { body } = await sendRaw(`${scene.org.issuer}/.well-known/openid-configuration`, {});
    assert.equal(body["issuer"], scene.org.issuer);
    const methods = [
      "client_secret_post",
      "client_secret_basic",
      "private_key_jwt",
      "tls_client_auth",
      "none",
    ];
    assert.deepEqual(body["token_endpoint_auth_methods_supported"], methods);
    assert.deepEqual(body["revocation_endpoint_auth_methods_supported"], methods);
    assert.deepEqual(body["introspection_endpoint_auth_methods_supported"], methods.slice(0, -1));
    assert.equal(body["tls_client_certificate_bound_access_tokens"], true);
    const own = `${scene.listeners.mtlsUrl}/oauth/${device.orgId}`;
    assert.deepEqual(body["mtls_endpoint_aliases"], {
      token_endpoint: `${own}/token`,
      userinfo_endpoint: `${own}/userinfo`,
      revocation_endpoint: `${own}/revoke`,
      introspection_endpoint: `${own}/introspect`,
      device_authorization_endpoint: `${own}/device`,
    });
    const about = { baseUrl: "https://id.example", customScopes: [] };
    const byProxy = providerMetadata(device.orgId, { ...about, certificates: { baseUrl: undefined } });
    assert.equal(byProxy["tls_client_certificate_bound_access_tokens"], true);
    assert.equal(byProxy["mtls_endpoint_aliases"], undefined, "they are where all the others are");
    const nowhere = providerMetadata(device.orgId, { ...about, certificates: undefined });
    const withoutTls = methods.filter((method) => method !== "tls_client_auth");
    assert.deepEqual(nowhere["token_endpoint_auth_methods_supported"], withoutTls);
    assert.equal(nowhere["tls_client_certificate_bound_access_tokens"], undefined);
  });

  test("a client that uses no certificates does not pay for one that is shown", async () => {
    const seen = await scene.device();
    const form = { grant_type: "client_credentials", ...credentials(scene.org.batch) };
    const { status, body } = await scene.post(scene.client(seen), "token", form);
    assert.equal(status, 200);
    const claims = payloadOf(body["access_token"]);
    for (const name of ["device_id", "device_attestation", "cnf"])
      assert.equal(claims[name], undefined, name);
    const found = await findDevice(scene.running.service.database.query, seen.orgId, seen.id);
    assert.equal(found?.lastSeenAt, null, "nobody has looked whose it is");
  });

  test("a client of another method is not let in by a certificate, nor this one by a secret", async () => {
    const { application } = scene.org.batch;
    const answer = await scene.post(scene.client(device), "token", clientCredentials(application));
    assertOAuthError(answer, 401, "invalid_client");
    const basic = Buffer.from(`${meters.application.id}:secret`).toString("base64");
    const url = `${scene.org.issuer}/token`;
    const headed = await postForm(
      url,
      { grant_type: "client_credentials" },
      { authorization: `Basic ${basic}` },
    );
    assertOAuthError(headed, 401, "invalid_client");
  });
});
