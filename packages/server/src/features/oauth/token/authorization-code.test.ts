import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { atHash } from "@signet/protocol/jose/jws";
import { setPassword, setUserStatus } from "../../../core/users/users.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import type { Answer } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, headerOf, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  PASSWORD,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  let lax: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    lax = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requirePkce: false,
      requireConsent: false,
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const WITHOUT_PKCE = { code_challenge: "", code_challenge_method: "" };
  const refused = (answer: Answer, about = "") => assertOAuthError(answer, 400, "invalid_grant", about);

  test("returns the granted scopes and claims in the response and both tokens, and nothing else", async () => {
    const nonce = "n-0S6_WzA2Mj";
    const grant = await source.code({ nonce, scope: "openid profile email offline_access" });
    const answer = await redeemWith(org, grant);
    assert.equal(answer.status, 200);
    const { access_token, id_token, ...rest } = answer.body;
    assert.match(String(rest["refresh_token"]), /^sgn_rt_/);
    const { refresh_token: _, ...plain } = rest;
    assert.deepEqual(plain, {
      token_type: "Bearer",
      expires_in: 3600,
      scope: "openid profile email offline_access",
    });
    const at = Math.floor(clock() / 1000);
    const access = payloadOf(access_token);
    const { jti, auth_time, ...claims } = access;
    assert.deepEqual(headerOf(access_token)["typ"], "at+jwt");
    assert.match(String(jti), /^[A-Za-z0-9_-]{43}$/);
    assert.ok(Number(auth_time) <= at && Number(auth_time) > at - 60);
    assert.deepEqual(claims, {
      iss: org.issuer,
      sub: org.user.id,
      aud: org.issuer,
      exp: at + 3600,
      iat: at,
      client_id: org.web.application.id,
      org_id: org.organisation.id,
      scope: "openid profile email offline_access",
      amr: ["pwd"],
      acr: "urn:signet:acr:pwd",
    });
    const { sid, ...identity } = payloadOf(id_token);
    assert.match(String(sid), /^[0-9a-f-]{36}$/);
    assert.deepEqual(identity, {
      iss: org.issuer,
      sub: org.user.id,
      aud: org.web.application.id,
      azp: org.web.application.id,
      exp: at + 3600,
      iat: at,
      auth_time,
      amr: ["pwd"],
      acr: "urn:signet:acr:pwd",
      nonce,
      at_hash: atHash(String(access_token), "ES256"),
    });
    assert.deepEqual(Object.keys(headerOf(id_token)).sort(), ["alg", "kid", "typ"]);
  });

  test("issues no ID token without openid, and no nonce claim without a nonce", async () => {
    const plain = await source.tokens({ scope: "profile" });
    assert.equal(plain.body["id_token"], undefined);
    assert.equal(plain.body["scope"], "profile");
    assert.ok(!("nonce" in payloadOf((await source.tokens()).idToken)));
  });

  test("omits scopes that the client is not allowed, and says so in the response", async () => {
    const { body, accessToken } = await source.tokens({ scope: "openid admin email unknown:scope" });
    assert.equal(body["scope"], "openid email");
    assert.equal(payloadOf(accessToken)["scope"], "openid email");
  });

  test("uses the lifetimes and algorithms of the application", async () => {
    const own = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      accessTokenLifetimeSeconds: 60,
      idTokenSignedResponseAlg: "RS256",
      accessTokenSignedResponseAlg: "EdDSA",
      audience: "https://api.example",
      idTokenIncludesScopeClaims: true,
    });
    const { body, accessToken, idToken } = await source.tokens({ scope: "openid phone" }, own);
    assert.equal(body["expires_in"], 60);
    for (const token of [accessToken, idToken]) {
      const { exp, iat } = payloadOf(token);
      assert.equal(Number(exp) - Number(iat), 60);
    }
    assert.equal(headerOf(accessToken)["alg"], "EdDSA");
    assert.equal(headerOf(idToken)["alg"], "RS256");
    assert.deepEqual(payloadOf(accessToken)["aud"], ["https://api.example", org.issuer]);
    assert.equal(payloadOf(idToken)["phone_number"], "+4512345678", "asked for by the application's setting");
    assert.equal(payloadOf(idToken)["email"], undefined);
  });

  test("issues a refresh token for offline_access or by the application's setting only", async () => {
    const settings = { redirectUris: [REDIRECT_URI], requireConsent: false } as const;
    const strict = await makeClient(running.service, org.organisation, {
      ...settings,
      issueRefreshTokenWithoutOfflineAccess: false,
    });
    const without = await makeClient(running.service, org.organisation, {
      ...settings,
      grantTypes: ["authorization_code"],
    });
    const has = async (client: TestClient, scope: string) =>
      "refresh_token" in (await source.tokens({ scope }, client)).body;
    assert.equal(await has(strict, "openid"), false);
    assert.equal(await has(strict, "openid offline_access"), true);
    assert.equal(await has(without, "openid offline_access"), false);
  });

  test("rejects a missing, wrong or malformed code_verifier without consuming the code", async () => {
    const grant = await source.code();
    refused(await redeemWith(org, grant, { code_verifier: "" }), "missing");
    refused(await redeemWith(org, grant, { code_verifier: "x".repeat(43) }), "wrong");
    refused(await redeemWith(org, grant, { code_verifier: `${grant.verifier.slice(0, -1)}~` }), "altered");
    for (const malformed of ["short", "x".repeat(129), `${grant.verifier} `, "é".repeat(50)]) {
      const answer = await redeemWith(org, grant, { code_verifier: malformed });
      assertOAuthError(answer, 400, "invalid_request", malformed);
    }
    assert.equal((await redeemWith(org, grant)).status, 200);
  });

  test("rejects a code_verifier for a code without a challenge (PKCE downgrade)", async () => {
    const grant = await source.code(WITHOUT_PKCE, lax);
    refused(await redeemWith(org, grant, {}, lax), "a verifier out of nowhere");
    assert.equal((await redeemWith(org, grant, { code_verifier: "" }, lax)).status, 200);
    const bound = await source.code({}, lax);
    refused(await redeemWith(org, bound, { code_verifier: "" }, lax), "held to the challenge it sent");
    assert.equal((await redeemWith(org, bound, {}, lax)).status, 200);
  });

  test("rejects another redirect_uri, and requires one unless PKCE binds the code", async () => {
    const grant = await source.code();
    for (const uri of ["https://app.example/other", `${REDIRECT_URI}/`, REDIRECT_URI.toUpperCase(), "x"]) {
      refused(await redeemWith(org, grant, { redirect_uri: uri }), uri);
    }
    assert.equal((await redeemWith(org, grant, { redirect_uri: "" })).status, 200);
    const unbound = await source.code(WITHOUT_PKCE, lax);
    const missing = await redeemWith(org, unbound, { redirect_uri: "", code_verifier: "" }, lax);
    assertOAuthError(missing, 400, "invalid_request");
  });

  test("rejects another client's code without consuming it", async () => {
    const grant = await source.code();
    refused(await redeemWith(org, grant, {}, lax));
    const native: TestClient = { application: org.native, secret: "" };
    refused(await redeemWith(org, grant, { redirect_uri: "" }, native));
    assert.equal((await redeemWith(org, grant)).status, 200);
  });

  test("rejects another organisation's code", async () => {
    const other = await makeOrganisation(running.service, "Elsewhere");
    const grant = await source.code();
    refused(await redeemWith(other, grant));
    assert.equal((await redeemWith(org, grant)).status, 200);
  });

  test("expires a code after ten minutes, whatever the application's lifetimes", async () => {
    const [first, second] = [await source.code(), await source.code()];
    clock.advance(10 * 60_000 - 1);
    assert.equal((await redeemWith(org, first)).status, 200);
    clock.advance(1);
    refused(await redeemWith(org, second), "expired");
  });

  test("rejects other credentials as codes", async () => {
    const { accessToken, refreshToken, idToken } = await source.tokens();
    const { verifier, code } = await source.code();
    const cookie = [...source.browser.cookies.values()][0] ?? "";
    const wrong = [
      accessToken,
      refreshToken,
      idToken,
      cookie,
      org.web.secret,
      org.user.id,
      code.toUpperCase(),
    ];
    for (const value of [...wrong, `${code}x`, code.slice(0, -1), "sgn_ac_", "x".repeat(50_000)]) {
      refused(await redeemWith(org, { code: value, verifier }), value.slice(0, 60));
    }
    assertOAuthError(await redeemWith(org, { code: "", verifier }), 400, "invalid_request", "no code");
    assert.equal((await redeemWith(org, { code, verifier })).status, 200);
  });

  test("rejects a code after its user was disabled or signed out", async () => {
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    const beforeDisabling = await source.code();
    await setUserStatus(running.service, { ...user, disabled: true });
    refused(await redeemWith(org, beforeDisabling), "disabled");
    await setUserStatus(running.service, { ...user, disabled: false });
    refused(await redeemWith(org, beforeDisabling), "enabled again, but the session has ended");
    const signedIn = await source.code();
    const page = await source.browser.get(`${org.issuer}/end_session`);
    await source.browser.post(`${org.issuer}/end_session`, page.hidden);
    refused(await redeemWith(org, signedIn), "signed out");
    assert.equal((await redeemWith(org, await source.code())).status, 200, "and signed in again");
  });

  test("rejects codes issued before a password change", async () => {
    const grant = await source.code();
    const about = [org.user.email];
    const change = { organisation: org.organisation, id: org.user.id, about, actor: "test" };
    assert.equal(await setPassword(running.service, { ...change, password: `${PASSWORD} two` }), true);
    refused(await redeemWith(org, grant));
    await setPassword(running.service, { ...change, password: PASSWORD });
  });
});
