import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setApplicationStatus } from "../../core/applications/applications.ts";
import { setUserStatus } from "../../core/users/users.ts";
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

  test("returns all claims of a client's own access token", async () => {
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

  test("describes a refresh token to its own client only, without using it", async () => {
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

  test("describes tokens to a resource server that is their audience", async () => {
    const meant = await jobToken(caller, { resource: AUDIENCE });
    assert.equal((await introspect(meant, resource))["aud"], AUDIENCE);
    const own = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedResources: [AUDIENCE],
      audience: org.web.application.id,
    });
    assert.equal((await introspect(await jobToken(own), org.web))["active"], true);
  });

  test("responds with inactive to clients that are not the audience", async () => {
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

  test("rejects public clients, even for their own tokens", async () => {
    const native: TestClient = { application: org.native, secret: "" };
    const { accessToken } = await source.tokens({}, native);
    const form = { token: accessToken, client_id: org.native.id };
    const answer = await postForm(`${org.issuer}/introspect`, form);
    assertOAuthError(answer, 401, "invalid_client");
    assert.ok(answer.headers.has("www-authenticate"));
  });

  test("responds with inactive across organisations", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    for (const token of [accessToken, refreshToken]) {
      assert.deepEqual(await introspect(token, other.web, other.issuer), INACTIVE);
      const foreign = await postForm(`${other.issuer}/introspect`, { token, ...credentials(org.web) });
      assertOAuthError(foreign, 401, "invalid_client");
    }
  });

  test("responds with inactive alone to garbage, other credentials and tampered tokens", async () => {
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

  test("responds with inactive from the second of expiry", async () => {
    const token = await jobToken(org.batch);
    const { exp } = payloadOf(token);
    clock.advance(Number(exp) * 1000 - clock() - 1);
    assert.equal((await introspect(token, org.batch))["active"], true);
    clock.advance(1);
    assert.deepEqual(await introspect(token, org.batch), INACTIVE);
  });

  test("sees a revocation immediately, though the signature is cached", async () => {
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

  test("responds with inactive for disabled users and applications", async () => {
    const { accessToken, refreshToken } = await source.tokens();
    const user = { orgId: org.organisation.id, id: org.user.id, actor: "test" };
    await setUserStatus(running.service, { ...user, disabled: true });
    assert.deepEqual(await introspect(accessToken), INACTIVE);
    assert.deepEqual(await introspect(refreshToken), INACTIVE);
    await setUserStatus(running.service, { ...user, disabled: false });

    const client = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      grantTypes: ["authorization_code", "client_credentials"],
      audience: AUDIENCE,
    });
    const tokens = [(await source.tokens({}, client)).accessToken, await jobToken(client)];
    for (const token of tokens) assert.equal((await introspect(token, resource))["active"], true);
    const application = { orgId: org.organisation.id, id: client.application.id, actor: "test" };
    await setApplicationStatus(running.service, { ...application, disabled: true });
    for (const token of tokens) assert.deepEqual(await introspect(token, resource), INACTIVE);
  });

  test("rejects a missing token and a body that is not a form", async () => {
    const body = new URLSearchParams(credentials(org.web)).toString();
    assertOAuthError(await postText(`${org.issuer}/introspect`, body), 400, "invalid_request");
    const json = await postText(`${org.issuer}/introspect`, "{}", { "content-type": "application/json" });
    assertOAuthError(json, 415, "invalid_request");
  });
});
