/** Signed request objects (RFC 9101) at authorize and PAR, and signed responses (JARM). */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createRemoteJWKSet, jwtVerify, SignJWT } from "jose";
import type { ApplicationSettings } from "../../../../core/applications/application.ts";
import { seconds } from "../../../../core/clock.ts";
import { forEachDatabase } from "../../../../testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  testBrowser,
} from "../../../../testing/fakes/browser.ts";
import { redeemWith } from "../../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../../../testing/fixtures/client.ts";
import { type RequestKey, requestKey, signClaims } from "../../../../testing/fixtures/request-object.ts";
import { assertOAuthError, sendRaw } from "../../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let browser: TestBrowser;
  let key: RequestKey;
  let client: TestClient;
  before(async () => {
    clock = fakeClock(Date.now());
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
    browser = testBrowser();
    key = await requestKey();
    client = await web();
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const web = (settings: Partial<ApplicationSettings> = {}, at = org) =>
    makeClient(running.service, at.organisation, {
      ...{ redirectUris: [REDIRECT_URI], requireConsent: false, jwks: { keys: [{ ...key.jwk }] } },
      ...settings,
    });
  const claims = (of = client, more: Record<string, unknown> = {}) => {
    const { parameters, verifier } = authorizationRequest(of.application.id, REDIRECT_URI);
    const now = seconds(clock());
    const parties = { iss: of.application.id, aud: org.issuer };
    return { verifier, request: { ...parameters, ...parties, iat: now, exp: now + 300, ...more } };
  };
  const outside = (object: string, more: Record<string, string> = {}, of = client) =>
    String(new URLSearchParams({ client_id: of.application.id, request: object, ...more }));
  const go = (query: string) => authorize(browser, { issuer: org.issuer, query, ...org.user });
  /** Of a faulty object, at the registered redirect URI beside it. */
  const errorOf = async (object: string, of = client) =>
    (await go(outside(object, { redirect_uri: REDIRECT_URI }, of))).get("error");

  test("the object is the whole request, whatever stands beside it", async () => {
    for (const alg of ["ES256", "PS256", "EdDSA", "RS256"]) {
      const own = await requestKey(alg);
      const of = await web({ jwks: { keys: [{ ...own.jwk }] } });
      for (const typ of [undefined, "JWT", "oauth-authz-req+jwt"]) {
        const { request, verifier } = claims(of);
        const object = await signClaims(own, request, { typ });
        const answer = await go(outside(object, { state: "beside", scope: "openid phone" }, of));
        assert.equal(answer.get("state"), request.state, `${alg} ${typ}`);
        const { status, body } = await redeemWith(org, { code: answer.get("code") ?? "", verifier }, {}, of);
        assert.deepEqual([status, body["scope"]], [200, "openid profile email"], `${alg} ${typ}`);
      }
    }
    const several = claims(client, { aud: [org.issuer, "https://other.example"], max_age: 3_600 });
    assert.ok((await go(outside(await signClaims(key, several.request)))).get("code"));
    const { state: _, ...without } = claims().request;
    const answer = await go(outside(await signClaims(key, without), { state: "beside" }));
    assert.deepEqual([answer.get("state"), answer.has("code")], [null, true]);
  });

  test("an object without nbf and iat is good until its exp, at most an hour ahead", async () => {
    const object = (seconds: number) => {
      const { request } = claims(client, { iat: undefined });
      return signClaims(key, { ...request, exp: request.exp - 300 + seconds });
    };
    assert.equal(await errorOf(await object(3_601)), "invalid_request_object", "over an hour");
    assert.equal(await errorOf(await object(0)), "invalid_request_object", "expired");
    const hour = await object(3_600);
    assert.ok((await go(outside(hour))).get("code"));
    clock.advance(3_599_000);
    assert.ok((await go(outside(hour))).get("code"), "the last second");
    clock.advance(1_000);
    assert.equal(await errorOf(hour), "invalid_request_object");
  });

  test("refuses every faulty object", async () => {
    const foreign = await requestKey();
    const now = seconds(clock());
    const wrong: Record<string, Record<string, unknown>> = {
      "another issuer": { iss: "https://other.example" },
      "another client": { client_id: org.web.application.id },
      "no client": { client_id: undefined },
      "another audience": { aud: "https://other.example" },
      "no audience": { aud: undefined },
      expired: { exp: now - 1 },
      "no expiry": { exp: undefined },
      "lives too long": { exp: now + 3_601 },
      "too long after nbf": { nbf: now - 600, exp: now + 3_001 },
      early: { nbf: now + 31 },
      "from the future": { iat: now + 31 },
      "the client as subject": { sub: client.application.id },
      "a nested request": { request: "x.y.z" },
      "a nested request_uri": { request_uri: "urn:ietf:params:oauth:request_uri:x" },
      "too many members": Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x${at}`, "y"])),
      "a NUL": { state: "a\0b" },
      "a null": { state: null },
      "a list": { scope: ["openid"] },
    };
    for (const [about, change] of Object.entries(wrong)) {
      const expected = about === "a list" ? "invalid_scope" : "invalid_request_object";
      assert.equal(await errorOf(await signClaims(key, claims(client, change).request)), expected, about);
    }
    const { request } = claims();
    const headers: Record<string, Record<string, unknown>> = {
      "another type": { typ: "at+jwt" },
      jku: { jku: "https://app.example/jwks" },
      jwk: { jwk: foreign.jwk },
      x5u: { x5u: "https://app.example/x5u" },
      x5c: { x5c: ["AAAA"] },
    };
    for (const [about, header] of Object.entries(headers))
      assert.equal(await errorOf(await signClaims(key, request, header)), "invalid_request_object", about);
    const stranger = await signClaims({ ...foreign, kid: key.kid }, request);
    assert.equal(await errorOf(stranger), "invalid_request_object", "another key");
    const other = await makeOrganisation(running.service, "Other");
    const theirs = await requestKey();
    await web({ jwks: { keys: [{ ...theirs.jwk }] } }, other);
    assert.equal(
      await errorOf(await signClaims(theirs, request)),
      "invalid_request_object",
      "another organisation's",
    );
    assert.equal(await errorOf("no object"), "invalid_request_object");
  });

  test("refuses unsigned objects and those of a symmetric key", async () => {
    const { request } = claims();
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    assert.equal(await errorOf(`${part({ alg: "none" })}.${part(request)}.`), "invalid_request_object");
    const secret = new TextEncoder().encode(client.secret);
    const mac = await new SignJWT(request).setProtectedHeader({ alg: "HS256", kid: key.kid }).sign(secret);
    assert.equal(await errorOf(mac), "invalid_request_object");
    assert.equal(await errorOf(mac, org.web), "request_not_supported", "a client without keys");
  });

  test("without a registered redirect URI beside it, a fault is a page", async () => {
    for (const more of [{}, { redirect_uri: "https://evil.example/" }]) {
      const page = await browser.get(`${org.issuer}/authorize?${outside("no object", more)}`);
      assert.equal(page.status, 400);
      assert.match(page.body, /request object/);
    }
    const redirect_uri = "https://evil.example/";
    const inside = await signClaims(key, claims(client, { redirect_uri }).request);
    assert.equal((await browser.get(`${org.issuer}/authorize?${outside(inside)}`)).status, 400);
  });

  test("a client may be held to signed requests and to one algorithm", async () => {
    const strict = await web({ requireSignedRequestObject: true, requestObjectSigningAlg: "PS256" });
    const plain = await go(authorizationRequest(strict.application.id, REDIRECT_URI).query);
    assert.equal(plain.get("error"), "invalid_request");
    assert.equal(
      await errorOf(await signClaims(key, claims(strict).request), strict),
      "invalid_request_object",
    );
    const parameters = { ...authorizationRequest(strict.application.id, REDIRECT_URI).parameters };
    const pushed = await postForm(`${org.issuer}/par`, { ...parameters, ...credentials(strict) });
    assertOAuthError(pushed, 400, "invalid_request");
  });

  test("an object is pushed as it is sent, and both ways at once are refused", async () => {
    const { request, verifier } = claims();
    const object = await signClaims(key, request);
    const push = (more: Record<string, string>) =>
      postForm(`${org.issuer}/par`, { ...credentials(client), ...more });
    assertOAuthError(await push({ request: "no object" }), 400, "invalid_request_object");
    assertOAuthError(await push({ request: object, request_uri: "urn:x" }), 400, "invalid_request");
    const { status, body } = await push({ request: object, scope: "openid phone", state: "beside" });
    assert.equal(status, 201, JSON.stringify(body));
    const uri = String(body["request_uri"]);
    const answer = await go(
      String(new URLSearchParams({ client_id: client.application.id, request_uri: uri })),
    );
    assert.equal(answer.get("state"), request.state);
    const { body: tokens } = await redeemWith(org, { code: answer.get("code") ?? "", verifier }, {}, client);
    assert.equal(tokens["scope"], "openid profile email");
    const both = await go(outside(object, { redirect_uri: REDIRECT_URI, request_uri: uri }));
    assert.equal(both.get("error"), "invalid_request");
    const page = await browser.get(`${org.issuer}/authorize?${outside(object, { request_uri: uri })}`);
    assert.equal(page.status, 400);
    assert.match(page.body, /request and request_uri cannot be combined/);
  });

  test("a long object comes by POST", async () => {
    const object = await signClaims(key, claims(client, { unknown: "x".repeat(9_000) }).request);
    const page = await browser.post(`${org.issuer}/authorize`, {
      client_id: client.application.id,
      request: object,
    });
    assert.equal(page.status, 303);
    assert.match((await browser.get(page.location ?? "")).location ?? "", /[?&]code=/);
  });

  test("signs the response where it is asked for, errors too, in every mode", async () => {
    const keys = createRemoteJWKSet(new URL(`${org.issuer}/.well-known/jwks.json`));
    const read = async (text: string | null) => {
      const { payload, protectedHeader } = await jwtVerify(text ?? "", keys, {
        issuer: org.issuer,
        audience: client.application.id,
        currentDate: new Date(clock()),
      });
      assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 600);
      return { payload, alg: protectedHeader.alg };
    };
    for (const mode of ["jwt", "query.jwt", "fragment.jwt", "form_post.jwt"])
      for (const error of [undefined, "invalid_scope"]) {
        const more = {
          response_mode: mode,
          ...(error === undefined ? {} : { scope: "nothing" }),
        };
        const { parameters, query } = authorizationRequest(client.application.id, REDIRECT_URI, more);
        const page = await browser.get(`${org.issuer}/authorize?${query}`);
        const url = new URL(page.location ?? org.issuer);
        const place = mode === "fragment.jwt" ? new URLSearchParams(url.hash.slice(1)) : url.searchParams;
        const given: Record<string, string> =
          mode === "form_post.jwt" ? page.hidden : Object.fromEntries(place);
        assert.deepEqual(Object.keys(given), ["response"], mode);
        const { payload } = await read(given["response"] ?? null);
        assert.equal(payload["state"], parameters.state);
        assert.equal(
          typeof payload[error === undefined ? "code" : "error"],
          "string",
          `${mode} ${error} ${JSON.stringify(payload)}`,
        );
      }
    const wrong = await go(
      authorizationRequest(client.application.id, REDIRECT_URI, { response_mode: "x.jwt" }).query,
    );
    const { payload } = await read(wrong.get("response"));
    assert.equal(payload["error"], "invalid_request");
    const { body } = await sendRaw(`${org.issuer}/.well-known/openid-configuration`, {});
    assert.ok((body["response_modes_supported"] as string[]).includes("form_post.jwt"));
    assert.deepEqual(
      [body["request_parameter_supported"], body["request_uri_parameter_supported"]],
      [true, false],
    );
  });
});
