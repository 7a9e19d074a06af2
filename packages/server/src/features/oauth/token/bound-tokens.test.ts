import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { isBoundTo } from "@signet/protocol/certificates/certificate-binding";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { type ApplicationSettings, deviceCodeGrantType } from "../../../core/applications/application.ts";
import { revokeDevice } from "../../../core/devices/revoke-device.ts";
import { createCustomScope } from "../../../core/scopes/custom-scopes.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { type CodeSource, codeSource } from "../../../testing/fakes/code-source.ts";
import {
  type CertificateScene,
  certificateScene,
  clientCredentials,
  serviceSettings,
  signInSettings,
} from "../../../testing/fixtures/certificate-fixture.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import { askForCodes, letIn } from "../../../testing/fixtures/device.ts";
import { type EnrolledDevice, renewedDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import type { MtlsClient } from "../../../testing/test-listeners.ts";
import { makeClient, REDIRECT_URI, type TestClient } from "../../../testing/test-service.ts";

const bound = { tlsClientCertificateBoundAccessTokens: true } as const;

forEachDatabase(({ fresh }) => {
  let scene: CertificateScene;
  let source: CodeSource;
  let meters: TestClient;
  let native: TestClient;
  let device: EnrolledDevice;
  let mine: MtlsClient;
  before(async () => {
    scene = await certificateScene(await fresh());
    source = codeSource(scene.org);
    meters = await scene.application({ ...serviceSettings, ...bound });
    native = await scene.application(
      { ...signInSettings, ...bound, tokenEndpointAuthMethod: "none" },
      "public",
    );
    device = await scene.device();
    mine = scene.client(device);
  });
  after(async () => {
    await scene.close();
    assert.deepEqual(scene.running.errors, []);
  });

  const redeem = async (by: MtlsClient, client = native): Promise<Answer> => {
    const { code, verifier } = await source.code({}, client);
    return scene.post(by, "token", {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
      client_id: client.application.id,
    });
  };
  const refresh = (by: MtlsClient, answer: Answer, client = native) =>
    scene.post(by, "token", {
      ...{ grant_type: "refresh_token", refresh_token: String(answer.body["refresh_token"]) },
      client_id: client.application.id,
    });
  const assertBound = (answer: Answer, to: EnrolledDevice): string => {
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    const claims = payloadOf(answer.body["access_token"]);
    assert.deepEqual(claims["cnf"], { "x5t#S256": to.thumbprint });
    assert.equal(isBoundTo(claims, to.der), true);
    assert.equal(claims["device_id"], to.id);
    return String(answer.body["access_token"]);
  };
  const userinfo = (by: MtlsClient, accessToken: string) =>
    by.get(`/oauth/${device.orgId}/userinfo`, { authorization: `Bearer ${accessToken}` });
  const revoke = ({ id, orgId }: EnrolledDevice) =>
    revokeDevice(scene.running.service, { orgId, deviceId: id, reason: "keyCompromise", actor: "test" });

  test("the tokens of every grant are bound to the certificate that came with the request", async () => {
    assertBound(await scene.post(mine, "token", clientCredentials(meters.application)), device);
    const signedIn = await redeem(mine);
    assertBound(signedIn, device);
    assertBound(await refresh(mine, signedIn), device);
    const codes = await askForCodes(scene.org, native.application, { scope: "openid" });
    await letIn(source.browser, scene.org, codes);
    const polled = await scene.post(mine, "token", {
      ...{ grant_type: deviceCodeGrantType, device_code: codes.deviceCode },
      client_id: native.application.id,
    });
    assertBound(polled, device);
    assertBound(await refresh(mine, polled), device);
  });

  test("without a good certificate there are no bound tokens, and the code is not burnt", async () => {
    const { code, verifier } = await source.code({}, native);
    const form = {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
      client_id: native.application.id,
    };
    assertOAuthError(await postForm(`${scene.org.issuer}/token`, form), 400, "invalid_request");
    assertOAuthError(await scene.post(scene.client(), "token", form), 400, "invalid_request");
    const foreign = scene.client(await scene.device(scene.other));
    assertOAuthError(await scene.post(foreign, "token", form), 400, "invalid_request");
    assertBound(await scene.post(mine, "token", form), device);
  });

  test("userinfo answers the device that holds the certificate, and nobody else", async () => {
    const accessToken = assertBound(await redeem(mine), device);
    assert.equal((await userinfo(mine, accessToken)).status, 200);
    const thief = scene.client(await scene.device());
    for (const by of [thief, scene.client()]) {
      const answer = await userinfo(by, accessToken);
      assertOAuthError(answer, 401, "invalid_token");
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer .*error="invalid_token"/);
    }
    const plain = await fetch(`${scene.org.issuer}/userinfo`, {
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

  test("a refresh token is the device's: a renewal survives, another device gets nothing and ends nothing", async () => {
    const before = await scene.device();
    const signedIn = await redeem(scene.client(before));
    assertBound(signedIn, before);
    const thief = scene.client(await scene.device());
    assertOAuthError(await refresh(thief, signedIn), 400, "invalid_grant");
    assertOAuthError(await refresh(scene.client(), signedIn), 400, "invalid_request");
    const renewed = await renewedDevice(scene.running.service, before);
    const refreshed = await refresh(scene.client(renewed), signedIn);
    const accessToken = assertBound(refreshed, renewed);
    // RFC 8705 §3: to this certificate, not to the one before.
    assert.equal((await userinfo(scene.client(renewed), accessToken)).status, 200);
    assertOAuthError(await userinfo(scene.client(before), accessToken), 401, "invalid_token");
  });

  test("a bound token ends with its certificate, when the day after the renewal is over", async () => {
    const before = await scene.device();
    const connection = scene.client(before);
    await renewedDevice(scene.running.service, before);
    scene.clock.advance(86_400_000 - 60_000);
    const signedIn = await redeem(connection);
    const accessToken = assertBound(signedIn, before);
    assert.equal((await userinfo(connection, accessToken)).status, 200);
    scene.clock.advance(60_000);
    assertOAuthError(await userinfo(connection, accessToken), 401, "invalid_token");
  });

  test("revocation stops the next request on an open connection: refresh, userinfo, introspection", async () => {
    const lost = await scene.device();
    const connection = scene.client(lost);
    const signedIn = await redeem(connection);
    const accessToken = assertBound(signedIn, lost);
    const own = await scene.post(connection, "token", clientCredentials(meters.application));
    const introspect = (token: unknown, client: TestClient) =>
      scene.post(mine, "introspect", { token: String(token), client_id: client.application.id });
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

  test("a client that proves itself by certificate gets refresh tokens of the device, bound or not", async () => {
    const web = await scene.application({ ...signInSettings, tokenEndpointAuthMethod: "tls_client_auth" });
    const signedIn = await redeem(mine, web);
    assert.equal(signedIn.status, 200);
    const claims = payloadOf(signedIn.body["access_token"]);
    assert.equal(claims["device_id"], device.id);
    assert.equal(claims["cnf"], undefined);
    assert.equal((await userinfo(scene.client(), String(signedIn.body["access_token"]))).status, 200);
    assertOAuthError(await refresh(scene.client(await scene.device()), signedIn, web), 400, "invalid_grant");
    assert.equal((await refresh(mine, signedIn, web)).status, 200);
  });

  test("a client that signs an assertion binds its tokens beside it, and may call the endpoint by its alias", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwks = { keys: [{ ...(await exportJWK(publicKey)) }] };
    const method = { tokenEndpointAuthMethod: "private_key_jwt", jwks } as const;
    const { application } = await scene.application({ ...serviceSettings, ...method, ...bound });
    const ask = async (aud: string, by: MtlsClient) => {
      const assertion = await new SignJWT({ jti: randomUUID() })
        .setProtectedHeader({ alg: "ES256" })
        .setIssuer(application.id)
        .setSubject(application.id)
        .setAudience(aud)
        .setExpirationTime(Math.floor(scene.clock() / 1000) + 60)
        .sign(privateKey);
      const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
      const proof = { client_assertion_type, client_assertion: assertion };
      return scene.post(by, "token", { grant_type: "client_credentials", ...proof });
    };
    const alias = `${scene.listeners.mtlsUrl}/oauth/${device.orgId}/token`;
    for (const aud of [scene.org.issuer, alias]) assertBound(await ask(aud, mine), device);
    assertOAuthError(await ask(`${alias}/`, mine), 401, "invalid_client");
    assertOAuthError(await ask(scene.org.issuer, scene.client()), 400, "invalid_request");
  });

  test("no scope speaks of devices: not of its own making, and not one that is older than the names", async () => {
    const { service } = scene.running;
    const orgId = scene.org.organisation.id;
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

    const plain = await scene.post(mine, "token", clientCredentials(await boasting({})));
    const told = payloadOf(plain.body["access_token"]);
    assert.equal(told["boast"], "mine");
    assert.equal(told["device_id"], device.id);
    assert.equal(told["cnf"], undefined);
    assertBound(await scene.post(mine, "token", clientCredentials(await boasting(bound))), device);
    const secretive = await makeClient(service, scene.org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["boast"] },
    });
    const form = { grant_type: "client_credentials", ...credentials(secretive) };
    const unknown = payloadOf((await scene.post(mine, "token", form)).body["access_token"]);
    assert.equal(unknown["boast"], "mine");
    for (const name of names) assert.equal(unknown[name], undefined, name);
  });

  const boasting = async (more: Partial<ApplicationSettings>) =>
    (await scene.application({ ...serviceSettings, allowedScopes: ["boast"], ...more })).application;
});
