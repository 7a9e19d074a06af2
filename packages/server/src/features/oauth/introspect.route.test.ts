import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { disableApplication } from "../../core/applications/applications.ts";
import { disableUser } from "../../core/users/users.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { assertOAuthError, payloadOf, postText } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const AUDIENCE = "https://api.example/orders";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  let source: CodeSource;
  let resource: TestClient;
  let caller: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Elsewhere");
    source = codeSource(org);
    resource = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      audience: AUDIENCE,
    });
    caller = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["orders:read"],
      allowedResources: [AUDIENCE, `urn:client:${org.web.application.id}`],
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const introspect = async (token: string, client: TestClient = org.web, issuer = org.issuer) => {
    const answer = await postForm(`${issuer}/introspect`, { token, ...credentials(client) });
    assert.equal(answer.status, 200);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    assert.match(answer.headers.get("content-type") ?? "", /^application\/json/);
    return answer.body;
  };
  const INACTIVE = { active: false };
  const jobToken = async (client: TestClient, more: Record<string, string> = {}) => {
    const form = { grant_type: "client_credentials", ...credentials(client), ...more };
    return String((await postForm(`${org.issuer}/token`, form)).body["access_token"]);
  };

  test("a client's own access token is told with all its claims", async () => {
    const { accessToken } = await source.tokens({ scope: "openid email" });
    const { scope, client_id, sub, ...claims } = await introspect(accessToken);
    assert.deepEqual([scope, client_id, sub], ["openid email", org.web.application.id, org.user.id]);
    const told = { ...claims, scope, client_id, sub };
    assert.deepEqual(told, { active: true, ...payloadOf(accessToken), token_type: "Bearer" });
    const job = await jobToken(org.batch);
    assert.deepEqual(await introspect(job, org.batch), {
      active: true,
      ...payloadOf(job),
      token_type: "Bearer",
    });
  });

  test("a refresh token is told to its client alone, and asking is no use of it", async () => {
    const { refreshToken } = await source.tokens({ scope: "openid email" });
    const at = Math.floor(clock() / 1000);
    assert.deepEqual(await introspect(refreshToken), {
      active: true,
      iss: org.issuer,
      sub: org.user.id,
      client_id: org.web.application.id,
      scope: "openid email",
      iat: at,
      exp: at + 86_400,
    });
    assert.deepEqual(await introspect(refreshToken, org.batch), INACTIVE);
    const next = String((await refresh(org, refreshToken)).body["refresh_token"]);
    assert.deepEqual(await introspect(refreshToken), INACTIVE, "rotated");
    assert.equal((await introspect(next))["active"], true, "asking about the rotated one ended nothing");
    clock.advance(86_400_000);
    assert.deepEqual(await introspect(next), INACTIVE, "expired");
  });

  test("a resource server is told of tokens whose audience it is, by its audience or its client_id", async () => {
    const meant = await jobToken(caller, { resource: AUDIENCE });
    assert.equal((await introspect(meant, resource))["aud"], AUDIENCE);
    const own = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedResources: [AUDIENCE],
      audience: org.web.application.id,
    });
    assert.equal((await introspect(await jobToken(own), org.web))["active"], true);
  });

  test("strangers are told nothing: not the issuer's tokens, not a similar audience", async () => {
    const { accessToken } = await source.tokens();
    assert.deepEqual(await introspect(accessToken, org.batch), INACTIVE);
    assert.deepEqual(await introspect(accessToken, resource), INACTIVE);
    const meant = await jobToken(caller, { resource: AUDIENCE });
    assert.deepEqual(await introspect(meant, org.web), INACTIVE);
    const prefix = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      audience: "https://api.example",
    });
    assert.deepEqual(await introspect(meant, prefix), INACTIVE);
  });

  test("a public client may not ask, not even about its own", async () => {
    const native: TestClient = { application: org.native, secret: "" };
    const { accessToken } = await source.tokens({}, native);
    const form = { token: accessToken, client_id: org.native.id };
    const answer = await postForm(`${org.issuer}/introspect`, form);
    assertOAuthError(answer, 401, "invalid_client");
    assert.ok(answer.headers.has("www-authenticate"));
  });

  test("another organisation is told nothing, with either one's client", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    for (const token of [accessToken, refreshToken]) {
      assert.deepEqual(await introspect(token, other.web, other.issuer), INACTIVE);
      const foreign = await postForm(`${other.issuer}/introspect`, { token, ...credentials(org.web) });
      assertOAuthError(foreign, 401, "invalid_client");
    }
  });

  test("garbage, other kinds of value and tampered tokens are inactive and nothing more", async () => {
    const { accessToken, idToken, refreshToken } = await source.tokens();
    const { code } = await source.code();
    const [header = "", payload = "", signature = ""] = accessToken.split(".");
    const changed = Buffer.from(
      JSON.stringify({ ...payloadOf(accessToken), scope: "openid admin" }),
    ).toString("base64url");
    const garbage = [
      "x",
      "..",
      "a.b.c",
      idToken,
      code,
      org.web.secret,
      `${header}.${changed}.${signature}`,
      `${header}.${payload}.`,
      `${header}.${payload}`,
      `${accessToken}.x`,
      ` ${accessToken}`,
      `${refreshToken}x`,
      "a".repeat(60_000),
    ];
    for (const token of garbage) assert.deepEqual(await introspect(token), INACTIVE, token.slice(0, 40));
  });

  test("an expired token is inactive to the second", async () => {
    const token = await jobToken(org.batch);
    const { exp } = payloadOf(token);
    clock.advance(Number(exp) * 1000 - clock() - 1);
    assert.equal((await introspect(token, org.batch))["active"], true);
    clock.advance(1);
    assert.deepEqual(await introspect(token, org.batch), INACTIVE);
  });

  test("revocation is seen at once, though the signature was checked before", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const job = await jobToken(org.batch);
    assert.equal((await introspect(accessToken))["active"], true);
    assert.equal((await introspect(job, org.batch))["active"], true);
    await postForm(`${org.issuer}/revoke`, { token: job, ...credentials(org.batch) });
    assert.deepEqual(await introspect(job, org.batch), INACTIVE, "by its jti");
    await postForm(`${org.issuer}/revoke`, { token: refreshToken, ...credentials(org.web) });
    assert.deepEqual(await introspect(accessToken), INACTIVE, "by its family");
    assert.deepEqual(await introspect(refreshToken), INACTIVE);
  });

  test("a disabled user's and a disabled application's tokens are inactive", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    await disableUser(running.service, { ...user, disabled: true });
    assert.deepEqual(await introspect(accessToken), INACTIVE);
    assert.deepEqual(await introspect(refreshToken), INACTIVE);
    await disableUser(running.service, { ...user, disabled: false });

    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "client_credentials"],
      audience: AUDIENCE,
    });
    const tokens = [(await source.tokens({}, client)).accessToken, await jobToken(client)];
    for (const token of tokens) assert.equal((await introspect(token, resource))["active"], true);
    const application = { orgId: org.organisation.id, id: client.application.id, actor: "test" };
    await disableApplication(running.service, { ...application, disabled: true });
    for (const token of tokens) assert.deepEqual(await introspect(token, resource), INACTIVE);
  });

  test("a missing token, and a body that is no form, are refused", async () => {
    const body = new URLSearchParams(credentials(org.web)).toString();
    assertOAuthError(await postText(`${org.issuer}/introspect`, body), 400, "invalid_request");
    const json = await postText(`${org.issuer}/introspect`, "{}", { "content-type": "application/json" });
    assertOAuthError(json, 415, "invalid_request");
  });
});
