// accessTokenType JWT, for resource servers that refuse at+jwt: an ID token must not become an access token by it, or the reverse.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { createCustomScope } from "../../core/scopes/custom-scopes.ts";
import { readIdTokenHint } from "../../core/tokens/id-token-hint.ts";
import { changeMemberRecord } from "../../core/users/member-record.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../testing/fakes/code-source.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { headerOf, payloadOf, sendRaw } from "../../testing/probes/answers.ts";
import { signedByService } from "../../testing/probes/forged-tokens.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  let plain: TestClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    plain = await makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      accessTokenType: "JWT",
    });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const userinfo = async (token: string) =>
    (await sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;
  const isActive = async (token: string) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(plain) })).body["active"];
  const hint = (token: string) =>
    readIdTokenHint({ ...running.service, baseUrl: running.baseUrl }, org.organisation, token);

  test("an access token of the type JWT works at userinfo and introspection, and can be revoked", async () => {
    const { accessToken } = await source.tokens({}, plain);
    assert.equal(headerOf(accessToken)["typ"], "JWT");
    assert.equal(await userinfo(accessToken), 200);
    assert.equal(await isActive(accessToken), true);
    await postForm(`${org.issuer}/revoke`, { token: accessToken, ...credentials(plain) });
    assert.equal(await userinfo(accessToken), 401);
    assert.equal(await isActive(accessToken), false);
  });

  test("its ID tokens are no access tokens, and its access tokens no hints", async () => {
    const { accessToken, idToken } = await source.tokens({}, plain);
    assert.equal(await userinfo(idToken), 401);
    assert.equal(await isActive(idToken), false);
    assert.equal((await hint(idToken))?.["sub"], org.user.id);
    assert.equal(await hint(accessToken), undefined);
  });

  test("a JWT that names an application of the type at+jwt is refused, cached or not", async () => {
    const { accessToken } = await source.tokens({}, plain);
    const payload = { ...payloadOf(accessToken), client_id: org.web.application.id };
    const { id } = org.organisation;
    const other = await signedByService(running.service, id, { typ: "JWT" }, payload);
    for (const _ of ["read", "cached"]) assert.equal(await userinfo(other), 401);
    assert.equal(await userinfo(accessToken), 200);
    const key = { orgId: id, id: plain.application.id, actor: "test" };
    const become = (accessTokenType: "at+jwt" | "JWT") =>
      changeApplication(running.service, key, ({ name, settings }) => ({
        name,
        settings: { ...settings, accessTokenType },
        disabled: false,
      }));
    await become("at+jwt");
    assert.equal(await userinfo(accessToken), 401, "the setting was taken back");
    await become("JWT");
    assert.equal(await userinfo(accessToken), 200);
  });

  test("agents sign at+jwt only: JWT with a signing pool is refused", async () => {
    const wanted = {
      orgId: org.organisation.id,
      name: "Pooled",
      clientType: "confidential",
      settings: { accessTokenType: "JWT", signingPoolId: org.organisation.id },
      actor: "test",
    } as const;
    await assert.rejects(
      createApplication(running.service, wanted),
      (error) => error instanceof InvalidApplication && error.faults[0]?.path === "accessTokenType",
    );
  });

  test("role and groups of custom scopes stand in the ID token by idTokenIncludesScopeClaims", async () => {
    const orgId = org.organisation.id;
    const record = { membership: { groups: ["admins", "staff"], attributes: {} } };
    await changeMemberRecord(running.service, { orgId, id: org.user.id, record, actor: "test" });
    for (const [name, path] of [
      ["teams", "groups"],
      ["position", "role"],
    ] as const) {
      const claims = [{ name, source: "membership", path } as const];
      const texts = { displayName: name, description: "", sensitive: false };
      await createCustomScope(running.service, { orgId, name, ...texts, claims, actor: "test" });
    }
    const settings = {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      allowedScopes: ["openid", "email", "teams", "position"],
    };
    const scope = "openid email teams position";
    const told = await makeClient(running.service, org.organisation, {
      ...settings,
      idTokenIncludesScopeClaims: true,
    });
    const claims = payloadOf((await source.tokens({ scope }, told)).idToken);
    assert.deepEqual(
      [claims["teams"], claims["position"], claims["email"]],
      [["admins", "staff"], "Standard", org.user.email],
    );
    const fewer = payloadOf((await source.tokens({ scope: "openid teams" }, told)).idToken);
    assert.deepEqual(
      [fewer["teams"], fewer["position"], fewer["email"]],
      [["admins", "staff"], undefined, undefined],
    );
    const untold = await makeClient(running.service, org.organisation, settings);
    const none = payloadOf((await source.tokens({ scope }, untold)).idToken);
    assert.deepEqual([none["teams"], none["position"], none["email"]], [undefined, undefined, undefined]);
  });
});
