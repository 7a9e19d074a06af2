/** The FAPI 2.0 switch (modern-oauth.md §4): what an application with it must have, and what its requests are held to. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ApplicationSettings, deviceCodeGrantType } from "../../core/applications/application.ts";
import { changeApplication } from "../../core/applications/application-changes.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { seconds } from "../../core/clock.ts";
import { enableShared } from "../../core/shared-applications/shared-applications.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  testBrowser,
} from "../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type Answer, postForm } from "../../testing/fixtures/client.ts";
import { type DpopKey, dpopKey } from "../../testing/fixtures/dpop.ts";
import { type RequestKey, requestKey, signClaims } from "../../testing/fixtures/request-object.ts";
import { assertOAuthError, payloadOf, sendRaw } from "../../testing/probes/answers.ts";
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
  let clock: FakeClock;
  let browser: TestBrowser;
  let key: RequestKey;
  let dpop: DpopKey;
  let client: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    browser = testBrowser();
    key = await requestKey();
    dpop = await dpopKey();
    client = await bank();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const good = (): Partial<ApplicationSettings> => ({
    ...{ redirectUris: [REDIRECT_URI], requireConsent: false, jwks: { keys: [{ ...key.jwk }] } },
    ...{ tokenEndpointAuthMethod: "private_key_jwt", dpopBoundAccessTokens: true },
    grantTypes: ["authorization_code", "refresh_token", "client_credentials"],
    securityProfile: "fapi2",
  });
  const bank = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, { ...good(), ...settings });
  const assertion = (of = client, more: Record<string, unknown> = {}, by = key) => {
    const { id } = of.application;
    const now = seconds(clock());
    const times = { iat: now, exp: now + 60, jti: crypto.randomUUID() };
    return signClaims(by, { iss: id, sub: id, aud: org.issuer, ...times, ...more });
  };
  const authenticated = async (form: Record<string, string>, of = client, text?: string) => ({
    ...form,
    client_id: of.application.id,
    client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    client_assertion: text ?? (await assertion(of)),
  });
  const push = async (more: Record<string, string> = {}, of = client, text?: string) => {
    const { parameters, verifier } = authorizationRequest(of.application.id, REDIRECT_URI, more);
    const answer = await postForm(`${org.issuer}/par`, await authenticated(parameters, of, text));
    return { answer, verifier, uri: String(answer.body["request_uri"]) };
  };
  const complete = (uri: string, of = client) =>
    authorize(browser, {
      issuer: org.issuer,
      query: String(new URLSearchParams({ client_id: of.application.id, request_uri: uri })),
      ...org.user,
    });
  const proof = (by = dpop) => by.proof({ url: `${org.issuer}/token`, now: clock() });
  const token = async (form: Record<string, string>, of = client, by = dpop): Promise<Answer> =>
    postForm(`${org.issuer}/token`, await authenticated(form, of), { dpop: await proof(by) });
  const codeForm = (code: string, verifier: string) => ({
    ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
  });

  test("a member that contradicts the profile is a fault, each by its name", async () => {
    const faulty: Record<string, Partial<ApplicationSettings>> = {
      tokenEndpointAuthMethod: { tokenEndpointAuthMethod: "client_secret_basic" },
      dpopBoundAccessTokens: { dpopBoundAccessTokens: false },
      requirePkce: { requirePkce: false },
      "redirectUris[0]": { redirectUris: ["http://127.0.0.1/callback"] },
      grantTypes: { grantTypes: ["authorization_code", deviceCodeGrantType] },
      idTokenSignedResponseAlg: { idTokenSignedResponseAlg: "RS256" },
      accessTokenSignedResponseAlg: { accessTokenSignedResponseAlg: "RS256" },
      authorizationSignedResponseAlg: { authorizationSignedResponseAlg: "RS256" },
      requestObjectSigningAlg: { requestObjectSigningAlg: "RS256" },
    };
    const { organisation } = org;
    const atHome = { ...good(), ...faulty["redirectUris[0]"] };
    await makeClient({ ...running.service, isDemo: true }, organisation, atHome);
    const elsewhere = { ...good(), redirectUris: ["http://demo.example/callback"] };
    await assert.rejects(
      makeClient({ ...running.service, isDemo: true }, organisation, elsewhere),
      InvalidApplication,
    );
    for (const [path, settings] of Object.entries(faulty)) {
      const isFault = (error: unknown) =>
        error instanceof InvalidApplication && error.faults.map((one) => one.path).join() === path;
      await assert.rejects(bank(settings), isFault, path);
      await bank({ ...settings, securityProfile: "none" });
    }
    await bank({ dpopBoundAccessTokens: false, tlsClientCertificateBoundAccessTokens: true });
  });

  test("the whole flow: pushed, answered by 303, bound, and refreshed with the same token", async () => {
    const { answer, uri, verifier } = await push();
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const result = await complete(uri);
    assert.equal(result.get("iss"), org.issuer);
    const first = await token(codeForm(result.get("code") ?? "", verifier));
    assert.equal(first.status, 200, JSON.stringify(first.body));
    assert.deepEqual(payloadOf(first.body["access_token"])["cnf"], { jkt: dpop.jkt });
    const refresh_token = String(first.body["refresh_token"]);
    for (let time = 0; time < 3; time++) {
      clock.advance(30_000);
      const next = await token({ grant_type: "refresh_token", refresh_token });
      assert.equal(next.body["refresh_token"], refresh_token);
    }
    const second = await push();
    const page = await browser.get(
      `${org.issuer}/authorize?${new URLSearchParams({ client_id: client.application.id, request_uri: second.uri })}`,
    );
    assert.equal(page.status, 303);
  });

  test("refuses what is weaker: unpushed, without proof, late, RS256, an audience that is more than the issuer", async () => {
    const { query } = authorizationRequest(client.application.id, REDIRECT_URI);
    assert.equal(
      (await authorize(browser, { issuer: org.issuer, query, ...org.user })).get("error"),
      "invalid_request",
    );
    const job = { grant_type: "client_credentials" };
    assertOAuthError(
      await postForm(`${org.issuer}/token`, await authenticated(job)),
      400,
      "invalid_dpop_proof",
      "a bearer token",
    );
    for (const aud of [`${org.issuer}/token`, `${org.issuer}/par`, [org.issuer]]) {
      const text = await assertion(client, { aud });
      assertOAuthError((await push({}, client, text)).answer, 401, "invalid_client", String(aud));
    }
    const weak = await requestKey("RS256");
    const other = await bank({ jwks: { keys: [{ ...weak.jwk }] } });
    assertOAuthError((await push({}, other, await assertion(other, {}, weak))).answer, 401, "invalid_client");
    assertOAuthError(await token(job, client, await dpopKey("RS256")), 400, "invalid_dpop_proof", "RS256");
    const { uri, verifier } = await push();
    const code = (await complete(uri)).get("code") ?? "";
    clock.advance(60_000);
    assertOAuthError(await token(codeForm(code, verifier)), 400, "invalid_grant", "after a minute");
    const device = await postForm(`${org.issuer}/device`, await authenticated({}));
    assertOAuthError(device, 400, "unauthorized_client", "phishing by device grant");
    const polled = await token({ grant_type: deviceCodeGrantType, device_code: "sgn_dc_x" });
    assertOAuthError(polled, 400, "unauthorized_client");
  });

  test("a stolen code is worth nothing without key, verifier and assertion", async () => {
    const pushed = await postForm(
      `${org.issuer}/par`,
      await authenticated(
        authorizationRequest(client.application.id, REDIRECT_URI, { dpop_jkt: dpop.jkt }).parameters,
      ),
    );
    const code = (await complete(String(pushed.body["request_uri"]))).get("code") ?? "";
    const thief = await bank();
    const form = codeForm(code, "a".repeat(43));
    assertOAuthError(await token(form, thief), 400, "invalid_grant", "another client");
    assertOAuthError(await token(form), 400, "invalid_grant", "another verifier");
  });

  test("turning it on ends what was bound to nothing", async () => {
    const plain = await bank({ securityProfile: "none", dpopBoundAccessTokens: false });
    const login = async (by?: DpopKey) => {
      const { uri, verifier } = await push({}, plain);
      const form = codeForm((await complete(uri, plain)).get("code") ?? "", verifier);
      const headers: Record<string, string> = by ? { dpop: await proof(by) } : {};
      return postForm(`${org.issuer}/token`, await authenticated(form, plain), headers);
    };
    const [unbound, bound] = [await login(), await login(dpop)];
    const { id, orgId } = plain.application;
    const settings = { ...plain.application.settings, ...good() };
    await changeApplication(running.service, { orgId, id, actor: "test" }, ({ name }) => ({
      ...{ name, settings, disabled: false },
    }));
    const refresh = ({ body }: Answer) =>
      token({ grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) }, plain);
    assertOAuthError(await refresh(unbound), 400, "invalid_grant", "unbound");
    assert.equal((await refresh(bound)).status, 200, "bound");
    // Such as one that was issued while the switch was turned.
    const families = running.service.database.query.updateTable("token_family").set({ dpop_jkt: null });
    await families.where("org_id", "=", orgId).where("application_id", "=", id).execute();
    assertOAuthError(await refresh(bound), 400, "invalid_grant", "bound no more");
  });

  test("what a shared application was issued unbound elsewhere ends with it", async () => {
    const { application } = await bank({
      ...{ securityProfile: "none", dpopBoundAccessTokens: false, shared: { organisations: "any" } },
    });
    const [{ id }, there] = [application, await makeOrganisation(running.service, "Elsewhere")];
    const scopes = ["openid", "profile", "email"];
    await enableShared(running.service, { ...{ orgId: there.organisation.id, id }, scopes, actor: "test" });
    const { uri } = await push({}, { application, secret: "" });
    const atHome = new URLSearchParams({ client_id: id, request_uri: uri });
    const page = await testBrowser().get(`${there.issuer}/authorize?${atHome}`);
    assert.equal(page.status, 400, "pushed at another organisation");
    assert.match(page.body, /invalid_request_uri/);
    const { query, verifier } = authorizationRequest(id, REDIRECT_URI);
    const answer = await authorize(testBrowser(), { issuer: there.issuer, query, ...there.user });
    const form = codeForm(answer.get("code") ?? "", verifier);
    const text = await assertion({ application, secret: "" }, { aud: there.issuer });
    const sent = await authenticated(form, { application, secret: "" }, text);
    const { body } = await postForm(`${there.issuer}/token`, sent);
    const userinfo = async () => {
      const headers = { authorization: `Bearer ${body["access_token"]}` };
      return (await sendRaw(`${there.issuer}/userinfo`, { headers })).status;
    };
    assert.equal(await userinfo(), 200, JSON.stringify(body));
    const settings = { ...application.settings, ...good() };
    const key = { orgId: application.orgId, id, actor: "test" };
    await changeApplication(running.service, key, ({ name }) => ({ name, settings, disabled: false }));
    assert.equal(await userinfo(), 401);
    const plain = authorizationRequest(id, REDIRECT_URI).query;
    const refused = await authorize(testBrowser(), { issuer: there.issuer, query: plain, ...there.user });
    assert.equal(refused.get("error"), "invalid_request", "unpushed");
  });

  test("message signing: signed requests at PAR, signed answers, and no others", async () => {
    const signing = await bank({ securityProfile: "fapi2-message-signing" });
    const ask = async (more: Record<string, unknown> = {}) => {
      const { parameters, verifier } = authorizationRequest(signing.application.id, REDIRECT_URI);
      const now = seconds(clock());
      const own = { iss: signing.application.id, aud: org.issuer, nbf: now, exp: now + 300 };
      const request = await signClaims(key, { ...parameters, ...own, ...more });
      const answer = await postForm(`${org.issuer}/par`, await authenticated({ request }, signing));
      return { answer, verifier };
    };
    assertOAuthError((await push({}, signing)).answer, 400, "invalid_request", "unsigned");
    const now = seconds(clock());
    for (const wrong of [
      { nbf: undefined, iat: now },
      { nbf: undefined },
      { exp: undefined },
      { nbf: now - 3_601, exp: now + 1 },
      { exp: now + 3_601 },
    ])
      assertOAuthError((await ask(wrong)).answer, 400, "invalid_request_object", JSON.stringify(wrong));
    assertOAuthError((await ask({ response_mode: "query" })).answer, 400, "invalid_request", "plain mode");
    const { answer, verifier } = await ask();
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    const result = await complete(String(answer.body["request_uri"]), signing);
    assert.deepEqual([...result.keys()], ["response"]);
    const { code } = payloadOf(result.get("response"));
    assert.equal((await token(codeForm(String(code), verifier), signing)).status, 200);
  });
});
