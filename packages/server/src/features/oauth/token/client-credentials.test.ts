import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource, redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { assertOAuthError, headerOf, payloadOf, postText } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const A = "https://a.example/api";
const B = "urn:example:b";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
      allowedScopes: ["openid", "profile", "address", "offline_access", "jobs:run", "jobs:read"],
      allowedResources: [A, B],
      audience: "https://default.example",
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const ask = (more: string, one = client) => {
    const form = new URLSearchParams({ grant_type: "client_credentials", ...credentials(one) });
    return postText(`${org.issuer}/token`, `${form}${more}`);
  };

  test("issues an RFC 9068 token with the client as subject", async () => {
    const { status, body } = await ask("", org.batch);
    assert.equal(status, 200);
    const token = body["access_token"];
    const { kid, ...header } = headerOf(token);
    assert.deepEqual(header, { alg: "ES256", typ: "at+jwt" });
    assert.match(String(kid), /^[A-Za-z0-9_-]{43}$/);
    const { jti, ...claims } = payloadOf(token);
    assert.match(String(jti), /^[A-Za-z0-9_-]{22}$/);
    const at = Math.floor(clock() / 1000);
    assert.deepEqual(claims, {
      iss: org.issuer,
      sub: org.batch.application.id,
      aud: org.issuer,
      exp: at + 3600,
      iat: at,
      client_id: org.batch.application.id,
      org_id: org.organisation.id,
      scope: "jobs:run",
    });
    assert.notEqual(payloadOf((await ask("", org.batch)).body["access_token"])["jti"], jti);
  });

  test("never issues a refresh token or an ID token for client credentials", async () => {
    for (const more of ["", "&scope=openid+offline_access+jobs:run", "&refresh_token=x&nonce=x"]) {
      const { status, body } = await ask(more);
      assert.equal(status, 200, more);
      assert.deepEqual(Object.keys(body).sort(), ["access_token", "expires_in", "scope", "token_type"]);
    }
  });

  test("grants allowed scopes that need no user, all of them by default", async () => {
    const granted = async (more: string) => (await ask(more)).body["scope"];
    assert.equal(await granted(""), "jobs:run jobs:read");
    assert.equal(await granted("&scope=jobs:read"), "jobs:read");
    assert.equal(await granted("&scope=+jobs:read++jobs:run+"), "jobs:read jobs:run", "spaces too many");
    assert.equal(await granted("&scope=jobs:read+jobs:read+admin"), "jobs:read");
    assert.equal(await granted("&scope=openid+profile+jobs:run"), "jobs:run");
    for (const none of ["openid", "address", "admin", "openid offline_access", '"', "JOBS:RUN", " "]) {
      const answer = await ask(`&scope=${encodeURIComponent(none)}`);
      assertOAuthError(answer, 400, "invalid_scope", none);
    }
  });

  test("issues a token without scope to a client without allowed scopes", async () => {
    const plain = await makeClient(running.service, org.organisation, { grantTypes: ["client_credentials"] });
    const { status, body } = await ask("", plain);
    assert.equal(status, 200);
    assert.ok(!("scope" in body) && !("scope" in payloadOf(body["access_token"])));
  });

  test("sets the audience from requested resources, and rejects foreign ones (RFC 8707)", async () => {
    const audience = async (more: string) => payloadOf((await ask(more)).body["access_token"])["aud"];
    assert.equal(await audience(""), "https://default.example");
    assert.equal(await audience(`&resource=${A}`), A);
    assert.deepEqual(await audience(`&resource=${A}&resource=${B}`), [A, B]);
    assert.equal(await audience(`&resource=${B}&resource=${B}`), B);
    const foreign = [`${A}/`, `${A}/x`, "https://evil.example", A.toUpperCase(), `${A}#x`, org.issuer, "x"];
    for (const resource of foreign) {
      const answer = await ask(`&resource=${A}&resource=${encodeURIComponent(resource)}`);
      assertOAuthError(answer, 400, "invalid_target", resource);
    }
    assertOAuthError(await ask(`&resource=${A}`, org.batch), 400, "invalid_target", "it has no resources");
  });

  test("limits redemption and refresh to the resources of the authorization", async () => {
    const source = codeSource(org);
    const grant = await source.code({ scope: "openid", resource: A }, client);
    const foreign = await redeemWith(org, grant, { resource: B }, client);
    assertOAuthError(foreign, 400, "invalid_target");
    const { body } = await redeemWith(org, grant, {}, client);
    assert.deepEqual(payloadOf(body["access_token"])["aud"], [A, org.issuer]);
    const token = String(body["refresh_token"]);
    assertOAuthError(await refresh(org, token, { resource: B }, client), 400, "invalid_target");
    const next = await refresh(org, token, {}, client);
    assert.deepEqual(payloadOf(next.body["access_token"])["aud"], [A, org.issuer]);
    assert.equal(payloadOf(next.body["id_token"])["aud"], client.application.id);
    const none = await source.tokens({ scope: "openid" }, client);
    assert.deepEqual(payloadOf(none.accessToken)["aud"], ["https://default.example", org.issuer]);
    assertOAuthError(await refresh(org, none.refreshToken, { resource: A }, client), 400, "invalid_target");
  });

  test("uses the access token lifetime of the application", async () => {
    const short = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      accessTokenLifetimeSeconds: 61,
    });
    const { body } = await ask("", short);
    assert.equal(body["expires_in"], 61);
    const { exp, iat } = payloadOf(body["access_token"]);
    assert.equal(Number(exp) - Number(iat), 61);
  });

  test("issues two hundred different tokens to two hundred concurrent requests", async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const answers = await Promise.all(
      Array.from({ length: 200 }, () => postForm(`${org.issuer}/token`, form)),
    );
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
    const ids = new Set(answers.map(({ body }) => payloadOf(body["access_token"])["jti"]));
    assert.equal(ids.size, 200);
  });
});
