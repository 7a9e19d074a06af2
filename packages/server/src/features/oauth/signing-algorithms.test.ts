/** Each application's own algorithms, from the token to everybody who reads it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, type JWTVerifyGetKey, jwtVerify } from "jose";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const CLASSICAL = ["ES256", "RS256", "PS256", "EdDSA"] as const;
const POST_QUANTUM = ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"] as const;
const ALGS = [...CLASSICAL, ...POST_QUANTUM] as const;
type Alg = (typeof ALGS)[number];

/** OpenID Connect Core §3.1.3.6, worked out anew: the left half of the hash that the ID token's algorithm uses. */
const HASH_OF: Record<Alg, [name: string, half: number]> = {
  ES256: ["sha256", 16],
  RS256: ["sha256", 16],
  PS256: ["sha256", 16],
  EdDSA: ["sha512", 32],
  // modern-oauth.md §7: the first 32 of 64 bytes.
  "ML-DSA-44": ["shake256", 32],
  "ML-DSA-65": ["shake256", 32],
  "ML-DSA-87": ["shake256", 32],
};

function expectedAtHash(accessToken: string, alg: Alg): string {
  const [name, half] = HASH_OF[alg];
  const options = name === "shake256" ? { outputLength: 64 } : {};
  return createHash(name, options).update(accessToken).digest().subarray(0, half).toString("base64url");
}

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const signingClient = (idToken: Alg, accessToken: Alg, at = org) =>
    makeClient(running.service, at.organisation, {
      redirectUris: [REDIRECT_URI],
      postLogoutRedirectUris: ["https://app.example/bye"],
      idTokenSignedResponseAlg: idToken,
      accessTokenSignedResponseAlg: accessToken,
    });
  const keysOf = (at: TestOrganisation): JWTVerifyGetKey =>
    createRemoteJWKSet(new URL(`${at.issuer}/.well-known/jwks.json`), { cooldownDuration: 0 });
  const publishedAlgs = async (at: TestOrganisation) => {
    const response = await fetch(`${at.issuer}/.well-known/jwks.json`);
    const { keys } = (await response.json()) as { keys: Array<{ alg: string; kid: string; d?: string }> };
    assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
    assert.ok(keys.every((key) => !("d" in key || "p" in key || "priv" in key)));
    return keys.map(({ alg }) => alg).sort();
  };

  for (const alg of ALGS) {
    test(`${alg}: both tokens verify, and work at userinfo, introspection, refresh and as hints`, async () => {
      const client = await signingClient(alg, alg);
      const source = codeSource(org);
      const { accessToken, idToken, refreshToken } = await source.tokens({ nonce: "n" }, client);
      const keys = keysOf(org);
      const access = await jwtVerify(accessToken, keys, {
        issuer: org.issuer,
        typ: "at+jwt",
        algorithms: [alg],
      });
      const id = await jwtVerify(idToken, keys, {
        issuer: org.issuer,
        audience: client.application.id,
        algorithms: [alg],
      });
      assert.deepEqual([access.payload.sub, id.payload.sub], [org.user.id, org.user.id]);
      assert.equal(id.payload["at_hash"], expectedAtHash(accessToken, alg));

      const authorization = `Bearer ${accessToken}`;
      const userinfo = await fetch(`${org.issuer}/userinfo`, { headers: { authorization } });
      assert.equal(((await userinfo.json()) as { sub: string }).sub, org.user.id);
      const asked = { token: accessToken, ...credentials(client) };
      assert.equal((await postForm(`${org.issuer}/introspect`, asked)).body["active"], true);

      const renewed = await refresh(org, refreshToken, {}, client);
      const renewedId = await jwtVerify(String(renewed.body["id_token"]), keys, { algorithms: [alg] });
      const renewedAccess = String(renewed.body["access_token"]);
      assert.equal(renewedId.payload["at_hash"], expectedAtHash(renewedAccess, alg));
      await jwtVerify(renewedAccess, keys, { algorithms: [alg] });

      // As a hint: the silent request is answered with a code, and the sign-out goes back without a question.
      const silent = await source.code({ prompt: "none", id_token_hint: idToken }, client);
      assert.ok(silent.code);
      const goodbye = {
        id_token_hint: idToken,
        post_logout_redirect_uri: "https://app.example/bye",
        state: "s",
      };
      const page = await source.browser.get(`${org.issuer}/end_session?${new URLSearchParams(goodbye)}`);
      assert.equal(page.location, "https://app.example/bye?state=s");
    });
  }

  test("signs the two tokens with different algorithms, and at_hash follows the ID token", async () => {
    const pairs: Array<[Alg, Alg]> = [
      ["EdDSA", "RS256"],
      ["PS256", "EdDSA"],
    ];
    for (const [idAlg, accessAlg] of pairs) {
      const client = await signingClient(idAlg, accessAlg);
      const { accessToken, idToken } = await codeSource(org).tokens({}, client);
      await jwtVerify(accessToken, keysOf(org), { algorithms: [accessAlg] });
      const { payload } = await jwtVerify(idToken, keysOf(org), { algorithms: [idAlg] });
      assert.equal(payload["at_hash"], expectedAtHash(accessToken, idAlg));
    }
  });

  test("creates keys when an application first needs them, RS256 from the beginning", async () => {
    const young = await makeOrganisation(running.service, "Young");
    assert.deepEqual(await publishedAlgs(young), ["ES256", "RS256"]);
    const client = await makeClient(running.service, young.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      accessTokenSignedResponseAlg: "EdDSA",
    });
    assert.deepEqual(await publishedAlgs(young), ["ES256", "RS256"], "registering makes none");
    const form = { grant_type: "client_credentials", ...credentials(client) };
    const tokens = await Promise.all(
      Array.from({ length: 5 }, () => postForm(`${young.issuer}/token`, form)),
    );
    for (const { body } of tokens)
      await jwtVerify(String(body["access_token"]), keysOf(young), { algorithms: ["EdDSA"] });
    assert.deepEqual(
      await publishedAlgs(young),
      ["ES256", "EdDSA", "RS256"],
      "one, however many asked at once",
    );
  });

  test("publishes the old key beside that of ML-DSA while tokens of both are about", async () => {
    const moved = await makeOrganisation(running.service);
    const before = await codeSource(moved).tokens({}, await signingClient("ES256", "ES256", moved));
    assert.deepEqual(await publishedAlgs(moved), ["ES256", "RS256"]);
    const after = await codeSource(moved).tokens({}, await signingClient("ML-DSA-65", "ML-DSA-65", moved));
    assert.deepEqual(await publishedAlgs(moved), ["ES256", "ML-DSA-65", "RS256"]);
    for (const { accessToken } of [before, after]) await jwtVerify(accessToken, keysOf(moved));
  });

  test("keeps ML-DSA from a FAPI client, whose profile does not have it", async () => {
    const fapi = { securityProfile: "fapi2", idTokenSignedResponseAlg: "ML-DSA-65" } as const;
    await assert.rejects(
      makeClient(running.service, org.organisation, fapi),
      /idTokenSignedResponseAlg: must be ES256, PS256 or EdDSA/,
    );
  });

  test("lists four algorithms for client assertions, and ML-DSA beside them for ID tokens", async () => {
    const response = await fetch(`${org.issuer}/.well-known/openid-configuration`);
    const metadata = (await response.json()) as Record<string, unknown>;
    for (const name of [
      "token_endpoint_auth_signing_alg_values_supported",
      "revocation_endpoint_auth_signing_alg_values_supported",
      "introspection_endpoint_auth_signing_alg_values_supported",
    ])
      assert.deepEqual(metadata[name], CLASSICAL, name);
    assert.deepEqual(metadata["id_token_signing_alg_values_supported"], ALGS);
    assert.equal(metadata["backchannel_logout_supported"], true);
    assert.equal(metadata["backchannel_logout_session_supported"], true);
  });
});
