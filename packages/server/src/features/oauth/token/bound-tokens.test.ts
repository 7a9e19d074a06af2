import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { certificateBinding } from "@signet/protocol/certificates/certificate-binding";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { type ApplicationSettings, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { createCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type CodeSource, codeSource } from "../../../testing/fakes/code-source.ts";
import {
  type CertificateFixture,
  certificateFixture,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode } from "../../../testing/fixtures/device.ts";
import { type EnrolledDevice, renewedDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import type { MtlsClient } from "../../../testing/test-listeners.ts";
import { makeClient, REDIRECT_URI, type TestClient } from "../../../testing/test-service.ts";

const bound = { tlsClientCertificateBoundAccessTokens: true } as const;

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let source: CodeSource;
  let meters: TestClient;
  let native: TestClient;
  let device: EnrolledDevice;
  let mine: MtlsClient;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    source = codeSource(fixture.org);
    meters = await fixture.application({ ...serviceSettings, ...bound });
    native = await fixture.application(
      { ...signInSettings, ...bound, tokenEndpointAuthMethod: "none" },
      "public",
    );
    device = await fixture.device();
    mine = fixture.client(device);
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const redeem = async (by: MtlsClient, client = native): Promise<Answer> => {
    const { code, verifier } = await source.code({}, client);
    return fixture.post(by, "token", {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
      client_id: client.application.id,
    });
  };
  const refresh = (by: MtlsClient, answer: Answer, client = native) =>
    fixture.post(by, "token", {
      ...{ grant_type: "refresh_token", refresh_token: String(answer.body["refresh_token"]) },
      client_id: client.application.id,
    });
  const assertBound = (answer: Answer, to: EnrolledDevice): string => {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const claims = payloadOf(answer.body["access_token"]);
    assert.deepEqual(claims["cnf"], { "x5t#S256": to.thumbprint });
    assert.equal(certificateBinding(claims, to.der), "holds");
    assert.equal(claims["device_id"], to.id);
    return String(answer.body["access_token"]);
  };
  const userinfo = (by: MtlsClient, accessToken: string) =>
    by.get(`/oauth/${device.orgId}/userinfo`, { authorization: `Bearer ${accessToken}` });
  const revoke = ({ id, orgId }: EnrolledDevice) =>
    revokeDevice(fixture.running.service, { orgId, deviceId: id, reason: "keyCompromise", actor: "test" });

  test("binds the tokens of every grant to the certificate of the request", async () => {
    assertBound(await fixture.post(mine, "token", clientCredentials(meters.application)), device);
    const signedIn = await redeem(mine);
    assertBound(signedIn, device);
    assertBound(await refresh(mine, signedIn), device);
    const codes = await askForCodes(fixture.org, native.application, { scope: "openid" });
    await decideDeviceCode(source.browser, fixture.org, codes);
    const polled = await fixture.post(mine, "token", {
      ...{ grant_type: deviceCodeGrantType, device_code: codes.deviceCode },
      client_id: native.application.id,
    });
    assertBound(polled, device);
    assertBound(await refresh(mine, polled), device);
  });

  test("issues no bound tokens without a valid certificate, and consumes no code", async () => {
    const { code, verifier } = await source.code({}, native);
    const form = {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
      client_id: native.application.id,
    };
    assertOAuthError(await postForm(`${fixture.org.issuer}/token`, form), 400, "invalid_request");
    assertOAuthError(await fixture.post(fixture.client(), "token", form), 400, "invalid_request");
    const foreign = fixture.client(await fixture.device(fixture.other));
    assertOAuthError(await fixture.post(foreign, "token", form), 400, "invalid_request");
    assertBound(await fixture.post(mine, "token", form), device);
  });

  test("serves userinfo to the device that holds the certificate only", async () => {
    const accessToken = assertBound(await redeem(mine), device);
    assert.equal((await userinfo(mine, accessToken)).status, 200);
    const thief = fixture.client(await fixture.device());
    for (const by of [thief, fixture.client()]) {
      const answer = await userinfo(by, accessToken);
      assertOAuthError(answer, 401, "invalid_token");
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer .*error="invalid_token"/);
    }
    const plain = await fetch(`${fixture.org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${accessToken}` },
    });
    assert.equal(plain.status, 401);
    const consents = await mine.get(`/oauth/${device.orgId}/user/consents`, {
      authorization: `Bearer ${accessToken}`,
    });
    assert.equal(consents.status, 200);
    const stolen = await thief.get(`/oauth/${device.orgId}/user/consents`, {
      authorization: `Bearer ${accessToken}`,
    });
    assertOAuthError(stolen, 401, "invalid_token");
  });

  test("binds a refresh token to the device across renewals, and another device can neither use nor revoke it", async () => {
    const before = await fixture.device();
    const signedIn = await redeem(fixture.client(before));
    assertBound(signedIn, before);
    const thief = fixture.client(await fixture.device());
    assertOAuthError(await refresh(thief, signedIn), 400, "invalid_grant");
    assertOAuthError(await refresh(fixture.client(), signedIn), 400, "invalid_request");
    const renewed = await renewedDevice(fixture.running.service, before);
    const refreshed = await refresh(fixture.client(renewed), signedIn);
    const accessToken = assertBound(refreshed, renewed);
    // RFC 8705 §3: to this certificate, not to the one before.
    assert.equal((await userinfo(fixture.client(renewed), accessToken)).status, 200);
    assertOAuthError(await userinfo(fixture.client(before), accessToken), 401, "invalid_token");
  });

  test("rejects a bound token once its certificate ends, a day after the renewal", async () => {
    const before = await fixture.device();
    const connection = fixture.client(before);
    await renewedDevice(fixture.running.service, before);
    fixture.clock.advance(86_400_000 - 60_000);
    const signedIn = await redeem(connection);
    const accessToken = assertBound(signedIn, before);
    assert.equal((await userinfo(connection, accessToken)).status, 200);
    fixture.clock.advance(60_000);
    assertOAuthError(await userinfo(connection, accessToken), 401, "invalid_token");
  });

  test("rejects a revoked device's refresh, userinfo and introspection on an open connection", async () => {
    const lost = await fixture.device();
    const connection = fixture.client(lost);
    const signedIn = await redeem(connection);
    const accessToken = assertBound(signedIn, lost);
    const own = await fixture.post(connection, "token", clientCredentials(meters.application));
    const introspect = (token: unknown, client: TestClient) =>
      fixture.post(mine, "introspect", { token: String(token), client_id: client.application.id });
    const good = await introspect(own.body["access_token"], meters);
    assert.deepEqual(good.body["cnf"], { "x5t#S256": lost.thumbprint });
    assert.equal(good.body["active"], true);
    assert.equal((await userinfo(connection, accessToken)).status, 200);
    await revoke(lost);
    assertOAuthError(await userinfo(connection, accessToken), 401, "invalid_token");
    assertOAuthError(await refresh(connection, signedIn), 400, "invalid_request");
    assert.deepEqual((await introspect(own.body["access_token"], meters)).body, { active: false });
    assert.equal(connection.connections(), 1);
    // Nor does another device inherit what it held.
    assertOAuthError(await refresh(mine, signedIn), 400, "invalid_grant");
  });

  test("binds refresh tokens of a certificate client to the device, with bound access tokens or not", async () => {
    const web = await fixture.application({ ...signInSettings, tokenEndpointAuthMethod: "tls_client_auth" });
    const signedIn = await redeem(mine, web);
    assert.equal(signedIn.status, 200);
    const claims = payloadOf(signedIn.body["access_token"]);
    assert.equal(claims["device_id"], device.id);
    assert.equal(claims["cnf"], undefined);
    assert.equal((await userinfo(fixture.client(), String(signedIn.body["access_token"]))).status, 200);
    assertOAuthError(
      await refresh(fixture.client(await fixture.device()), signedIn, web),
      400,
      "invalid_grant",
    );
    assert.equal((await refresh(mine, signedIn, web)).status, 200);
  });

  test("binds tokens beside a client assertion, also at the mTLS alias", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwks = { keys: [{ ...(await exportJWK(publicKey)) }] };
    const method = { tokenEndpointAuthMethod: "private_key_jwt", jwks } as const;
    const { application } = await fixture.application({ ...serviceSettings, ...method, ...bound });
    const ask = async (aud: string, by: MtlsClient) => {
      const assertion = await new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(application.id)
        .setSubject(application.id)
        .setAudience(aud)
        .setExpirationTime(Math.floor(fixture.clock() / 1000) + 60)
        .sign(privateKey);
      const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
      const proof = { client_assertion_type, client_assertion: assertion };
      return fixture.post(by, "token", { grant_type: "client_credentials", ...proof });
    };
    const alias = `${fixture.listeners.mtlsUrl}/oauth/${device.orgId}/token`;
    for (const aud of [fixture.org.issuer, alias]) assertBound(await ask(aud, mine), device);
    assertOAuthError(await ask(`${alias}/`, mine), 401, "invalid_client");
    assertOAuthError(await ask(fixture.org.issuer, fixture.client()), 400, "invalid_request");
  });

  test("never lets a custom scope set device claims, even one older than the reserved names", async () => {
    const { service } = fixture.running;
    const orgId = fixture.org.organisation.id;
    const names = ["device_id", "device_attestation", "cnf"];
    const claim = { source: "static", value: "mine" } as const;
    const create = (name: string, claimed: string) =>
      createCustomScope(service, {
        ...{ orgId, name, displayName: name, description: "", sensitive: false, actor: "test" },
        claims: [{ name: claimed, ...claim }],
      });
    for (const name of names) await assert.rejects(create("boast", name), /is reserved/);
    await create("boast", "boast");
    const claims = JSON.stringify([...names, "boast"].map((name) => ({ name, ...claim })));
    const { query } = service.database;
    await query.updateTable("custom_scope").set({ claims }).where("org_id", "=", orgId).execute();
    // Its news makes every node read the scopes again.
    await create("other", "other");
    await eventually("the scope is known", async () =>
      (await service.customScopes.list(orgId)).some((one) => one.claims.length > 1),
    );

    const plain = await fixture.post(mine, "token", clientCredentials(await boasting({})));
    const told = payloadOf(plain.body["access_token"]);
    assert.equal(told["boast"], "mine");
    assert.equal(told["device_id"], device.id);
    assert.equal(told["cnf"], undefined);
    assertBound(await fixture.post(mine, "token", clientCredentials(await boasting(bound))), device);
    const secretive = await makeClient(service, fixture.org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["boast"] },
    });
    const form = { grant_type: "client_credentials", ...credentials(secretive) };
    const unknown = payloadOf((await fixture.post(mine, "token", form)).body["access_token"]);
    assert.equal(unknown["boast"], "mine");
    for (const name of names) assert.equal(unknown[name], undefined, name);
  });

  const boasting = async (more: Partial<ApplicationSettings>) =>
    (await fixture.application({ ...serviceSettings, allowedScopes: ["boast"], ...more })).application;
});
