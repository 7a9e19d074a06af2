/** Pushed authorization requests (RFC 9126): pushing, loading, and the one response that uses each up. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ApplicationSettings } from "../../../core/applications/application.ts";
import { changeOrganisationSettings } from "../../../core/organisations/organisations.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import {
  authorizationRequest,
  authorize,
  type TestBrowser,
  testBrowser,
} from "../../../testing/fakes/browser.ts";
import { redeemWith } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import { dpopKey } from "../../../testing/fixtures/dpop.ts";
import { assertOAuthError, payloadOf, postText, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let org: TestOrganisation;
  let other: TestOrganisation;
  let clock: FakeClock;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    other = await makeOrganisation(running.service, "Other");
    browser = testBrowser();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
  });

  const web = (settings: Partial<ApplicationSettings> = {}) =>
    makeClient(running.service, org.organisation, {
      redirectUris: [REDIRECT_URI],
      requireConsent: false,
      ...settings,
    });
  const asked = (client: TestClient, more: Record<string, string> = {}) =>
    authorizationRequest(client.application.id, REDIRECT_URI, more);
  const push = async (
    client: TestClient,
    more: Record<string, string> = {},
    headers: Record<string, string> = {},
  ) => {
    const { parameters, verifier } = asked(client, more);
    const sent = { ...parameters, ...credentials(client), ...more };
    const answer = await postForm(`${org.issuer}/par`, sent, headers);
    return { answer, verifier, uri: String(answer.body["request_uri"]), state: parameters.state };
  };
  const address = (client: TestClient, uri: string, more: Record<string, string> = {}, issuer = org.issuer) =>
    `${issuer}/authorize?${new URLSearchParams({ client_id: client.application.id, request_uri: uri, ...more })}`;
  const complete = (client: TestClient, uri: string, by = browser) =>
    authorize(by, {
      issuer: org.issuer,
      query: String(new URLSearchParams({ client_id: client.application.id, request_uri: uri })),
      ...org.user,
    });
  const unusable = async (url: string, about: string) => {
    const page = await browser.get(url);
    assert.equal(page.status, 400, `${about} ${page.location}`);
    assert.match(page.body, /invalid_request_uri/, about);
  };

  test("a pushed request gives a code, and only its client_id counts beside it", async () => {
    const client = await web();
    const { answer, uri, verifier, state } = await push(client);
    assert.equal(answer.status, 201);
    assert.deepEqual(Object.keys(answer.body).sort(), ["expires_in", "request_uri"]);
    assert.equal(answer.body["expires_in"], 60);
    assert.match(uri, /^urn:ietf:params:oauth:request_uri:[A-Za-z0-9_-]{43}$/);
    assert.equal(answer.headers.get("cache-control"), "no-store");
    const beside = { state: "swapped", redirect_uri: "https://evil.example/", scope: "openid phone" };
    const query = { client_id: client.application.id, request_uri: uri, ...beside };
    const result = await authorize(browser, {
      issuer: org.issuer,
      query: String(new URLSearchParams(query)),
      ...org.user,
    });
    assert.equal(result.get("state"), state);
    const tokens = await redeemWith(org, { code: result.get("code") ?? "", verifier }, {}, client);
    assert.equal(payloadOf(tokens.body["access_token"])["scope"], "openid profile email");
  });

  test("is used up by the response, on every node, and not by loading it", async () => {
    const client = await web();
    const { uri } = await push(client);
    const fresh = testBrowser();
    for (let time = 0; time < 2; time++) {
      const page = await fresh.get(address(client, uri));
      assert.match(page.location ?? page.body, /login|password/, "loaded again");
    }
    assert.ok((await complete(client, uri)).get("code"));
    await unusable(address(client, uri), "after the code");
    await unusable(address(client, uri, {}, `${second.baseUrl}/oauth/${org.organisation.id}`), "elsewhere");
    const nobody = await testBrowser().get(address(client, uri));
    assert.equal(nobody.status, 400, "nobody signs in for a request that is used up");
    const refused = await push(client, { prompt: "none" });
    const alone = testBrowser();
    const { location } = await alone.get(address(client, refused.uri));
    assert.match(location ?? "", /error=login_required/);
    await unusable(address(client, refused.uri), "after an error");
  });

  test("of twenty browsers at once one gets a code", async () => {
    const client = await web();
    const { uri } = await push(client);
    await complete(client, (await push(client)).uri);
    const pages = await Promise.all(Array.from({ length: 20 }, () => browser.get(address(client, uri))));
    const codes = pages.filter(({ location }) => new URL(location ?? org.issuer).searchParams.has("code"));
    assert.equal(codes.length, 1);
    assert.equal(pages.filter(({ status }) => status === 400).length, 19);
  });

  test("an unknown, expired or foreign request_uri is a page", async () => {
    const client = await web();
    const { uri } = await push(client);
    await unusable(address(client, `${uri.slice(0, -1)}_`), "unknown");
    await unusable(address(await web(), uri), "another client's");
    const theirs = address(other.web, uri, {}, other.issuer);
    await unusable(theirs, "another organisation's");
    clock.advance(60_000);
    await unusable(address(client, uri), "expired");
    const elsewhere = await browser.get(
      address(client, "https://app.example/request", asked(client).parameters),
    );
    assert.match(elsewhere.location ?? "", /error=request_uri_not_supported/);
    const alone = await browser.get(address(client, "https://app.example/request"));
    assert.equal(alone.status, 400);
    assert.match(alone.body, /request_uri_not_supported/);
  });

  test("refuses what authorize would refuse, with its codes, and what must not be pushed", async () => {
    const client = await web();
    const codeOf = async (more: Record<string, string>) => (await push(client, more)).answer;
    assertOAuthError(await codeOf({ request_uri: "urn:x" }), 400, "invalid_request", "request_uri");
    assertOAuthError(await codeOf({ redirect_uri: "https://evil.example/" }), 400, "invalid_request");
    assertOAuthError(await codeOf({ scope: "nothing" }), 400, "invalid_scope");
    assertOAuthError(await codeOf({ response_type: "token" }), 400, "unsupported_response_type");
    assertOAuthError(await codeOf({ code_challenge_method: "plain" }), 400, "invalid_request");
    assertOAuthError(await codeOf({ resource: "https://api.example" }), 400, "invalid_target");
    assertOAuthError(await codeOf({ prompt: "create" }), 400, "invalid_request", "nobody signs up here");
    assertOAuthError(await codeOf({ client_secret: "wrong" }), 401, "invalid_client");
    const { redirect_uri: _, ...without } = asked(client).parameters;
    const sent = { ...without, ...credentials(client) };
    assertOAuthError(await postForm(`${org.issuer}/par`, sent), 400, "invalid_request", "no redirect_uri");
    const twice = `${new URLSearchParams({ ...asked(client).parameters, ...credentials(client) })}&state=b`;
    assertOAuthError(await postText(`${org.issuer}/par`, twice), 400, "invalid_request", "twice");
    assert.equal((await sendRaw(`${org.issuer}/par`, {})).status, 405);
    const padding = { nonce: "x".repeat(70_000) };
    assert.equal((await codeOf(padding)).status, 413);
    let claims = "";
    while (claims.length < 20_000) claims += crypto.randomUUID();
    assertOAuthError(await codeOf({ login_hint: claims }), 400, "invalid_request", "too long to carry");
  });

  test("a client or an organisation may require it", async () => {
    const strict = await web({ requirePushedAuthorizationRequests: true });
    const refused = await authorize(browser, { issuer: org.issuer, query: asked(strict).query, ...org.user });
    assert.equal(refused.get("error"), "invalid_request");
    assert.ok((await complete(strict, (await push(strict)).uri)).get("code"));
    const discovery = async (issuer: string) =>
      (await sendRaw(`${issuer}/.well-known/openid-configuration`, {})).body;
    assert.equal((await discovery(org.issuer))["pushed_authorization_request_endpoint"], `${org.issuer}/par`);
    assert.equal((await discovery(org.issuer))["require_pushed_authorization_requests"], false);
    const policy = await makeOrganisation(running.service, "Strict");
    await changeOrganisationSettings(running.service, {
      orgId: policy.organisation.id,
      settings: { requirePushedAuthorizationRequests: true },
      actor: "test",
    });
    const { query } = authorizationRequest(policy.web.application.id, REDIRECT_URI);
    const answer = await authorize(testBrowser(), { issuer: policy.issuer, query, ...policy.user });
    assert.equal(answer.get("error"), "invalid_request");
    assert.equal((await discovery(policy.issuer))["require_pushed_authorization_requests"], true);
  });

  test("a proof or dpop_jkt binds the code; two keys are refused", async () => {
    const client = await web();
    const [key, stranger] = [await dpopKey(), await dpopKey()];
    const proof = (url: string, by = key) => by.proof({ url, now: clock() });
    const dpop = await proof(`${org.issuer}/par`);
    const { answer, uri, verifier } = await push(client, {}, { dpop });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    assert.ok(answer.headers.get("dpop-nonce"));
    assertOAuthError((await push(client, {}, { dpop })).answer, 400, "invalid_dpop_proof", "again");
    const code = (await complete(client, uri)).get("code") ?? "";
    const redeem = (by?: string): Promise<Answer> =>
      postForm(
        `${org.issuer}/token`,
        {
          ...{ grant_type: "authorization_code", code, code_verifier: verifier, redirect_uri: REDIRECT_URI },
          ...credentials(client),
        },
        by === undefined ? {} : { dpop: by },
      );
    assertOAuthError(await redeem(), 400, "invalid_dpop_proof", "without");
    assertOAuthError(await redeem(await proof(`${org.issuer}/token`, stranger)), 400, "invalid_dpop_proof");
    assert.equal((await redeem(await proof(`${org.issuer}/token`))).body["token_type"], "DPoP");
    const differs = await push(
      client,
      { dpop_jkt: stranger.jkt },
      { dpop: await proof(`${org.issuer}/par`) },
    );
    assertOAuthError(differs.answer, 400, "invalid_dpop_proof", "they differ");
  });
});
