/** Dynamic client registration (RFC 7591; modern-oauth.md §5): who may, with what, and what becomes of the client. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from "jose";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { deleteUnusedClients } from "../../../core/client-registration/unused-clients.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { authorizationRequest, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import { type Answer, postForm } from "../../../testing/fixtures/client.ts";
import { registration } from "../../../testing/fixtures/registration.ts";
import { follow, logIn } from "../../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

const REDIRECT = "http://127.0.0.1:51000/callback";
const PAY = "https://pay.example/api";
const agent = {
  client_name: "Agent",
  redirect_uris: [REDIRECT],
  grant_types: ["authorization_code", "refresh_token"],
  token_endpoint_auth_method: "none",
};
const program = { client_name: "Program", grant_types: ["client_credentials"] };

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  let api: ApiClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const scopes = [{ name: "pay" }, { name: "pay:all" }];
    const body = { identifier: PAY, name: "Pay", scopes, agentDeniedScopes: ["pay:all"] };
    assert.equal((await api.call("POST", "/resources", { body })).status, 201);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const newToken = async (body: object = {}): Promise<string> => {
    const made = await api.call("POST", "/initial-access-tokens", { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    return String(made.body["token"]);
  };
  const register = (token: string, metadata: unknown, issuer = org.issuer) =>
    registration("POST", `${issuer}/register`, token, metadata);
  const registered = async (metadata: object, allowed: object = {}): Promise<Answer["body"]> => {
    const answer = await register(await newToken(allowed), metadata);
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body;
  };
  const refuseMetadata = async (metadata: unknown, code: string, allowed: object = {}) => {
    const token = await newToken(allowed);
    assertOAuthError(await register(token, metadata), 400, code, JSON.stringify(metadata));
    assert.equal((await register(token, { ...agent, scope: "" })).status, 201, "nothing was used up");
  };
  const ownToken = (client: Answer["body"], more: Record<string, string> = {}) =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "client_credentials", client_id: String(client["client_id"]) },
      ...{ client_secret: String(client["client_secret"]), ...more },
    });

  test("a client that registered itself signs a person in: consent says so, tokens are short, denied scopes are left out", async () => {
    const allowed = { allowedScopes: ["openid", "pay", "pay:all"], allowedResources: [PAY] };
    const client = await registered({ ...agent, scope: "openid pay pay:all email" }, allowed);
    assert.equal(client["scope"], "openid pay pay:all", "cut to the token's");
    const clientId = String(client["client_id"]);
    assert.match(String(client["registration_access_token"]), /^sgn_ra_[A-Za-z0-9_-]{43}$/);
    assert.equal(client["registration_client_uri"], `${org.issuer}/register/${clientId}`);
    assert.ok(!("client_secret" in client));
    const browser = testBrowser();
    const asked = { scope: "openid pay pay:all" };
    const { parameters, verifier } = authorizationRequest(clientId, REDIRECT, asked);
    const login = await follow(
      browser,
      await browser.get(`${org.issuer}/authorize?${new URLSearchParams(parameters)}`),
    );
    const page = await logIn(browser, org, login);
    assert.match(page.body, /id="client-unreviewed"/);
    const allow = { ...page.hidden, decision: "allow" };
    const { location = "" } = await browser.post(`${org.issuer}/authorize`, allow);
    const code = new URL(location).searchParams.get("code") ?? "";
    const { status, body } = await postForm(`${org.issuer}/token`, {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier },
      ...{ redirect_uri: REDIRECT, client_id: clientId },
    });
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body["expires_in"], body["scope"]], [600, "openid pay"]);
    assert.equal(payloadOf(body["access_token"])["client_id"], clientId);
  });

  test("a client with a secret gets it once, and is as good as any other with it", async () => {
    const allowed = { allowedScopes: ["pay"], grantTypes: ["client_credentials"] };
    const client = await registered(program, allowed);
    assert.deepEqual(
      [client["token_endpoint_auth_method"], client["client_secret_expires_at"], client["response_types"]],
      ["client_secret_basic", 0, []],
    );
    const { status, body } = await ownToken(client);
    assert.deepEqual([status, body["expires_in"], body["scope"]], [200, 600, "pay"], JSON.stringify(body));
  });

  test("secrets and tokens are nowhere as they are", async () => {
    const token = await newToken({ grantTypes: ["client_credentials"] });
    const { body } = await register(token, program);
    const { query } = running.service.database;
    const tables = ["initial_access_token", "client_registration", "client_secret", "audit_event"] as const;
    const dump = JSON.stringify(
      await Promise.all(tables.map((table) => query.selectFrom(table).selectAll().execute())),
    );
    for (const secret of [token, body["client_secret"], body["registration_access_token"]])
      assert.ok(String(secret).startsWith("sgn_") && !dump.includes(String(secret)));
  });

  test("a token is good as often as it says, also for many at once", async () => {
    const token = await newToken({ maxUses: 3 });
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(token, agent)));
    const statuses = answers.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 201, 201, ...Array.from({ length: 9 }, () => 401)]);
    assertOAuthError(await register(token, agent), 401, "invalid_token");
    const clients = new Set(answers.map(({ body }) => body["client_id"]));
    assert.equal(clients.size, 4, "three, and undefined");
  });

  test("every token that is not good is one and the same 401", async () => {
    const disabled = await api.call("POST", "/initial-access-tokens", { body: { enabled: false } });
    const deleted = await api.call("POST", "/initial-access-tokens", { body: {} });
    assert.equal((await api.call("DELETE", `/initial-access-tokens/${deleted.body["id"]}`)).status, 204);
    const expired = await newToken({ expiresAt: new Date(clock() + 60_000).toISOString() });
    clock.advance(60_000);
    const { accessToken } = api;
    const wrong = [disabled.body["token"], deleted.body["token"], expired, "sgn_it_x", accessToken];
    for (const token of wrong) {
      const answer = await register(String(token), agent);
      assertOAuthError(answer, 401, "invalid_token");
      assert.match(answer.headers.get("www-authenticate") ?? "", /^Bearer realm=.*error="invalid_token"/);
    }
    const none = await registration("POST", `${org.issuer}/register`, undefined, agent);
    assertOAuthError(none, 401, "invalid_token");
    assert.doesNotMatch(none.headers.get("www-authenticate") ?? "error", /error=/);
    const good = await newToken();
    assertOAuthError(
      await register(good, agent, other.issuer),
      401,
      "invalid_token",
      "another organisation's",
    );
    assert.equal((await register(good, agent)).status, 201);
  });

  test("bad metadata gets the RFC's code, and uses nothing up", async () => {
    const redirects: readonly unknown[] = [
      ...[undefined, [], "https://a.example/", [1], ["ftp://a.example/"], ["http://a.example/"]],
      ...[["https://a.example/#f"], ["https://u:p@a.example/"], ["javascript:alert(1)"], ["/callback"]],
      Array.from({ length: 51 }, (_, index) => `https://a.example/${index}`),
    ];
    for (const redirect_uris of redirects)
      await refuseMetadata({ ...agent, redirect_uris }, "invalid_redirect_uri");
    const more: readonly object[] = [
      ...[{ grant_types: ["implicit"] }, { grant_types: "authorization_code" }, { grant_types: [] }],
      ...[{ grant_types: ["client_credentials"] }, { response_types: ["token"] }, { response_types: [] }],
      ...[{ token_endpoint_auth_method: "client_secret_jwt" }, { token_endpoint_auth_method: 1 }],
      ...[{ token_endpoint_auth_method: "private_key_jwt" }, { jwks: [] }, { jwks: { keys: [1] } }],
      ...[{ jwks: { keys: [{ kty: "oct", k: "AAAA" }] } }, { jwks_uri: "http://a.example/jwks" }],
      ...[
        { scope: 1 },
        { scope: 'a"b' },
        { client_name: 1 },
        { contacts: "x" },
        { subject_type: "pairwise" },
      ],
      ...[{ application_type: "mobile" }, { dpop_bound_access_tokens: "yes" }, { contacts: [""] }],
      ...[{ id_token_signed_response_alg: "none" }, { security_profile: "fapi2" }, { security_profile: "x" }],
      ...[{ authorization_details_types: ["payment"] }, { backchannel_logout_uri: "http://a.example/" }],
      ...[{ tls_client_certificate_bound_access_tokens: 1 }, { post_logout_redirect_uris: ["x"] }],
    ];
    for (const members of more) await refuseMetadata({ ...agent, ...members }, "invalid_client_metadata");
    for (const body of ["{", "[]", "1", '"x"', "null", '{"client_name": "\\u0000"}'])
      await refuseMetadata(body, "invalid_client_metadata");
  });

  test("a body that is too large or of another type is refused", async () => {
    const token = await newToken();
    const large = await register(token, { ...agent, padding: "x".repeat(65 * 1_024) });
    assertOAuthError(large, 413, "invalid_request");
    const form = await registration("POST", `${org.issuer}/register`, token, "a=b", "text/plain");
    assert.equal(form.status, 415);
    assert.equal(
      (await register(token, { ...agent, unknown: { deep: [] } })).status,
      201,
      "unknown is ignored",
    );
  });

  test("a page or logo is kept when it is of a redirect URI's origin", async () => {
    const uris = { redirect_uris: ["https://app.example/callback"], client_uri: "https://app.example/" };
    const client = await registered({ ...agent, ...uris, logo_uri: "https://bank.example/logo.png" });
    assert.deepEqual([client["client_uri"], client["logo_uri"]], ["https://app.example/", undefined]);
  });

  const issuer = "https://vendor.example";
  const trustVendor = async (of: ApiClient) => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256", use: "sig" }] };
    const body = { kind: "software_statement", issuer, jwks };
    const made = await of.call("POST", "/trusts", { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const now = Math.floor(clock() / 1_000);
    const sign = (claims: JWTPayload = {}) =>
      new SignJWT({ jti: crypto.randomUUID(), iss: issuer, aud: org.issuer, exp: now + 600, ...claims })
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .sign(privateKey);
    return { sign, remove: () => of.call("DELETE", `/trusts/${made.body["id"]}`) };
  };

  test("what a trusted software statement says wins; it comes back as it was, and is good once", async () => {
    const vendor = await trustVendor(api);
    const said = { client_name: "Vendor's", redirect_uris: ["https://vendor.example/callback"] };
    const software_statement = await vendor.sign({ ...said, scope: "openid" });
    const client = await registered({ ...agent, software_statement });
    assert.deepEqual(
      [client["client_name"], client["redirect_uris"], client["scope"], client["software_statement"]],
      [said.client_name, said.redirect_uris, "openid", software_statement],
    );
    await refuseMetadata({ ...agent, software_statement }, "invalid_software_statement");
    await vendor.remove();
  });

  test("a software statement that is wrong is invalid, of an issuer that nobody trusts unapproved", async () => {
    const vendor = await trustVendor(api);
    const good = await vendor.sign();
    const wrong = [
      ...["x", 1, good.slice(0, -4), `${good.slice(0, -4)}AAAA`, "a".repeat(20_000)],
      await vendor.sign({ aud: other.issuer }),
      await vendor.sign({ exp: Math.floor(clock() / 1_000) - 60 }),
      await vendor.sign({ jti: "" }),
    ];
    for (const software_statement of wrong)
      await refuseMetadata({ ...agent, software_statement }, "invalid_software_statement");
    const foreign = await vendor.sign({ iss: "https://unknown.example" });
    await refuseMetadata({ ...agent, software_statement: foreign }, "unapproved_software_statement");
    await vendor.remove();
    await refuseMetadata({ ...agent, software_statement: good }, "unapproved_software_statement");
  });

  test("a scope that is deleted is gone from clients and tokens, and one made anew is another", async () => {
    const scopes = await makeApiClient(running.service, org, ["signet:applications:write"]);
    const body = { name: "brief", displayName: "Brief", claims: [] };
    const made = await scopes.call("POST", "/scopes", { body });
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const allowed = { allowedScopes: ["pay", "brief"], grantTypes: ["client_credentials"], maxUses: 2 };
    const token = await newToken(allowed);
    const client = (await register(token, program)).body;
    assert.equal((await ownToken(client, { scope: "brief" })).status, 200);
    assert.equal((await scopes.call("DELETE", `/scopes/${made.body["id"]}`)).status, 204);
    assert.equal((await scopes.call("POST", "/scopes", { body })).status, 201);
    assert.equal((await register(token, program)).body["scope"], "pay");
    const own = String(client["registration_access_token"]);
    const kept = { ...program, client_id: client["client_id"] };
    const replaced = await registration("PUT", String(client["registration_client_uri"]), own, kept);
    assert.deepEqual([replaced.status, replaced.body["scope"]], [200, "pay"]);
  });

  test("those that nobody uses are deleted in thirty days; those in use stay", async () => {
    const allowed = { allowedScopes: ["pay"], grantTypes: ["client_credentials"], maxUses: 2 };
    const token = await newToken(allowed);
    const [used, unused] = [(await register(token, program)).body, (await register(token, program)).body];
    clock.advance(29 * 86_400_000);
    assert.equal((await ownToken(used)).status, 200);
    await running.service.registrationUse.flush();
    clock.advance(2 * 86_400_000);
    assert.ok((await deleteUnusedClients(running.service)) > 0);
    assert.equal((await ownToken(used)).status, 200);
    assertOAuthError(await ownToken(unused), 401, "invalid_client");
    const events = await listAuditEvents(running.service.database.query, org.organisation.id, 1_000);
    const mine = events.filter(({ target }) => target === unused["client_id"]);
    assert.deepEqual(mine.map(({ action, actor }) => [action, actor.split(":")[0]]).toSorted(), [
      ["application.created", "initial-access-token"],
      ["application.deleted", "system"],
      ["client-secret.created", "initial-access-token"],
    ]);
  });
});
