/** What a pool's agents sign beside tokens: responses (JARM), introspection, userinfo and ID-JAG; with agents, and without. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, jwtVerify } from "jose";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { InvalidApplication } from "../../core/applications/validation.ts";
import { listAuditEvents } from "../../core/audit/audit.store.ts";
import { seconds } from "../../core/clock.ts";
import type { SigningPool } from "../../core/signing-pools/signing-pool.ts";
import { createExchangePolicy } from "../../core/token-exchange/exchange-policies.ts";
import { policySettings } from "../../core/token-exchange/policy-schemas.ts";
import { InvalidTrust } from "../../core/trusts/trust.ts";
import { type SentTrust, trustSettings } from "../../core/trusts/trust-schemas.ts";
import { createTrust } from "../../core/trusts/trusts.ts";
import { CodedError } from "../../http/coded-error.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  testBrowser,
} from "../../testing/fakes/browser.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../testing/fakes/quick-passwords.ts";
import { type Claimed, makeAgent, makePool, type TestAgent } from "../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { dpopKey } from "../../testing/fixtures/dpop.ts";
import { requestKey, signClaims } from "../../testing/fixtures/request-object.ts";
import { assertOAuthError, payloadOf, postText, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";
import { changePool } from "../sovereign/admin-api/pools.ts";

const EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
const TYPE = "urn:ietf:params:oauth:token-type:";
const FOREIGN = "https://as.partner.example";
const JWT_INTROSPECTION = "application/token-introspection+jwt";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let pool: SigningPool;
  let agent: TestAgent;
  let web: TestClient;
  let browser: TestBrowser;
  let accessToken: string;
  let idToken: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org, { tokenWaitSeconds: 2 });
    agent = await makeAgent(running.service, org, pool);
    web = await poolClient();
    browser = testBrowser();
    const first = await served(() => codeSource(org).tokens({ scope: "openid email" }, web));
    ({ accessToken, idToken } = first);
  });
  after(async () => {
    await running.close();
    // That no agent was there is logged.
    const isExpected = (error: unknown) => (error as { code?: unknown }).code === "temporarily_unavailable";
    assert.deepEqual(
      running.errors.filter((error) => !isExpected(error)),
      [],
    );
  });

  const poolClient = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], signingPoolId: pool.id, requireConsent: false },
      ...{ userinfoSignedResponseAlg: "ES256" as const, accessTokenLifetimeSeconds: 3_600 },
      ...{ grantTypes: ["authorization_code", "refresh_token", EXCHANGE], ...settings },
    } as Partial<ApplicationSettings>);
  const issuer = () => `${org.issuer}/sovereign/pools/${pool.id}`;
  const seen: Claimed[] = [];
  const sign = async (claimed: Claimed) => {
    seen.push(claimed);
    await agent.sign(claimed);
  };
  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    // It is there before anybody asks.
    const before = await agent.claim();
    if (before) await sign(before);
    const serving = agent.serve(sign);
    return work().finally(() => serving.stop());
  };
  /** Agents that were not seen for a minute are away. */
  const away = async () => {
    // After every call that was still on its way.
    await agent.claim();
    clock.advance(61_000);
  };
  const verified = async (text: string | null, audience = web.application.id) => {
    const keys = createRemoteJWKSet(new URL(`${issuer()}/jwks.json`));
    const at = { issuer: issuer(), audience, currentDate: new Date(clock()) };
    return jwtVerify(text ?? "", keys, { ...at, algorithms: ["ES256"] });
  };
  const jarm = (more: Record<string, string> = {}, of = web) =>
    authorizationRequest(of.application.id, REDIRECT_URI, { response_mode: "jwt", state: "s", ...more });
  const introspect = (token: string) =>
    postText(`${org.issuer}/introspect`, String(new URLSearchParams({ token, ...credentials(web) })), {
      accept: JWT_INTROSPECTION,
    });
  const userinfo = (token = accessToken) =>
    sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${token}` } });

  test("a response is signed with its tokens, in one request", async () => {
    const { query, verifier } = jarm();
    seen.length = 0;
    const answer = await served(() => authorize(browser, { issuer: org.issuer, query, ...org.user }));
    assert.deepEqual([...answer.keys()], ["response"]);
    const { payload } = await verified(answer.get("response"));
    const { code, iat = 0, ...claims } = payload;
    assert.deepEqual(claims, { iss: issuer(), aud: web.application.id, state: "s", exp: iat + 600 });
    const [claimed, ...others] = seen;
    assert.deepEqual(
      claimed?.tokens.map(({ use }) => use),
      ["access_token", "id_token", "authorization_response"],
    );
    assert.equal(others.length, 0);
    const form = { grant_type: "authorization_code", code: String(code), code_verifier: verifier };
    const redeemed = await postForm(`${org.issuer}/token`, {
      ...{ ...form, redirect_uri: REDIRECT_URI, ...credentials(web) },
    });
    assert.equal(redeemed.status, 200, "nobody has to sign now");
    assert.equal(payloadOf(redeemed.body["access_token"])["iss"], issuer());
  });

  test("a slow agent: the wait page leads back with the signed response, or with everything signed anew", async () => {
    const { query } = jarm();
    const wait = async () => (await browser.get(`${org.issuer}/authorize?${query}`)).location ?? "";
    const responseAt = (location = "") => new URL(location).searchParams.get("response");
    const first = await wait();
    assert.match(first, /\/sovereign\/wait\//);
    await agent.sign((await agent.claim()) ?? assert.fail());
    const { payload } = await verified(responseAt((await browser.get(`${first}/continue`)).location));
    assert.match(String(payload["code"]), /^sgn_ac_/);
  });

  test("a browser that comes back too late for its response waits for another one", async () => {
    const short = await makePool(running.service, org, { maxTokenLifetimeSeconds: 60, tokenWaitSeconds: 2 });
    const signer = await makeAgent(running.service, org, short);
    const { query } = jarm({}, await poolClient({ signingPoolId: short.id }));
    const wait = (await browser.get(`${org.issuer}/authorize?${query}`)).location ?? "";
    await signer.sign((await signer.claim()) ?? assert.fail());
    clock.advance(61_000);
    const next = (await browser.get(`${wait}/continue`)).location ?? "";
    assert.match(next, /\/sovereign\/wait\//);
    assert.notEqual(next, wait);
    await signer.sign((await signer.claim()) ?? assert.fail());
    const { location = "" } = await browser.get(`${next}/continue`);
    assert.ok(payloadOf(new URL(location).searchParams.get("response"))["code"]);
  });

  test("an error alone is signed, for a client that may have it told", async () => {
    const { query } = jarm({ prompt: "none" });
    seen.length = 0;
    const { location = "" } = await served(() => testBrowser().get(`${org.issuer}/authorize?${query}`));
    const { payload } = await verified(new URL(location).searchParams.get("response"));
    const { iat = 0, error_description, ...claims } = payload;
    assert.equal(typeof error_description, "string");
    assert.deepEqual(claims, {
      ...{ iss: issuer(), aud: web.application.id, state: "s", exp: iat + 600, error: "login_required" },
    });
    const [claimed] = seen;
    assert.deepEqual(
      claimed?.tokens.map(({ use }) => use),
      ["authorization_response"],
    );
    const { grantType, sub, clientId, binding } = claimed?.context ?? {};
    assert.deepEqual(
      { grantType, sub, clientId, binding },
      {
        ...{ grantType: "authorization_code", sub: web.application.id },
        ...{ clientId: web.application.id, binding: null },
      },
    );
  });

  test("without an agent an error is a page, and nothing is used up", async () => {
    await away();
    const { parameters } = jarm({ prompt: "none" });
    const pushed = await postForm(`${org.issuer}/par`, { ...parameters, ...credentials(web) });
    const request_uri = String(pushed.body["request_uri"]);
    const address = `${org.issuer}/authorize?${new URLSearchParams({ client_id: web.application.id, request_uri })}`;
    const page = await testBrowser().get(address);
    assert.deepEqual([page.status, page.location], [503, undefined]);
    assert.match(page.body, /temporarily_unavailable/);
    assert.equal(page.headers.get("retry-after"), "30");
    const { location = "" } = await served(() => testBrowser().get(address));
    const { payload } = await verified(new URL(location).searchParams.get("response"));
    assert.equal(payload["error"], "login_required");
    const again = await served(() => testBrowser().get(address));
    assert.equal(again.status, 400, "used up now");
  });

  test("what an agent rejects is told on a page", async () => {
    const { query } = jarm({ prompt: "none" });
    const serving = agent.serve((claimed) => agent.reject(claimed, "policy_denied"));
    const page = await testBrowser().get(`${org.issuer}/authorize?${query}`);
    await serving.stop();
    assert.deepEqual([page.status, page.location], [400, undefined]);
    assert.match(page.body, /access_denied/);
  });

  test("introspection and userinfo are signed, and neither is a token", async () => {
    seen.length = 0;
    const described = await served(() => introspect(accessToken));
    assert.deepEqual([described.status, described.headers.get("content-type")], [200, JWT_INTROSPECTION]);
    const introspection = await verified(described.text);
    assert.equal(introspection.protectedHeader.typ, "token-introspection+jwt");
    assert.deepEqual(Object.keys(introspection.payload).sort(), ["aud", "iat", "iss", "token_introspection"]);
    assert.equal(
      (introspection.payload["token_introspection"] as Record<string, unknown>)["sub"],
      org.user.id,
    );
    const told = await served(() => userinfo());
    assert.equal(told.headers.get("content-type"), "application/jwt");
    const { payload } = await verified(told.text);
    assert.deepEqual([payload.sub, payload["email"], payload.exp], [org.user.id, org.user.email, undefined]);
    const asked = seen.map(({ context: { grantType, sub, requestSigned }, tokens }) => [
      ...[tokens[0]?.use, grantType, sub, requestSigned],
    ]);
    // Whoever introspects has made no authorization request; that of the token was not signed.
    assert.deepEqual(asked, [
      ["introspection_response", "introspection", web.application.id, null],
      ["userinfo_response", "userinfo", org.user.id, false],
    ]);
    for (const text of [described.text, told.text]) assert.equal((await userinfo(text)).status, 401);
    const inactive = await served(() => introspect(told.text));
    assert.deepEqual(payloadOf(inactive.text)["token_introspection"], { active: false });
  });

  test("without an agent neither is answered, and what was presented is good again", async () => {
    for (const ask of [() => introspect(accessToken), () => userinfo()]) {
      await away();
      const refused = await ask();
      assertOAuthError(refused, 503, "temporarily_unavailable");
      assert.equal(refused.headers.get("retry-after"), "30");
      assert.equal((await served(ask)).status, 200);
    }
  });

  test("an identity assertion for another server is signed by the agents", async () => {
    await createExchangePolicy(
      { ...running.service, baseUrl: running.baseUrl },
      {
        ...{ orgId: org.organisation.id, actor: "test" },
        settings: policySettings({
          ...{ name: "Partner", clientId: web.application.id, requestedTokenType: "id_jag" },
          ...{ target: FOREIGN, scopes: ["chat:read"] },
        }),
      },
    );
    const ask = () =>
      postForm(`${org.issuer}/token`, {
        ...{ grant_type: EXCHANGE, ...credentials(web), subject_token: idToken, audience: FOREIGN },
        ...{ subject_token_type: `${TYPE}id_token`, requested_token_type: `${TYPE}id-jag` },
      });
    await away();
    assertOAuthError(await ask(), 503, "temporarily_unavailable");
    seen.length = 0;
    const { status, body } = await served(ask);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body["token_type"], body["expires_in"], body["scope"]], ["N_A", 300, "chat:read"]);
    const { payload, protectedHeader } = await verified(String(body["access_token"]), FOREIGN);
    assert.equal(protectedHeader.typ, "oauth-id-jag+jwt");
    const { jti, iat = 0, auth_time, acr, amr, ...claims } = payload;
    assert.deepEqual(claims, {
      ...{ iss: issuer(), sub: org.user.id, aud: FOREIGN, client_id: web.application.id },
      ...{ scope: "chat:read", exp: iat + 300 },
    });
    assert.ok(jti && auth_time && acr && amr);
    const [claimed] = seen;
    assert.deepEqual([claimed?.context["grantType"], claimed?.context["scope"]], [EXCHANGE, ["chat:read"]]);
    const { orgId } = web.application;
    const events = await listAuditEvents(running.service.database.query, orgId, 20);
    const signed = events.find(({ action }) => action === "signing-request.signed");
    assert.deepEqual(signed?.details?.["uses"], ["id_jag"]);
  });

  test("an assertion of our own pool is trusted by nobody here", async () => {
    const sent: SentTrust = { issuer: issuer(), jwksUri: `${issuer()}/jwks.json`, userBy: "permId" };
    const settings = trustSettings("id_jag", sent);
    const deps = { ...running.service, baseUrl: running.baseUrl };
    await assert.rejects(
      async () => createTrust(deps, { orgId: org.organisation.id, actor: "test", settings }),
      (error) => error instanceof InvalidTrust && error.faults.some(({ path }) => path === "issuer"),
    );
  });

  test("the pool's metadata names what agents sign with", async () => {
    const answer = await fetch(`${issuer()}/.well-known/openid-configuration`);
    const metadata = (await answer.json()) as Record<string, unknown>;
    for (const name of ["authorization", "introspection", "userinfo"])
      assert.deepEqual(metadata[`${name}_signing_alg_values_supported`], ["ES256"], name);
    assert.ok((metadata["response_modes_supported"] as string[]).includes("query.jwt"));
  });

  test("FAPI 2.0 message signing, the whole flow; no algorithm that the profile has not", async () => {
    const [key, dpop] = [await requestKey(), await dpopKey()];
    const profile: Partial<ApplicationSettings> = {
      ...{ securityProfile: "fapi2-message-signing", tokenEndpointAuthMethod: "private_key_jwt" },
      ...{ jwks: { keys: [{ ...key.jwk }] }, dpopBoundAccessTokens: true, accessTokenLifetimeSeconds: 300 },
      grantTypes: ["authorization_code", "refresh_token"],
      userinfoSignedResponseAlg: "ES256",
    };
    const weak = await makePool(running.service, org, { algs: ["ES256", "RS256"] });
    const isFault = (error: unknown) =>
      error instanceof InvalidApplication && error.faults.map(({ path }) => path).join() === "signingPoolId";
    await assert.rejects(poolClient({ ...profile, signingPoolId: weak.id }), isFault);
    const bank = await poolClient(profile);
    const changed = { ...pool, algs: ["ES256", "RS256"] as const };
    const by = { orgId: org.organisation.id, actor: "test" };
    await assert.rejects(
      changePool({ ...running.service, baseUrl: running.baseUrl }, by, pool, changed),
      (error) => error instanceof CodedError && error.code === "unsupported_alg",
    );
    const { id } = bank.application;
    const now = () => seconds(clock());
    const authenticated = async (form: Record<string, string>) => {
      const times = { iat: now(), exp: now() + 60, jti: crypto.randomUUID() };
      return {
        ...{ ...form, client_id: id },
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        client_assertion: await signClaims(key, { iss: id, sub: id, aud: issuer(), ...times }),
      };
    };
    const { parameters, verifier } = authorizationRequest(id, REDIRECT_URI, { scope: "openid email" });
    const own = { iss: id, aud: issuer(), nbf: now(), exp: now() + 300 };
    const request = await signClaims(key, { ...parameters, ...own });
    const pushed = await postForm(`${org.issuer}/par`, await authenticated({ request }));
    assert.equal(pushed.status, 201, JSON.stringify(pushed.body));
    const query = String(
      new URLSearchParams({ client_id: id, request_uri: String(pushed.body["request_uri"]) }),
    );
    seen.length = 0;
    const answer = await served(() => authorize(browser, { issuer: org.issuer, query, ...org.user }));
    const { payload } = await verified(answer.get("response"), id);
    const proof = () => dpop.proof({ url: `${org.issuer}/token`, now: clock() });
    const token = async (form: Record<string, string>) =>
      postForm(`${org.issuer}/token`, await authenticated(form), { dpop: await proof() });
    const form = { grant_type: "authorization_code", code: String(payload["code"]), code_verifier: verifier };
    const { status, body } = await served(() => token({ ...form, redirect_uri: REDIRECT_URI }));
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(payloadOf(body["access_token"])["cnf"], { jkt: dpop.jkt });
    const signed = seen.map(({ context, tokens }) => [context["requestSigned"], tokens.length]);
    // The second time bound to the key of the token request.
    assert.deepEqual(signed, [
      [true, 3],
      [true, 2],
    ]);
    const refresh_token = String(body["refresh_token"]);
    const next = await served(() => token({ grant_type: "refresh_token", refresh_token }));
    assert.equal(next.status, 200, JSON.stringify(next.body));
    // Remembered with the token family.
    assert.equal(seen.at(-1)?.context["requestSigned"], true);
    const url = `${org.issuer}/userinfo`;
    const bound = String(next.body["access_token"]);
    const told = await served(async () => {
      const proofOfToken = await dpop.proof({ url, method: "GET", token: bound, now: clock() });
      return sendRaw(url, { headers: { authorization: `DPoP ${bound}`, dpop: proofOfToken } });
    });
    assert.equal((await verified(told.text, id)).payload.sub, org.user.id);
    assert.equal(seen.at(-1)?.context["requestSigned"], true);
    const described = await served(async () =>
      postText(
        `${org.issuer}/introspect`,
        String(new URLSearchParams(await authenticated({ token: String(next.body["access_token"]) }))),
        { accept: JWT_INTROSPECTION },
      ),
    );
    const { token_introspection: inside } = (await verified(described.text, id)).payload;
    assert.deepEqual((inside as Record<string, unknown>)["cnf"], { jkt: dpop.jkt });
  });
});
