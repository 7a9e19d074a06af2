/** Tokens for protected resources, by every grant (modern-oauth.md §5, "Resources"). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { deleteApplication } from "../../core/applications/application-changes.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { removeExpired } from "../../core/housekeeping/housekeeping.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm, refresh } from "../../testing/fixtures/client.ts";
import { askForCodes, decideDeviceCode, makeDeviceApp, poll } from "../../testing/fixtures/device.ts";
import { makeDirectory } from "../../testing/fixtures/directory.ts";
import { dpopKey } from "../../testing/fixtures/dpop.ts";
import { assertOAuthError, headerOf, payloadOf, postText } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const PAY = "https://pay.example/api";
const MAIL = "https://mail.example/api";
const OTHER = "urn:example:other";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  let clock: FakeClock;
  let api: ApiClient;
  let web: TestClient;
  let payId: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    payId = await create({ identifier: PAY, name: "Pay", scopes: [{ name: "pay" }, { name: "pay:more" }] });
    await create({ identifier: MAIL, name: "Mail", scopes: [{ name: "mail" }] });
    web = await client();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const create = async (body: object): Promise<string> => {
    const made = await api.call("POST", "/resources", { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return String(made.body["id"]);
  };
  const change = async (body: object, id = payId) => {
    const changed = await api.call("PATCH", `/resources/${id}`, { body });
    assert.equal(changed.status, 200, JSON.stringify(changed.body));
  };
  const client = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false },
      grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
      allowedScopes: ["openid", "pay", "pay:more", "mail"],
      allowedResources: [OTHER],
      ...settings,
    });
  const own = (more: string, by = web, headers: Record<string, string> = {}) => {
    const form = new URLSearchParams({ grant_type: "client_credentials", ...credentials(by) });
    return postText(`${org.issuer}/token`, `${form}${more}`, headers);
  };
  const introspect = async (token: string, by: TestClient) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(by) })).body;
  const scopesOf = ({ body }: { body: Record<string, unknown> }) => body["scope"];

  test("a scope without resource means its resource; scopes of two are invalid_scope", async () => {
    const { status, body } = await own("&scope=pay");
    assert.equal(status, 200, JSON.stringify(body));
    const { aud, scope } = payloadOf(body["access_token"]);
    assert.deepEqual([aud, scope], [PAY, "pay"]);
    assertOAuthError(await own("&scope=pay+mail"), 400, "invalid_scope");
    assertOAuthError(await own(""), 400, "invalid_scope", "all that it is allowed are of two");
    const grant = await source.tokens({ scope: "openid pay" }, web);
    assert.deepEqual(payloadOf(grant.accessToken)["aud"], [PAY, org.issuer]);
    const refreshed = await refresh(org, grant.refreshToken, {}, web);
    assert.deepEqual(payloadOf(refreshed.body["access_token"])["aud"], [PAY, org.issuer]);
    await assert.rejects(source.code({ scope: "openid pay mail" }, web), /invalid_scope/);
  });

  test("a client's token for a resource gives no access to the API, whose scopes it has too", async () => {
    const both = await client({ allowedScopes: ["pay", "signet:users:read"] });
    for (const more of ["", "&scope=pay+signet:users:read"]) {
      const { body } = await own(more, both);
      const { aud, scope } = payloadOf(body["access_token"]);
      assert.deepEqual([aud, scope], [PAY, "pay"], more);
    }
    const ofApi = payloadOf((await own("&scope=signet:users:read", both)).body["access_token"]);
    assert.equal(ofApi["scope"], "signet:users:read");
  });

  test("with another resource the scope is left out; alone it is invalid_scope", async () => {
    assert.equal(scopesOf(await own(`&scope=pay+mail&resource=${PAY}`)), "pay");
    assert.equal(scopesOf(await own(`&resource=${MAIL}`)), "mail");
    assertOAuthError(await own(`&scope=pay&resource=${MAIL}`), 400, "invalid_scope");
    assertOAuthError(await own(`&scope=pay&resource=${OTHER}`), 400, "invalid_scope");
    const grant = await source.tokens({ scope: "openid pay mail", resource: MAIL }, web);
    assert.deepEqual(
      [payloadOf(grant.accessToken)["scope"], payloadOf(grant.accessToken)["aud"]],
      ["openid mail", [MAIL, org.issuer]],
    );
    const onlyOwnScopes = await client({ allowedScopes: ["openid", "mail"] });
    assertOAuthError(await own(`&resource=${PAY}`, onlyOwnScopes), 400, "invalid_target");
  });

  test("a token is for one resource of the organisation, beside others that it does not know", async () => {
    const two = `&resource=${PAY}&resource=${MAIL}`;
    assertOAuthError(await own(`&scope=pay+mail${two}`), 400, "invalid_scope");
    assertOAuthError(await own(`&scope=pay${two}`), 400, "invalid_target");
    assert.equal(scopesOf(await own(`&scope=pay+mail&resource=${PAY}&resource=${OTHER}`)), "pay");
  });

  test("a device code has the resource of its scopes", async () => {
    const settings = { allowedScopes: ["openid", "pay"], requireConsent: false };
    const codes = await askForCodes(org, await makeDeviceApp(running.service, org, settings), {
      scope: "openid pay",
    });
    await decideDeviceCode(source.browser, org, codes);
    const { body } = await poll(org, codes);
    assert.deepEqual(payloadOf(body["access_token"])["aud"], [PAY, org.issuer], JSON.stringify(body));
  });

  test("lifetime and algorithm of the resource apply to the access token, and to nothing else", async () => {
    await change({ accessTokenLifetimeSeconds: 120, accessTokenSignedResponseAlg: "EdDSA" });
    const { body } = await source.tokens({ scope: "openid pay" }, web);
    const { exp, iat } = payloadOf(body["access_token"]);
    assert.deepEqual([Number(exp) - Number(iat), body["expires_in"]], [120, 120]);
    assert.equal(headerOf(body["access_token"])["alg"], "EdDSA");
    const id = payloadOf(body["id_token"]);
    assert.deepEqual(
      [Number(id["exp"]) - Number(id["iat"]), headerOf(body["id_token"])["alg"]],
      [3600, "ES256"],
    );
    const elsewhere = payloadOf((await own("&scope=mail")).body["access_token"]);
    assert.equal(Number(elsewhere["exp"]) - Number(elsewhere["iat"]), 3600);
    await change({ accessTokenLifetimeSeconds: null, accessTokenSignedResponseAlg: null });
    const back = await own("&scope=pay");
    assert.deepEqual([back.body["expires_in"], headerOf(back.body["access_token"])["alg"]], [3600, "ES256"]);
  });

  test("a resource that wants bound tokens gets no others", async () => {
    const key = await dpopKey();
    const proof = () => key.proof({ url: `${org.issuer}/token`, now: clock() });
    await change({ senderConstraint: "dpop" });
    assertOAuthError(await own("&scope=pay"), 400, "invalid_dpop_proof");
    const bound = await own("&scope=pay", web, { dpop: await proof() });
    assert.equal(bound.body["token_type"], "DPoP");
    assert.ok((payloadOf(bound.body["access_token"])["cnf"] as { jkt?: string }).jkt);
    const grant = await source.code({ scope: "openid pay" }, web);
    assertOAuthError(await redeemWith(org, grant, {}, web), 400, "invalid_dpop_proof");
    assert.equal((await own("&scope=mail")).status, 200, "of another resource");
    await change({ senderConstraint: "mtls" });
    assertOAuthError(await own("&scope=pay", web, { dpop: await proof() }), 400, "invalid_request");
    await change({ senderConstraint: "any" });
    assertOAuthError(await own("&scope=pay"), 400, "invalid_request");
    assert.equal((await own("&scope=pay", web, { dpop: await proof() })).status, 200);
    await change({ senderConstraint: "none" });
    assert.equal((await own("&scope=pay")).status, 200);
  });

  test("an opaque token is read by introspection alone: of its client, and of the resource's application", async () => {
    const server = await client({ allowedScopes: [] });
    const stranger = await client({ allowedScopes: [] });
    await change({ accessTokenFormat: "opaque", applicationId: server.application.id });
    const { body } = await source.tokens({ scope: "openid pay" }, web);
    const token = String(body["access_token"]);
    assert.match(token, /^sgn_at_[A-Za-z0-9_-]{43}$/);
    const known = await introspect(token, server);
    assert.deepEqual(
      [known["active"], known["aud"], known["scope"], known["sub"]],
      [true, [PAY, org.issuer], "openid pay", org.user.id],
    );
    assert.equal((await introspect(token, web))["active"], true);
    assert.deepEqual(await introspect(token, stranger), { active: false });
    const userinfo = await fetch(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });
    assert.equal(userinfo.status, 200);
    const revoked = await postForm(`${org.issuer}/revoke`, { token, ...credentials(web) });
    assert.deepEqual([revoked.status, await introspect(token, server)], [200, { active: false }]);
    assert.deepEqual(await introspect("sgn_at_unknown", server), { active: false });
    await deleteApplication(running.service, {
      orgId: org.organisation.id,
      id: server.application.id,
      actor: "test",
    });
    assert.equal((await api.call("GET", `/resources/${payId}`)).body["applicationId"], null);
    await change({ accessTokenFormat: "jwt" });
  });

  test("an opaque token of another organisation is unknown", async () => {
    await change({ accessTokenFormat: "opaque" });
    const token = String((await own("&scope=pay")).body["access_token"]);
    const elsewhere = await makeOrganisation(running.service, "Elsewhere");
    const asked = { token, ...credentials(elsewhere.batch) };
    assert.deepEqual((await postForm(`${elsewhere.issuer}/introspect`, asked)).body, { active: false });
    await change({ accessTokenFormat: "jwt" });
  });

  test("the roles in the resource's application are told in its tokens", async () => {
    const server = await client({ allowedScopes: [] });
    await change({ applicationId: server.application.id });
    const directory = await makeDirectory(running.service, org.organisation.id);
    const role = await directory.role(server.application.id, "clerk", ["pay:do"]);
    const caller = await client({ allowedScopes: ["roles", "pay"] });
    await directory.assign(role, "application", caller.application.id);
    const { body } = await own("&scope=roles+pay", caller);
    assert.deepEqual(payloadOf(body["access_token"])["roles"], ["clerk"]);
    await change({ applicationId: null });
  });

  test("nothing is issued for a disabled resource, and its scopes are left out", async () => {
    await change({ enabled: false });
    assertOAuthError(await own("&scope=pay"), 400, "invalid_scope");
    assertOAuthError(await own(`&scope=pay&resource=${PAY}`), 400, "invalid_target");
    assert.equal(scopesOf(await own("&scope=pay+mail")), "mail");
    await change({ enabled: true });
    assert.equal(scopesOf(await own("&scope=pay")), "pay");
  });

  test("a token for a resource gives no access to the API, which its operator could use", async () => {
    const caller = await client({ allowedScopes: ["pay", "signet:users:write"] });
    const { body } = await own("", caller);
    assert.deepEqual([body["scope"], payloadOf(body["access_token"])["aud"]], ["pay", PAY]);
    const api = await own("&scope=signet:users:write", caller);
    assert.equal(payloadOf(api.body["access_token"])["aud"], `${running.baseUrl}/api/v1`);
  });

  test("an audience that is a resource's identifier stands for the resource, with all its rules", async () => {
    const caller = await client({ allowedScopes: ["openid", "roles"], allowedResources: [], audience: PAY });
    await change({ senderConstraint: "dpop", accessTokenLifetimeSeconds: 90 });
    assertOAuthError(await own("&scope=roles", caller), 400, "invalid_dpop_proof");
    const key = await dpopKey();
    const dpop = await key.proof({ url: `${org.issuer}/token`, now: clock() });
    const { body } = await own("&scope=roles", caller, { dpop });
    assert.deepEqual([payloadOf(body["access_token"])["aud"], body["expires_in"]], [PAY, 90]);
    await change({ senderConstraint: "none", accessTokenLifetimeSeconds: null });
    const grant = await source.tokens({ scope: "openid" }, caller);
    assert.deepEqual(payloadOf(grant.accessToken)["aud"], [PAY, org.issuer]);
    assert.equal((await refresh(org, grant.refreshToken, {}, caller)).status, 200);
    const server = await client({ allowedScopes: [] });
    await change({ applicationId: server.application.id });
    const token = String((await own("&scope=pay")).body["access_token"]);
    assert.deepEqual(await introspect(token, caller), { active: false }, "it only calls itself so");
    assert.equal((await introspect(token, server))["active"], true);
    await change({ enabled: false, applicationId: null });
    assertOAuthError(await own("&scope=roles", caller), 400, "invalid_target");
    await change({ enabled: true });
  });

  test("a public client's refresh token that is bound to nothing gets no bound tokens", async () => {
    const made = { orgId: org.organisation.id, name: "App", clientType: "public", actor: "test" } as const;
    const settings = {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false },
      ...{ allowedScopes: ["openid", "pay", "mail"], allowedResources: [] },
    };
    const app = { application: await createApplication(running.service, { ...made, settings }), secret: "" };
    const key = await dpopKey();
    const proof = () => key.proof({ url: `${org.issuer}/token`, now: clock() });
    const renew = (token: unknown, headers: Record<string, string>) =>
      postForm(
        `${org.issuer}/token`,
        {
          ...{ grant_type: "refresh_token", refresh_token: String(token) },
          client_id: app.application.id,
        },
        headers,
      );
    const { refreshToken } = await source.tokens({ scope: "openid pay" }, app);
    await change({ senderConstraint: "dpop" });
    assertOAuthError(await renew(refreshToken, { dpop: await proof() }), 400, "invalid_grant");
    await change({ senderConstraint: "none" });
    const after = await renew(refreshToken, {});
    assert.equal(after.status, 200, "it is not used up");
  });

  test("a deleted resource leaves its scopes, which then belong to none", async () => {
    const id = await create({
      identifier: "https://short.example",
      name: "Short",
      scopes: [{ name: "short" }],
    });
    const caller = await client({ allowedScopes: ["short"] });
    const audience = async () => payloadOf((await own("&scope=short", caller)).body["access_token"])["aud"];
    assert.equal(await audience(), "https://short.example");
    assert.equal((await api.call("DELETE", `/resources/${id}`)).status, 204);
    assert.equal(await audience(), org.issuer);
  });

  test("an opaque token ends with its lifetime, and its row is swept", async () => {
    await change({ accessTokenFormat: "opaque" });
    const token = String((await own("&scope=pay")).body["access_token"]);
    const rows = () =>
      running.service.database.query.selectFrom("opaque_access_token").select("token_hash").execute();
    assert.ok((await rows()).every(({ token_hash: hash }) => !token.includes(hash)));
    clock.advance(3_600_000);
    assert.deepEqual(await introspect(token, web), { active: false });
    clock.advance(1_000);
    await removeExpired(running.service);
    assert.deepEqual(await rows(), []);
  });
});
