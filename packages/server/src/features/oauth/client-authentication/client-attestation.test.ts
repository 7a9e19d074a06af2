/** attest_jwt_client_auth and attest_jwt_client_auth_dpop: a device vouches for the key of a client on it. */
import assert from "node:assert/strict";
import { createHmac, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { after, before, test } from "node:test";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import { newEcKey, testCertificate } from "@signet/protocol/testing/test-certificate";
import { newUuid } from "@signet/protocol/uuid";
import { type JWTPayload, SignJWT } from "jose";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { InvalidApplication } from "../../../core/applications/validation.ts";
import { OVERLAP_MS } from "../../../core/devices/device.ts";
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
import { postForm } from "../../../testing/fixtures/client.ts";
import { type EnrolledDevice, renewedDevice } from "../../../testing/fixtures/enrolled-device.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import type { TestClient } from "../../../testing/test-service.ts";

const attested = { ...serviceSettings, tokenEndpointAuthMethod: "attest_jwt_client_auth" } as const;
const combined = { ...serviceSettings, tokenEndpointAuthMethod: "attest_jwt_client_auth_dpop" } as const;

const publicJwk = (key: KeyObject) => createPublicKey(key).export({ format: "jwk" });

/** What a request is made of; each member may be replaced by a bad one. */
interface Parts {
  readonly device: EnrolledDevice;
  readonly key: KeyObject;
  /** Signs the attestation, by default the device. */
  readonly attester: KeyObject;
  /** Signs the proof, by default the attested key. */
  readonly holder: KeyObject;
  readonly x5c: unknown;
  readonly header: Record<string, unknown>;
  readonly claims: JWTPayload;
  readonly proofHeader: Record<string, unknown>;
  readonly proofClaims: JWTPayload;
}

forEachDatabase(({ fresh }) => {
  let fixture: CertificateFixture;
  let device: EnrolledDevice;
  let client: TestClient;
  let issuer: string;
  before(async () => {
    fixture = await certificateFixture(await fresh());
    device = await fixture.device();
    client = await fixture.application(attested);
    issuer = `${fixture.running.baseUrl}/oauth/${device.orgId}`;
  });
  after(async () => {
    await fixture.close();
    assert.deepEqual(fixture.running.errors, []);
  });

  const now = () => Math.floor(fixture.clock() / 1000);
  const sign = (claims: JWTPayload, header: Record<string, unknown>, key: KeyObject) =>
    new SignJWT(claims).setProtectedHeader({ alg: "ES256", ...header }).sign(key);

  const attestation = (of: TestClient, parts: Partial<Parts> = {}) => {
    const { device: by = device, key = newEcKey(), attester = by.privateKey } = parts;
    const claims = { sub: of.application.id, iat: now(), exp: now() + 600, cnf: { jwk: publicJwk(key) } };
    const x5c = "x5c" in parts ? parts.x5c : [by.der.toString("base64")];
    const header = { typ: "oauth-client-attestation+jwt", x5c, ...parts.header };
    return sign({ ...claims, ...parts.claims }, header, attester);
  };
  const proof = (key: KeyObject, { proofClaims, proofHeader }: Partial<Parts> = {}) =>
    sign(
      { aud: issuer, iat: now(), jti: newUuid(), ...proofClaims },
      { typ: "oauth-client-attestation-pop+jwt", ...proofHeader },
      key,
    );
  const dpop = (key: KeyObject, endpoint = "token") =>
    sign(
      { htm: "POST", htu: `${issuer}/${endpoint}`, iat: now(), jti: newUuid() },
      { typ: "dpop+jwt", jwk: publicJwk(key) },
      key,
    );
  const headersOf = async (of: TestClient, parts: Partial<Parts> = {}) => {
    const { key = newEcKey() } = parts;
    return {
      "oauth-client-attestation": await attestation(of, { ...parts, key }),
      "oauth-client-attestation-pop": await proof(parts.holder ?? key, parts),
    };
  };
  const token = async (
    parts: Partial<Parts> = {},
    { of = client, form = {}, headers = {} }: { of?: TestClient; form?: object; headers?: object } = {},
  ) =>
    postForm(
      `${issuer}/token`,
      { ...clientCredentials(of.application), ...form },
      { ...(await headersOf(of, parts)), ...headers },
    );
  const refuses = async (parts: Partial<Parts>, about: string) =>
    assertOAuthError(await token(parts), 401, "invalid_client", about);

  test("a client is whom a device of the organisation vouches for, and its token names the device", async () => {
    const { status, body } = await token();
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.equal(claims["device_id"], device.id);
    assert.equal(claims["cnf"], undefined);
    const unnamed = await postForm(
      `${issuer}/token`,
      { grant_type: "client_credentials" },
      await headersOf(client),
    );
    assert.equal(unnamed.status, 200, "the attestation names the client");
  });

  test("an attestation serves again and again, a proof once", async () => {
    const key = newEcKey();
    const headers = {
      "oauth-client-attestation": await attestation(client, { key }),
      "oauth-client-attestation-pop": await proof(key),
    };
    const ask = (more: object = {}) =>
      postForm(`${issuer}/token`, clientCredentials(client.application), { ...headers, ...more });
    assert.equal((await ask()).status, 200);
    assertOAuthError(await ask(), 401, "invalid_client");
    assert.equal((await ask({ "oauth-client-attestation-pop": await proof(key) })).status, 200);
    const elsewhere = { ...headers, "oauth-client-attestation-pop": await proof(key) };
    const [once, twice] = await Promise.all(
      [0, 1].map(() => postForm(`${issuer}/token`, clientCredentials(client.application), elsewhere)),
    );
    assert.deepEqual([once?.status, twice?.status].sort(), [200, 401]);
  });

  test("refuses every attestation that is not of a good certificate, this client and this time", async () => {
    const stranger = await fixture.device(fixture.other);
    await refuses({ device: stranger }, "another organisation's device");
    const forged = testCertificate({ subject: `CN=${device.id}`, uris: [device.uri] });
    await refuses({ attester: forged.privateKey, x5c: [forged.x5c] }, "a certificate of nobody");
    await refuses({ attester: forged.privateKey }, "the certificate of a device, the signature of another");
    for (const [x5c, about] of [
      [undefined, "none"],
      [[], "empty"],
      ["x", "no list"],
      [["AAAA"], "no certificate"],
      [Array(5).fill(device.der.toString("base64")), "too many"],
    ])
      await refuses({ x5c }, `x5c: ${about}`);
    await refuses({ header: { typ: "JWT" } }, "another type");
    await refuses({ claims: { sub: newUuid() } }, "another client");
    await refuses({ claims: { exp: now() - 31 } }, "expired");
    await refuses({ claims: { iat: now() + 31 } }, "of the future");
    await refuses({ claims: { exp: now() + 90_000 } }, "for more than a day");
    await refuses({ claims: { exp: undefined } as unknown as JWTPayload }, "without end");
    await refuses({ claims: { cnf: undefined } }, "without a key");
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    await refuses({ claims: { cnf: { jwk: privateKey.export({ format: "jwk" }) } } }, "a private key");
    assert.equal((await token()).status, 200);
  });

  test("refuses every proof that is not of the attested key, for this issuer and now", async () => {
    await refuses({ holder: newEcKey() }, "another key");
    await refuses({ proofHeader: { typ: "dpop+jwt" } }, "another type");
    for (const [proofClaims, about] of [
      [{ aud: `${issuer}/token` }, "the endpoint"],
      [{ aud: [issuer] }, "a list"],
      [{ aud: `${fixture.running.baseUrl}/oauth/${fixture.other.organisation.id}` }, "another issuer"],
      [{ iat: now() - 61 }, "old"],
      [{ iat: now() + 31 }, "of the future"],
      [{ jti: "" }, "unnamed"],
      [{ jti: "x".repeat(256) }, "long name"],
    ] as const)
      await refuses({ proofClaims: proofClaims as JWTPayload }, about);
    const headers = await headersOf(client);
    for (const name of Object.keys(headers)) {
      const { [name as keyof typeof headers]: _, ...rest } = headers;
      assertOAuthError(
        await postForm(`${issuer}/token`, clientCredentials(client.application), rest),
        401,
        "invalid_client",
      );
    }
  });

  test("no algorithm but that of the key itself: none, HMAC with the public key, another curve", async () => {
    const key = newEcKey();
    const good = await headersOf(client, { key });
    const secretOf = (publicKey: KeyObject) => Buffer.from(publicKey.export({ type: "spki", format: "pem" }));
    const resigned = (text: string, header: object, secret?: Buffer) => {
      const [, payload = ""] = text.split(".");
      const input = `${Buffer.from(JSON.stringify(header)).toString("base64url")}.${payload}`;
      return `${input}.${secret ? createHmac("sha256", secret).update(input).digest("base64url") : "AA"}`;
    };
    const types = {
      "oauth-client-attestation": "oauth-client-attestation+jwt",
      "oauth-client-attestation-pop": "oauth-client-attestation-pop+jwt",
    } as const;
    for (const [name, publicKey] of [
      ["oauth-client-attestation", createPublicKey(device.privateKey)],
      ["oauth-client-attestation-pop", createPublicKey(key)],
    ] as const) {
      const header = { typ: types[name], x5c: [device.der.toString("base64")] };
      for (const forged of [
        resigned(good[name], { ...header, alg: "none" }),
        resigned(good[name], { ...header, alg: "HS256" }, secretOf(publicKey)),
        resigned(good[name], { ...header, alg: "RS256" }),
        `${good[name]}, ${good[name]}`,
      ]) {
        const sent = { ...(await headersOf(client, { key })), [name]: forged };
        const answer = await postForm(`${issuer}/token`, clientCredentials(client.application), sent);
        assertOAuthError(answer, 401, "invalid_client", name);
      }
    }
    const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey;
    await refuses(
      { claims: { cnf: { jwk: publicJwk(p384) } } },
      "a key of a curve that nothing here signs with",
    );
    // Whoever holds the device's key alone does not hold the client's.
    await refuses({ holder: device.privateKey }, "the device's key in place of the attested one");
    await refuses({ claims: { cnf: { jwk: { kty: "oct", k: "AAAA" } } } }, "a secret");
  });

  test("a certificate that has expired, or was replaced a day ago, vouches for nobody", async () => {
    const { service } = fixture.running;
    const old = await fixture.device();
    const next = await renewedDevice(service, old);
    assert.equal((await token({ device: old })).status, 200, "on the day of its renewal");
    fixture.clock.advance(OVERLAP_MS);
    await refuses({ device: old }, "replaced");
    assert.equal((await token({ device: next })).status, 200);
    fixture.clock.advance(90 * 86_400_000);
    await refuses({ device: next }, "expired");
    device = await fixture.device();
  });

  test("a proof serves once at all endpoints together", async () => {
    const headers = await headersOf(client);
    const form = { client_id: client.application.id, token: "x" };
    assert.equal((await postForm(`${issuer}/introspect`, form, headers)).status, 200);
    for (const endpoint of ["token", "introspect", "revoke"]) {
      const answer = await postForm(
        `${issuer}/${endpoint}`,
        { ...form, grant_type: "client_credentials" },
        headers,
      );
      assertOAuthError(answer, 401, "invalid_client", endpoint);
    }
  });

  test("a revoked device vouches for nobody, and what it vouched for ends", async () => {
    const lost = await fixture.device();
    const { body } = await token({ device: lost });
    const introspect = async () =>
      (
        await postForm(
          `${issuer}/introspect`,
          { client_id: client.application.id, token: String(body["access_token"]) },
          await headersOf(client),
        )
      ).body;
    assert.equal((await introspect())["active"], true);
    const { orgId, id: deviceId } = lost;
    await revokeDevice(fixture.running.service, { orgId, deviceId, reason: "keyCompromise", actor: "test" });
    await refuses({ device: lost }, "revoked");
    assert.deepEqual(await introspect(), { active: false });
  });

  test("no other method is taken for an attestation, and an attestation for no other", async () => {
    const other = await fixture.application(serviceSettings);
    assertOAuthError(await token({}, { of: other }), 401, "invalid_client");
    assertOAuthError(await token({}, { form: { client_secret: "sgn_cs_x" } }), 401, "invalid_client");
    assertOAuthError(
      await fixture.post(fixture.client(device), "token", clientCredentials(client.application)),
      401,
      "invalid_client",
    );
  });

  test("only the device of the registered name vouches for a client that has one", async () => {
    const named = await fixture.application({ ...attested, tlsClientAuthSanUri: device.uri });
    assert.equal((await token({}, { of: named })).status, 200);
    const another = await fixture.device();
    assertOAuthError(await token({ device: another }, { of: named }), 401, "invalid_client");
  });

  test("one DPoP proof serves for both, of the attested key alone", async () => {
    const both = await fixture.application(combined);
    const key = newEcKey();
    const ask = async (headers: Record<string, string>) =>
      postForm(`${issuer}/token`, clientCredentials(both.application), {
        "oauth-client-attestation": await attestation(both, { key }),
        ...headers,
      });
    const { status, body } = await ask({ dpop: await dpop(key) });
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual(
      [body["token_type"], claims["device_id"], (claims["cnf"] as { jkt?: string }).jkt],
      ["DPoP", device.id, jwkThumbprint(publicJwk(key))],
    );
    assertOAuthError(await ask({ dpop: await dpop(newEcKey()) }), 401, "invalid_client", "another key");
    assertOAuthError(await ask({}), 401, "invalid_client", "none");
    const beside = { dpop: await dpop(key), "oauth-client-attestation-pop": await proof(key) };
    assertOAuthError(await ask(beside), 401, "invalid_client", "two proofs");
    assertOAuthError(await ask({ "oauth-client-attestation-pop": await proof(key) }), 401, "invalid_client");
    assertOAuthError(await ask({ dpop: await dpop(key, "par") }), 400, "invalid_dpop_proof");
  });

  test("a refresh token belongs to the device that vouched when it was issued", async () => {
    const signIn = { ...signInSettings, tokenEndpointAuthMethod: "attest_jwt_client_auth" } as const;
    const app = await fixture.application({ ...signIn, allowedScopes: ["openid", "offline_access"] });
    const { code, verifier } = await codeSource(fixture.org).code({ scope: "openid offline_access" }, app);
    const [redirect_uri = ""] = signInSettings.redirectUris;
    const sent = { grant_type: "authorization_code", code, redirect_uri, code_verifier: verifier };
    const redeemed = await token({}, { of: app, form: sent });
    assert.equal(redeemed.status, 200, JSON.stringify(redeemed.body));
    const form = { grant_type: "refresh_token", refresh_token: String(redeemed.body["refresh_token"]) };
    const another = await fixture.device();
    assertOAuthError(await token({ device: another }, { of: app, form }), 400, "invalid_grant");
    assert.equal((await token({}, { of: app, form })).status, 200);
  });

  test("refuses to share such an application, and says what a name needs", async () => {
    const faulty = async (settings: Partial<ApplicationSettings>, path: string) =>
      assert.rejects(
        fixture.application(settings),
        (error: unknown) =>
          error instanceof InvalidApplication && error.faults.some((fault) => fault.path === path),
      );
    await faulty({ ...attested, shared: { organisations: "any" } }, "shared");
    const secret = { ...serviceSettings, tokenEndpointAuthMethod: "client_secret_post" } as const;
    await faulty({ ...secret, tlsClientAuthSanUri: device.uri }, "tlsClientAuthSanUri");
  });
});
