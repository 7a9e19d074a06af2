/** Clients that are known by a metadata document alone (modern-oauth.md §5, "CIMD" and "Both"). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { preauthorization } from "../../core/consents/consent.ts";
import { insertPreauthorization } from "../../core/consents/consents.store.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../testing/fakes/browser.ts";
import { agentDocument, type DocumentHost, documentHost } from "../../testing/fakes/document-host.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { type ApiClient, makeApiClient } from "../../testing/fixtures/api-client.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { dpopKey } from "../../testing/fixtures/dpop.ts";
import { follow, logIn, showsLogin } from "../../testing/fixtures/visit.ts";
import { assertOAuthError, payloadOf } from "../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const REDIRECT = "http://127.0.0.1:51000/callback";
const PAY = "https://pay.example/api";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let host: DocumentHost;
  let api: ApiClient;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    host = await documentHost();
    const env = { SIGNET_OUTBOUND_ALLOW: "localhost" };
    running = await startTestService({ databaseUrl: await fresh(), clock, env });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:applications:write"]);
    browser = testBrowser();
    const scopes = [{ name: "pay" }, { name: "pay:all" }];
    const body = { identifier: PAY, name: "Pay", scopes, agentDeniedScopes: ["pay:all"] };
    assert.equal((await api.call("POST", "/resources", { body })).status, 201);
    await policy({});
  });
  after(async () => {
    await running.close();
    await host.close();
    assert.deepEqual(running.errors, []);
  });

  const policy = async (more: object) => {
    const body = {
      ...{ mode: "allowlist", hosts: [host.host], allowedScopes: ["openid", "email", "pay", "pay:all"] },
      ...more,
    };
    const set = await api.call("PUT", "/client-id-metadata-policy", { body });
    assert.equal(set.status, 200, JSON.stringify(set.body));
  };
  /** The page that an authorization request leads to. */
  const open = async (clientId: string, more: Record<string, string> = {}) => {
    const { parameters, verifier } = authorizationRequest(clientId, REDIRECT, { scope: "openid", ...more });
    const query = new URLSearchParams({ ...parameters });
    const page = await follow(browser, await browser.get(`${org.issuer}/authorize?${query}`));
    return { page: showsLogin(page) ? await logIn(browser, org, page) : page, verifier };
  };
  const allow = async (clientId: string, more: Record<string, string> = {}) => {
    const { page, verifier } = await open(clientId, more);
    assert.match(page.body, /id="consent-allow"/);
    const answer = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision: "allow" });
    const code = new URL(answer.location ?? "").searchParams.get("code") ?? "";
    assert.notEqual(code, "", answer.location ?? "");
    return { code, verifier };
  };
  const redeem = (
    { code, verifier }: { code: string; verifier: string },
    clientId: string,
    more: object = {},
  ) =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT },
      ...{ client_id: clientId, ...more },
    });
  const refresh = (token: unknown, clientId: string) =>
    postForm(`${org.issuer}/token`, {
      ...{ grant_type: "refresh_token", refresh_token: String(token), client_id: clientId },
    });
  /** A document of its own for each test. */
  const serve = (name: string, more: object = {}): string => {
    const clientId = `https://${host.host}/${name}.json`;
    host.served.set(`/${name}.json`, agentDocument(clientId, more));
    return clientId;
  };
  const callsOf = (name: string) => host.asked.filter((path) => path === `/${name}.json`).length;

  test("a person signs in to a client that nobody registered; its tokens are short, and it is named by its address", async () => {
    const clientId = serve("first");
    const { page } = await open(clientId);
    assert.match(page.body, new RegExp(`<bdi id="client-host">${host.host}</bdi>`));
    assert.match(page.body, /127\.0\.0\.1:51000/);
    const { status, body } = await redeem(await allow(clientId), clientId);
    assert.equal(status, 200, JSON.stringify(body));
    const claims = payloadOf(body["access_token"]);
    assert.deepEqual([claims["client_id"], body["expires_in"]], [clientId, 600]);
    assert.equal(payloadOf(body["id_token"])["aud"], clientId);
    const userinfo = await fetch(`${org.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${body["access_token"]}` },
    });
    assert.equal(userinfo.status, 200);
    const next = await refresh(body["refresh_token"], clientId);
    assert.deepEqual([next.status, next.body["expires_in"]], [200, 600]);
    assert.equal(callsOf("first"), 1, "what is fresh is not read again");
  });

  test("consent is asked each time, whatever an administrator has said; prompt=none is consent_required", async () => {
    const clientId = serve("asked");
    await redeem(await allow(clientId), clientId);
    const { id: orgId } = org.organisation;
    const record = preauthorization({
      ...{ orgId, id: crypto.randomUUID(), applicationId: clientId, scopes: ["openid"] },
      ...{ grantedBy: "test", grantedAt: clock() },
    });
    await insertPreauthorization(running.service.database.query, record, {});
    await allow(clientId);
    const { parameters } = authorizationRequest(clientId, REDIRECT, { scope: "openid", prompt: "none" });
    const silent = await browser.get(`${org.issuer}/authorize?${new URLSearchParams(parameters)}`);
    assert.match(silent.location ?? "", /error=consent_required/);
  });

  test("what a resource denies agents they never get, and its lifetime is cut for them", async () => {
    const clientId = serve("denied");
    const { body } = await redeem(await allow(clientId, { scope: "openid pay pay:all" }), clientId);
    assert.equal(body["scope"], "openid pay");
    assert.deepEqual(payloadOf(body["access_token"])["aud"], [PAY, org.issuer]);
    const resources = (await api.call("GET", "/resources")).body["items"] as Array<{ id: string }>;
    const path = `/resources/${resources[0]?.id}`;
    await api.call("PATCH", path, { body: { accessTokenLifetimeSeconds: 3_600 } });
    const long = await redeem(await allow(clientId, { scope: "openid pay" }), clientId);
    assert.equal(long.body["expires_in"], 600);
    await api.call("PATCH", path, { body: { accessTokenLifetimeSeconds: null } });
  });

  test("a client that the policy does not take is unknown: a page, and 401 for codes, refresh tokens and access tokens", async () => {
    const clientId = serve("ended");
    const { body } = await redeem(await allow(clientId), clientId);
    const grant = await allow(clientId);
    for (const more of [{ mode: "off" }, { hosts: [] }, { hosts: ["localhost"] }]) {
      await policy(more);
      const { page } = await open(clientId);
      assert.deepEqual([page.status, page.location], [400, undefined], JSON.stringify(more));
      assertOAuthError(await redeem(grant, clientId), 401, "invalid_client");
      assertOAuthError(await refresh(body["refresh_token"], clientId), 401, "invalid_client");
      const userinfo = await fetch(`${org.issuer}/userinfo`, {
        headers: { authorization: `Bearer ${body["access_token"]}` },
      });
      assert.equal(userinfo.status, 401);
    }
    await policy({ mode: "any", hosts: [] });
    assert.equal((await refresh(body["refresh_token"], clientId)).status, 200);
    await policy({});
  });

  test("discovery says so while documents are taken, and nothing while they are not", async () => {
    const member = async () => {
      clock.advance(31_000);
      const answer = await fetch(`${org.issuer}/.well-known/openid-configuration`);
      return ((await answer.json()) as Record<string, unknown>)["client_id_metadata_document_supported"];
    };
    assert.equal(await member(), true);
    await policy({ mode: "off" });
    assert.equal(await member(), undefined);
    await policy({});
  });

  test("a faulty document is an error page, and is read again at once", async () => {
    const faults: ReadonlyArray<readonly [string, object | string]> = [
      ["another client_id", { client_id: "https://other.example/x" }],
      ["a secret", { client_secret: "x" }],
      ["no name", { client_name: 5 }],
      ["a secret's method", { token_endpoint_auth_method: "client_secret_basic" }],
      ["a redirect of another host", { redirect_uris: ["https://evil.example/callback"] }],
      ["a redirect of another port", { redirect_uris: ["https://localhost:1/callback"] }],
      ["a redirect of a private scheme", { redirect_uris: ["com.evil:/callback"] }],
      ["no redirect", { redirect_uris: [] }],
      ["no code", { grant_types: ["client_credentials"] }],
      ["no keys", { token_endpoint_auth_method: "private_key_jwt" }],
      ["not JSON", "{"],
      ["not an object", "[]"],
      ["too large", { padding: "x".repeat(5 * 1_024) }],
    ];
    for (const [index, [about, more]] of faults.entries()) {
      const name = `faulty-${index}`;
      const clientId = `https://${host.host}/${name}.json`;
      host.served.set(`/${name}.json`, typeof more === "string" ? more : agentDocument(clientId, more));
      for (const calls of [1, 2]) {
        const { page } = await open(clientId);
        assert.deepEqual([page.status, page.location], [400, undefined], about);
        assert.equal(callsOf(name), calls, about);
      }
      assertOAuthError(await refresh("sgn_rt_x", clientId), 401, "invalid_client", about);
    }
  });

  test("private keys in a document are refused", async () => {
    const { privateKey } = await generateKeyPair("ES256", { extractable: true });
    const jwks = { keys: [{ ...(await exportJWK(privateKey)), kid: "1", alg: "ES256" }] };
    const { page } = await open(serve("private", { token_endpoint_auth_method: "private_key_jwt", jwks }));
    assert.equal(page.status, 400);
  });

  test("redirects, other types and other statuses are faults", async () => {
    const clientId = serve("moved-to");
    const body = JSON.stringify(agentDocument(clientId));
    for (const [name, status, headers] of [
      ["moved", 302, { location: clientId, "content-type": "application/json" }],
      ["html", 200, { "content-type": "text/html" }],
      ["error", 503, { "content-type": "application/json" }],
    ] as const) {
      host.served.set(`/${name}.json`, (_request, response) => {
        response.writeHead(status, headers).end(body);
      });
      assert.equal((await open(`https://${host.host}/${name}.json`)).page.status, 400, name);
    }
    assert.equal(callsOf("moved-to"), 0, "a redirect is not followed");
  });

  test("a host that is private is not called, unless the operator allows it", async () => {
    await policy({ mode: "any", hosts: [] });
    const calls = host.asked.length;
    // Not `localhost`, which SIGNET_OUTBOUND_ALLOW names.
    const port = host.host.split(":")[1];
    const { page } = await open(`https://localhost.localdomain:${port}/agent.json`);
    assert.deepEqual([page.status, host.asked.length], [400, calls]);
    await policy({});
  });

  test("a client with a key proves it; without the proof it is refused", async () => {
    const { publicKey, privateKey } = await generateKeyPair("ES256");
    const jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256", use: "sig" }] };
    const clientId = serve("keyed", {
      token_endpoint_auth_method: "private_key_jwt",
      jwks,
      redirect_uris: [REDIRECT],
    });
    const grant = await allow(clientId);
    assertOAuthError(await redeem(grant, clientId), 401, "invalid_client");
    const assertion = await new SignJWT({})
      .setProtectedHeader({ alg: "ES256", kid: "1" })
      .setIssuer(clientId)
      .setSubject(clientId)
      .setAudience(org.issuer)
      .setJti(crypto.randomUUID())
      .setIssuedAt(Math.floor(clock() / 1_000))
      .setExpirationTime(Math.floor(clock() / 1_000) + 60)
      .sign(privateKey);
    const proven = {
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
    };
    assert.equal((await redeem(grant, clientId, proven)).status, 200);
  });

  test("where the policy requires it, tokens are bound to a key", async () => {
    await policy({ senderConstraint: "required" });
    const clientId = serve("bound");
    const grant = await allow(clientId);
    assertOAuthError(await redeem(grant, clientId), 400, "invalid_dpop_proof");
    const key = await dpopKey();
    const dpop = await key.proof({ url: `${org.issuer}/token`, now: clock() });
    const form = {
      ...{ grant_type: "authorization_code", code: grant.code, code_verifier: grant.verifier },
      ...{ redirect_uri: REDIRECT, client_id: clientId },
    };
    const bound = await postForm(`${org.issuer}/token`, form, { dpop });
    assert.deepEqual([bound.status, bound.body["token_type"]], [200, "DPoP"], JSON.stringify(bound.body));
    await policy({});
  });

  test("it is a client of one organisation: another one's policy decides for itself", async () => {
    const clientId = serve("elsewhere");
    await allow(clientId);
    const other = await makeOrganisation(running.service, "Other");
    const { parameters } = authorizationRequest(clientId, REDIRECT, {});
    const page = await testBrowser().get(`${other.issuer}/authorize?${new URLSearchParams(parameters)}`);
    assert.equal(page.status, 400);
  });

  test("it is in no list of applications, and introspects nothing", async () => {
    const clientId = serve("unlisted");
    const { body } = await redeem(await allow(clientId), clientId);
    const listed = await api.call("GET", "/applications");
    assert.equal(listed.status, 200);
    assert.doesNotMatch(JSON.stringify(listed.body), /unlisted/);
    const token = String(body["access_token"]);
    const own = await postForm(`${org.issuer}/introspect`, { token, client_id: clientId });
    assert.equal(own.status, 401);
    const foreign = await postForm(`${org.issuer}/introspect`, { token, ...credentials(org.batch) });
    assert.deepEqual(foreign.body, { active: false });
  });

  test("a document is kept as its server says, between a minute and a day, and a change ends what it no longer has", async () => {
    const clientId = serve("kept");
    const callsAfter = async (cacheControl: string | undefined, seconds: number) => {
      host.headers = cacheControl === undefined ? {} : { "cache-control": cacheControl };
      clock.advance(86_400_000);
      browser = testBrowser();
      await open(clientId);
      const before = callsOf("kept");
      clock.advance(seconds * 1_000);
      await open(clientId);
      return callsOf("kept") - before;
    };
    assert.equal(await callsAfter("no-store", 59), 0);
    assert.equal(await callsAfter("max-age=1", 61), 1);
    assert.equal(await callsAfter("max-age=3000", 2_900), 0);
    assert.equal(await callsAfter("max-age=3000", 3_001), 1);
    assert.equal(await callsAfter("max-age=9999999", 86_401), 1);
    host.headers = { "cache-control": "max-age=60" };
    serve("kept", { redirect_uris: [`https://${host.host}/other`] });
    clock.advance(86_400_000);
    assert.equal((await open(clientId)).page.status, 400, "the redirect URI is gone");
    host.headers = {};
  });

  test("a document that turned faulty ends the client: page, code, refresh, pushed request; mended, it goes on", async () => {
    const clientId = serve("turned");
    const { body } = await redeem(await allow(clientId), clientId);
    const grant = await allow(clientId);
    clock.advance(301_000);
    browser = testBrowser();
    host.served.set("/turned.json", "{}");
    assert.equal((await open(clientId)).page.status, 400);
    assertOAuthError(await redeem(grant, clientId), 401, "invalid_client");
    assertOAuthError(await refresh(body["refresh_token"], clientId), 401, "invalid_client");
    const { parameters } = authorizationRequest(clientId, REDIRECT, { scope: "openid" });
    assertOAuthError(await postForm(`${org.issuer}/par`, parameters), 401, "invalid_client");
    serve("turned");
    assert.equal((await refresh(body["refresh_token"], clientId)).status, 200);
    assert.equal((await postForm(`${org.issuer}/par`, parameters)).status, 201);
  });

  test("a key that the document no longer has proves nothing", async () => {
    const [first, second] = [await generateKeyPair("ES256"), await generateKeyPair("ES256")];
    const method = { token_endpoint_auth_method: "private_key_jwt" };
    const document = async ({ publicKey }: typeof first) => ({
      ...method,
      redirect_uris: [REDIRECT],
      jwks: { keys: [{ ...(await exportJWK(publicKey)), kid: "1", alg: "ES256", use: "sig" }] },
    });
    const proof = async ({ privateKey }: typeof first, clientId: string) => ({
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await new SignJWT({})
        .setProtectedHeader({ alg: "ES256", kid: "1" })
        .setIssuer(clientId)
        .setSubject(clientId)
        .setAudience(org.issuer)
        .setJti(crypto.randomUUID())
        .setExpirationTime(Math.floor(clock() / 1_000) + 60)
        .sign(privateKey),
    });
    const clientId = serve("rotated", await document(first));
    const { body } = await redeem(await allow(clientId), clientId, await proof(first, clientId));
    serve("rotated", await document(second));
    clock.advance(301_000);
    const again = async (key: typeof first) =>
      postForm(`${org.issuer}/token`, {
        ...{ grant_type: "refresh_token", refresh_token: String(body["refresh_token"]) },
        ...{ client_id: clientId, ...(await proof(key, clientId)) },
      });
    assertOAuthError(await again(first), 401, "invalid_client");
    assert.equal((await again(second)).status, 200);
  });

  test("a document of exactly 5 KiB is read, one byte more is not", async () => {
    for (const [name, length, status] of [
      ["whole", 5_120, 200],
      ["over", 5_121, 400],
    ] as const) {
      const clientId = `https://${host.host}/${name}.json`;
      host.served.set(`/${name}.json`, JSON.stringify(agentDocument(clientId)).padEnd(length, " "));
      assert.equal((await open(clientId)).page.status, status, name);
    }
  });
});
