/** self_signed_tls_client_auth: a certificate of the client's JWKS, over real TLS and through the listener for proxies. */
import assert from "node:assert/strict";
import { createPublicKey } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { sha256Base64url } from "@signet/protocol/hash";
import { type TestCertificate, testCertificate } from "@signet/protocol/testing/test-certificate";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import {
  type CertificateFixture,
  certificateFixture,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import { postForm } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import type { TestClient } from "../../../testing/test-service.ts";

const keyOf = ({ privateKey, x5c }: TestCertificate, kid = "one") => ({
  ...createPublicKey(privateKey).export({ format: "jwk" }),
  kid,
  x5c: [x5c],
});
const identityOf = ({ privateKey, pem }: TestCertificate) => ({
  certificate: pem,
  key: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
});
const selfSigned = { tokenEndpointAuthMethod: "self_signed_tls_client_auth" } as const;

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let own: TestCertificate;
  let stranger: TestCertificate;
  let client: TestClient;
  before(async () => {
    fixture = await certificateFixture(await fresh(), { SIGNET_OUTBOUND_ALLOW: "localhost" });
    own = testCertificate({ subject: "CN=client" });
    stranger = testCertificate({ subject: "CN=client" });
    client = await make({ jwks: { keys: [keyOf(own)] } });
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const make = (settings: Partial<ApplicationSettings>) =>
    fixture.application({ ...serviceSettings, ...selfSigned, ...settings });
  const token = (shown: TestCertificate | undefined, of = client, more: Record<string, string> = {}) =>
    fixture.post(fixture.client(shown && identityOf(shown)), "token", {
      ...clientCredentials(of.application),
      ...more,
    });

  test("authenticates by the registered certificate only, and names no device", async () => {
    const { status, body } = await token(own);
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual([claims["cnf"], claims["device_id"]], [undefined, undefined]);
    assertOAuthError(await token(undefined), 401, "invalid_client");
    assertOAuthError(await token(stranger), 401, "invalid_client", "the same subject");
    const renewed = testCertificate({ subject: "CN=client", privateKey: own.privateKey });
    assertOAuthError(await token(renewed), 401, "invalid_client", "another certificate of the same key");
    assertOAuthError(await token(own, client, { client_secret: "sgn_cs_x" }), 401, "invalid_client");
    const device = await fixture.device();
    const byDevice = await fixture.post(
      fixture.client(device),
      "token",
      clientCredentials(client.application),
    );
    assertOAuthError(byDevice, 401, "invalid_client", "a device of the organisation");
    const other = await make({ jwks: { keys: [keyOf(stranger)] } });
    assertOAuthError(await token(own, other), 401, "invalid_client", "another client's certificate");
  });

  test("works through the listener for proxies, and no header elsewhere is believed", async () => {
    const path = `/oauth/${fixture.org.organisation.id}/token`;
    const form = clientCredentials(client.application);
    const header = (one: TestCertificate) => ({ "client-cert": `:${one.x5c}:` });
    const byProxy = `${fixture.listeners.proxyUrl}${path}`;
    assert.equal((await postForm(byProxy, form, header(own))).status, 200);
    assertOAuthError(await postForm(byProxy, form, header(stranger)), 401, "invalid_client");
    const plain = await postForm(`${fixture.running.baseUrl}${path}`, form, header(own));
    assertOAuthError(plain, 401, "invalid_client");
  });

  test("several certificates rotate without a break, and a removed one ends at once", async () => {
    const of = await make({ jwks: { keys: [keyOf(own), keyOf(stranger, "two")] } });
    for (const one of [own, stranger]) assert.equal((await token(one, of)).status, 200);
    const { orgId, id } = of.application;
    const key = { orgId, id, actor: "test" };
    await changeApplication(fixture.running.service, key, ({ name, settings }) => ({
      ...{ name, disabled: false, settings: { ...settings, jwks: { keys: [keyOf(stranger, "two")] } } },
    }));
    assertOAuthError(await token(own, of), 401, "invalid_client");
    assert.equal((await token(stranger, of)).status, 200);
  });

  test("takes the certificates of jwksUri, and sees one that is published later", async () => {
    const keys = [keyOf(own)];
    const server = createServer((_request, response) => response.end(JSON.stringify({ keys })));
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    try {
      const of = await make({ jwksUri: `http://localhost:${port}/jwks` });
      assert.equal((await token(own, of)).status, 200);
      keys.splice(0, 1, keyOf(stranger, "two"));
      assertOAuthError(await token(stranger, of), 401, "invalid_client", "within a minute of the last read");
      fixture.clock.advance(60_000);
      assert.equal((await token(stranger, of)).status, 200);
      assertOAuthError(await token(own, of), 401, "invalid_client", "no longer published");
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  test("binds tokens to the certificate, which userinfo then asks for", async () => {
    const settings = { ...signInSettings, ...selfSigned, tlsClientCertificateBoundAccessTokens: true };
    const web = await fixture.application({ ...settings, jwks: { keys: [keyOf(own)] } });
    const { code, verifier } = await codeSource(fixture.org).code({}, web);
    const form = { grant_type: "authorization_code", code, code_verifier: verifier };
    const { status, body } = await fixture.post(fixture.client(identityOf(own)), "token", {
      ...{ ...form, client_id: web.application.id },
    });
    assert.equal(status, 200, JSON.stringify(body));
    const thumbprint = { "x5t#S256": sha256Base64url(own.der) };
    assert.deepEqual(payloadOf(body["access_token"])["cnf"], thumbprint);
    const userinfo = (shown: TestCertificate | undefined) =>
      fixture.client(shown && identityOf(shown)).get(`/oauth/${fixture.org.organisation.id}/userinfo`, {
        authorization: `Bearer ${String(body["access_token"])}`,
      });
    assert.equal((await userinfo(own)).status, 200);
    assertOAuthError(await userinfo(stranger), 401, "invalid_token");
    assertOAuthError(await userinfo(undefined), 401, "invalid_token");
    const refreshed = await fixture.post(fixture.client(identityOf(own)), "token", {
      ...{ grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) },
      client_id: web.application.id,
    });
    assert.deepEqual(payloadOf(refreshed.body["access_token"])["cnf"], thumbprint);
  });

  test("wants a certificate of the key in the JWKS", async () => {
    const { x5c: _, ...bare } = keyOf(own);
    const wrong: Array<[Partial<ApplicationSettings>, string]> = [
      [{}, "jwks"],
      [{ jwks: { keys: [bare] } }, "jwks"],
      [{ jwks: { keys: [{ ...bare, x5c: [stranger.x5c] }] } }, "jwks.keys[0]"],
      [{ jwks: { keys: [{ ...bare, x5c: ["AAAA"] }] } }, "jwks.keys[0]"],
      [{ jwks: { keys: [{ ...bare, x5c: "x" }] } }, "jwks.keys[0]"],
    ];
    for (const [settings, path] of wrong)
      await assert.rejects(make(settings), (error) => {
        assert.ok(error instanceof InvalidApplication);
        assert.deepEqual(
          error.faults.map((fault) => fault.path),
          [path],
        );
        return true;
      });
  });

  test("is in the metadata", async () => {
    const answer = await fetch(`${fixture.org.issuer}/.well-known/openid-configuration`);
    const metadata = (await answer.json()) as Record<string, string[]>;
    for (const name of ["token", "revocation", "introspection"])
      assert.ok(
        metadata[`${name}_endpoint_auth_methods_supported`]?.includes("self_signed_tls_client_auth"),
        name,
      );
  });
});
