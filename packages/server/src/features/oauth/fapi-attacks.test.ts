/** Attacks that FAPI 2.0 is made against (its attacker model, RFC 9700): each comes with everything but what it must not have. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { seconds } from "../../core/clock.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { authorizationRequest, authorize, testBrowser } from "../../testing/fakes/browser.ts";
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

/** A client of the profile with its keys, and the organisation that it is of. */
interface Bank {
  readonly org: TestOrganisation;
  readonly client: TestClient;
  readonly key: RequestKey;
}

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let clock: FakeClock;
  let org: TestOrganisation;
  let dpop: DpopKey;
  let bank: Bank;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    dpop = await dpopKey();
    bank = await open(org);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
  });

  async function open(of: TestOrganisation, more: Partial<ApplicationSettings> = {}, key?: RequestKey) {
    const own = key ?? (await requestKey());
    const client = await makeClient(running.service, of.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, jwks: { keys: [{ ...own.jwk }] } },
      ...{ tokenEndpointAuthMethod: "private_key_jwt", dpopBoundAccessTokens: true },
      ...{ securityProfile: "fapi2", ...more },
    });
    return { org: of, client, key: own };
  }

  const idOf = ({ client }: Bank) => client.application.id;
  const authenticated = async (by: Bank, form: Record<string, string>) => {
    const [id, now] = [idOf(by), seconds(clock())];
    const times = { iat: now, exp: now + 60, jti: crypto.randomUUID() };
    return {
      ...{ ...form, client_id: id },
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: await signClaims(by.key, { iss: id, sub: id, aud: by.org.issuer, ...times }),
    };
  };
  const push = async (by: Bank, more: Record<string, string> = {}) => {
    const { parameters, verifier } = authorizationRequest(idOf(by), REDIRECT_URI, more);
    const answer = await postForm(`${by.org.issuer}/par`, await authenticated(by, parameters));
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return { uri: String(answer.body["request_uri"]), verifier };
  };
  const visit = (by: Bank, uri: string, more: Record<string, string> = {}) =>
    testBrowser().get(
      `${by.org.issuer}/authorize?${new URLSearchParams({ client_id: idOf(by), request_uri: uri, ...more })}`,
    );
  const complete = (by: Bank, uri: string) => {
    const query = new URLSearchParams({ client_id: idOf(by), request_uri: uri }).toString();
    return authorize(testBrowser(), { issuer: by.org.issuer, query, ...by.org.user });
  };
  const redeem = async (by: Bank, code: string, verifier: string, proof: string | undefined) => {
    const form = {
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
    };
    const headers: Record<string, string> = proof === undefined ? {} : { dpop: proof };
    return postForm(`${by.org.issuer}/token`, await authenticated(by, form), headers);
  };
  const proofFor = (of: TestOrganisation, by = dpop) => by.proof({ url: `${of.issuer}/token`, now: clock() });
  const signIn = async (by: Bank): Promise<Answer> => {
    const { uri, verifier } = await push(by);
    const code = (await complete(by, uri)).get("code") ?? "";
    const answer = await redeem(by, code, verifier, await proofFor(by.org));
    assert.equal(answer.status, 200, JSON.stringify(answer.body));
    return answer;
  };
  const userinfo = (at: TestOrganisation, token: string, scheme: string, proof?: string) =>
    sendRaw(`${at.issuer}/userinfo`, {
      headers: { authorization: `${scheme} ${token}`, ...(proof === undefined ? {} : { dpop: proof }) },
    });

  test("a stolen code needs the key that the request named, and is not used up by the attempt", async () => {
    const { uri, verifier } = await push(bank, { dpop_jkt: dpop.jkt });
    const code = (await complete(bank, uri)).get("code") ?? "";
    const thief = await dpopKey();
    const stolen = await redeem(bank, code, verifier, await proofFor(org, thief));
    assertOAuthError(stolen, 400, "invalid_dpop_proof", "another key, with verifier and assertion");
    assertOAuthError(await redeem(bank, code, verifier, undefined), 400, "invalid_dpop_proof", "no key");
    const other = await open(org);
    assertOAuthError(
      await redeem(other, code, verifier, await proofFor(org)),
      400,
      "invalid_grant",
      "another client",
    );
    clock.advance(59_000);
    assert.equal(
      (await redeem(bank, code, verifier, await proofFor(org))).status,
      200,
      "its own, in its minute",
    );
  });

  test("a stolen access token is worth nothing without its key", async () => {
    const token = String((await signIn(bank)).body["access_token"]);
    const target = { url: `${org.issuer}/userinfo`, method: "GET", token, now: clock() };
    const thief = await dpopKey();
    const proofless = await userinfo(org, token, "DPoP");
    assert.equal(proofless.status, 401);
    assert.equal((await userinfo(org, token, "Bearer")).status, 401);
    assert.equal((await userinfo(org, token, "DPoP", await thief.proof(target))).status, 401);
    // A public key in the header that is the token's, and a signature that is not.
    const forged = await thief.proof(target, { header: { jwk: dpop.jwk } });
    assert.equal((await userinfo(org, token, "DPoP", forged)).status, 401);
    const elsewhere = await dpop.proof({ ...target, url: "https://evil.example/userinfo" });
    assert.equal((await userinfo(org, token, "DPoP", elsewhere)).status, 401, "made for another server");
    assert.equal((await userinfo(org, token, "DPoP", await dpop.proof(target))).status, 200);
  });

  test("a proof that was used at one node is refused at the other, at PAR and at the token endpoint", async () => {
    const path = `/oauth/${org.organisation.id}`;
    const nodes = [running.baseUrl, second.baseUrl];
    const form = { grant_type: "client_credentials" };
    const machine = await open(org, { grantTypes: ["client_credentials"], redirectUris: [] });
    const proof = await proofFor(org);
    const answers = [];
    for (const node of nodes)
      answers.push(
        await postForm(`${node}${path}/token`, await authenticated(machine, form), { dpop: proof }),
      );
    assert.equal(answers[0]?.status, 200, JSON.stringify(answers[0]?.body));
    assertOAuthError(answers[1] as Answer, 400, "invalid_dpop_proof");
    const { parameters } = authorizationRequest(idOf(bank), REDIRECT_URI);
    const atPar = await dpop.proof({ url: `${org.issuer}/par`, now: clock() });
    const pushed = [];
    for (const node of nodes)
      pushed.push(
        await postForm(`${node}${path}/par`, await authenticated(bank, parameters), { dpop: atPar }),
      );
    assert.equal(pushed[0]?.status, 201, JSON.stringify(pushed[0]?.body));
    assertOAuthError(pushed[1] as Answer, 400, "invalid_dpop_proof");
  });

  test("a pushed request is neither another client's, nor used twice, nor changed beside it", async () => {
    const thief = await open(org);
    const { uri, verifier } = await push(bank);
    const swapped = await visit(thief, uri);
    assert.equal(swapped.status, 400);
    assert.match(swapped.body, /invalid_request_uri/);
    const beside = { redirect_uri: "https://evil.example/", scope: "openid phone", state: "x" };
    const query = new URLSearchParams({ client_id: idOf(bank), request_uri: uri, ...beside }).toString();
    const answer = await authorize(testBrowser(), { issuer: org.issuer, query, ...org.user });
    assert.notEqual(answer.get("state"), "x");
    const code = answer.get("code") ?? "";
    const tokens = await redeem(bank, code, verifier, await proofFor(org));
    assert.equal(tokens.body["scope"], "openid profile email");
    const again = await visit(bank, uri);
    assert.equal(again.status, 400, "used");
    assert.match(again.body, /invalid_request_uri/);
  });

  test("a request object is of this client's key alone, and has no request in it", async () => {
    const signing = await open(org, { securityProfile: "fapi2-message-signing" });
    const id = idOf(signing);
    const there = await makeOrganisation(running.service, "Elsewhere");
    // The same `kid` in another organisation, and in a client beside.
    const sameKid = await requestKey("ES256", signing.key.kid);
    await open(there, { securityProfile: "fapi2-message-signing" }, sameKid);
    await open(org, { securityProfile: "fapi2-message-signing" }, sameKid);
    const now = seconds(clock());
    const { parameters } = authorizationRequest(id, REDIRECT_URI);
    const own = { ...parameters, iss: id, aud: org.issuer, nbf: now, exp: now + 300 };
    const pushed = async (request: string) =>
      postForm(`${org.issuer}/par`, await authenticated(signing, { request }));
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const hmac = `${encode({ alg: "HS256", kid: signing.key.kid })}.${encode(own)}`;
    const secret = JSON.stringify(signing.key.jwk);
    const faulty: Record<string, string> = {
      "another's key": await signClaims(sameKid, own),
      "a key that comes along": await signClaims(sameKid, own, { jwk: sameKid.jwk }),
      "HS256 by the public key": `${hmac}.${createHmac("sha256", secret).update(hmac).digest("base64url")}`,
      none: `${encode({ alg: "none" })}.${encode(own)}.`,
      "request_uri inside": await signClaims(signing.key, { ...own, request_uri: "urn:x" }),
      "request inside": await signClaims(signing.key, { ...own, request: "e30.e30.e30" }),
      "another client's": await signClaims(signing.key, { ...own, client_id: idOf(bank) }),
      "another issuer's": await signClaims(signing.key, { ...own, aud: there.issuer }),
      "an assertion": await signClaims(signing.key, { ...own, sub: id }),
    };
    for (const [what, object] of Object.entries(faulty))
      assertOAuthError(await pushed(object), 400, "invalid_request_object", what);
    assert.equal((await pushed(await signClaims(signing.key, own))).status, 201);
  });

  test("mix-up: responses name their issuer, and a code of one organisation is none at another", async () => {
    const there = await makeOrganisation(running.service, "Mixed");
    const twin = await open(there, {}, bank.key);
    const { uri, verifier } = await push(bank);
    const answer = await complete(bank, uri);
    assert.equal(answer.get("iss"), org.issuer);
    const code = answer.get("code") ?? "";
    assertOAuthError(await redeem(twin, code, verifier, await proofFor(there)), 400, "invalid_grant");
    // The assertion for one organisation authenticates at no other.
    const form = await authenticated(bank, { grant_type: "client_credentials" });
    assertOAuthError(await postForm(`${there.issuer}/token`, form), 401, "invalid_client");
    const signed = await open(there, { securityProfile: "fapi2-message-signing" });
    const now = seconds(clock());
    const { parameters } = authorizationRequest(idOf(signed), REDIRECT_URI);
    const own = { iss: idOf(signed), aud: there.issuer, nbf: now, exp: now + 300 };
    const request = await signClaims(signed.key, { ...parameters, ...own });
    const pushed = await postForm(`${there.issuer}/par`, await authenticated(signed, { request }));
    const response = payloadOf((await complete(signed, String(pushed.body["request_uri"]))).get("response"));
    assert.deepEqual([response["iss"], response["aud"]], [there.issuer, idOf(signed)]);
    assert.equal((await redeem(bank, code, verifier, await proofFor(org))).status, 200);
  });

  test("a cuckoo's token: with its key, a token of one organisation opens nothing of another", async () => {
    const there = await makeOrganisation(running.service, "Nest");
    const token = String((await signIn(bank)).body["access_token"]);
    const proof = await dpop.proof({ url: `${there.issuer}/userinfo`, method: "GET", token, now: clock() });
    assert.equal((await userinfo(there, token, "DPoP", proof)).status, 401);
    const twin = await open(there, {}, bank.key);
    const asked = await postForm(`${there.issuer}/introspect`, await authenticated(twin, { token }));
    assert.deepEqual(asked.body, { active: false });
  });

  test("after each POST the browser goes on by GET", async () => {
    const asking = await open(org, { requireConsent: true });
    const { uri } = await push(asking);
    const browser = testBrowser();
    const query = new URLSearchParams({ client_id: idOf(asking), request_uri: uri });
    const login = await browser.get(`${org.issuer}/authorize?${query}`);
    const { email, password } = org.user;
    let page = await browser.post(`${org.issuer}/login`, { ...login.hidden, email, password });
    assert.equal(page.status, 303);
    while (page.location !== undefined) page = await browser.get(page.location);
    const decided = await browser.post(`${org.issuer}/authorize`, { ...page.hidden, decision: "allow" });
    assert.equal(decided.status, 303);
    assert.ok(decided.location?.startsWith(REDIRECT_URI), String(decided.location));
  });
});
