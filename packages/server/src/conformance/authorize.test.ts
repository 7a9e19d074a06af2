/** OpenID conformance: authorize. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOrganisationSettings } from "../core/organisations/organisations.ts";
import {
  authorizationRequest,
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../testing/fakes/browser.ts";
import { codeSource, redeemWith } from "../testing/fakes/code-source.ts";
import { forEachProvider, verifiedIdToken } from "../testing/fakes/provider.ts";
import { answerOf, decide, follow, logIn, visit } from "../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  type TestOrganisation,
} from "../testing/test-service.ts";

/** Both ways that a request comes: in the address, or as a form that the application's page posts. */
const ways = {
  GET: (browser: TestBrowser, org: TestOrganisation, parameters: Record<string, string>) =>
    browser.get(`${org.issuer}/authorize?${new URLSearchParams(parameters)}`),
  POST: (browser: TestBrowser, org: TestOrganisation, parameters: Record<string, string>) =>
    browser.post(`${org.issuer}/authorize`, parameters, {
      origin: "https://app.example",
      "sec-fetch-site": "cross-site",
    }),
};

const refusals: ReadonlyArray<readonly [what: string, more: Record<string, string>, error: RegExp]> = [
  ["a missing response_type", { response_type: "" }, /^(invalid_request|unsupported_response_type)$/],
  ["a request parameter", { request: "eyJhbGciOiJub25lIn0.e30." }, /^request_not_supported$/],
  ["a request_uri parameter", { request_uri: "https://app.example/r" }, /^request_uri_not_supported$/],
];
const untrusted: ReadonlyArray<readonly [what: string, more: Record<string, string>]> = [
  ["an unregistered redirect_uri", { redirect_uri: "https://app.example/other" }],
  ["a redirect_uri with a query added", { redirect_uri: `${REDIRECT_URI}?foo=bar` }],
  ["a missing redirect_uri", { redirect_uri: "" }],
  ["an unknown client", { client_id: "0190a1b2-0000-7000-8000-000000000001" }],
];

forEachProvider((provider) => {
  /** @param more an empty value leaves the parameter out */
  function request(more: Record<string, string> = {}, client = provider().org.web) {
    const { parameters, verifier } = authorizationRequest(client.application.id, REDIRECT_URI, more);
    const sent = Object.entries(parameters).filter(([, value]) => value !== "");
    return { parameters: Object.fromEntries(sent), verifier };
  }

  for (const [way, send] of Object.entries(ways)) {
    const sendAnd = async (browser: TestBrowser, more: Record<string, string>): Promise<TestPage> =>
      follow(browser, await send(browser, provider().org, request(more).parameters));

    test(`an authentication request by ${way} leads through sign-in and consent to an ID token`, async () => {
      const { org } = provider();
      const browser = testBrowser();
      const { parameters, verifier } = request({ prompt: "consent", nonce: "n" });
      const login = await follow(browser, await send(browser, org, parameters));
      const answer = answerOf(await decide(browser, org, await logIn(browser, org, login)));
      assert.equal(answer.get("state"), parameters["state"]);
      const { body } = await redeemWith(org, { code: answer.get("code") ?? "", verifier });
      const claims = await verifiedIdToken(provider(), String(body["id_token"]));
      assert.deepEqual([claims.sub, claims["nonce"]], [org.user.id, "n"]);
    });

    for (const [what, more, error] of refusals)
      test(`${what} by ${way} redirects with an error and the state`, async () => {
        const page = await sendAnd(testBrowser(), { ...more, state: "s" });
        assert.ok(page.location?.startsWith(`${REDIRECT_URI}?`), `${page.location}`);
        assert.match(answerOf(page).get("error") ?? "", error);
        assert.equal(answerOf(page).get("state"), "s");
      });

    test(`an unsigned request object by ${way} is refused by the response_mode that stands in it`, async () => {
      const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
      const inside = { redirect_uri: "https://evil.example/", state: "inside", response_mode: "form_post" };
      const object = `${encode({ alg: "none" })}.${encode(inside)}.`;
      const page = await sendAnd(testBrowser(), { request: object, state: "s" });
      assert.deepEqual([page.status, page.location], [200, undefined]);
      assert.match(page.body, new RegExp(`action="${REDIRECT_URI}"`));
      assert.deepEqual([page.hidden["error"], page.hidden["state"]], ["request_not_supported", "s"]);
      const outside = await sendAnd(testBrowser(), { request: object, state: "s", response_mode: "query" });
      assert.equal(answerOf(outside).get("error"), "request_not_supported");
      assert.ok(outside.location?.startsWith(`${REDIRECT_URI}?`), "the mode outside wins");
      const nowhere = await sendAnd(testBrowser(), { request: object, redirect_uri: "" });
      assert.deepEqual([nowhere.status, nowhere.location], [400, undefined], "no address is read from it");
    });

    for (const [what, more] of untrusted)
      test(`${what} by ${way} is an error page, never a redirect`, async () => {
        for (const mode of ["query", "form_post"]) {
          const page = await sendAnd(testBrowser(), { ...more, response_mode: mode });
          assert.deepEqual([page.status, page.location], [400, undefined]);
          assert.match(page.headers.get("content-type") ?? "", /^text\/html/);
          assert.doesNotMatch(page.body, /<form/);
        }
      });
  }

  test("prompt=none is interaction_required when the user has to enrol a second factor", async () => {
    const { running } = provider();
    const strict = await makeOrganisation(running.service, "Strict");
    const source = codeSource(strict);
    await source.code();
    const silent = async () =>
      answerOf(await visit(source.browser, strict, { more: { prompt: "none" } })).get("error");
    assert.equal(await silent(), null);
    await changeOrganisationSettings(running.service, {
      orgId: strict.organisation.id,
      settings: { secondFactor: "required" },
      actor: "test",
    });
    assert.equal(await silent(), "interaction_required");
  });

  test("max_age always brings auth_time into the ID token, whether or not it has passed", async () => {
    const { org, clock } = provider();
    const source = codeSource(org);
    await source.code();
    const signedInAt = Math.floor(clock() / 1000);
    for (const [wait, maxAge, authTime] of [
      [20, "10000", signedInAt],
      [20, "15", signedInAt + 40],
      [20, "0", signedInAt + 60],
    ] as const) {
      clock.advance(wait * 1_000);
      const { idToken } = await source.tokens({ max_age: maxAge });
      assert.equal((await verifiedIdToken(provider(), idToken))["auth_time"], authTime, maxAge);
    }
  });

  test("the deny button answers access_denied, by query and by form_post", async () => {
    const { org } = provider();
    const browser = testBrowser();
    for (const mode of ["query", "form_post"]) {
      let page = await visit(browser, org, { more: { prompt: "consent", response_mode: mode, state: "s" } });
      if (mode === "query") page = await logIn(browser, org, page);
      const denied = await decide(browser, org, page, "deny");
      const answer = mode === "query" ? Object.fromEntries(answerOf(denied)) : denied.hidden;
      assert.deepEqual([answer["error"], answer["state"], answer["code"]], ["access_denied", "s", undefined]);
    }
  });

  test("a confidential client with requirePkce=false works without PKCE, and is held to a challenge it sends", async () => {
    const { running, org, source } = provider();
    const settings = { redirectUris: [REDIRECT_URI], requirePkce: false };
    const client = await makeClient(running.service, org.organisation, settings);
    const none = { code_verifier: "" };
    const without = await source.code({ code_challenge: "", code_challenge_method: "" }, client);
    assert.equal((await redeemWith(org, without, none, client)).status, 200);
    const bound = await source.code({}, client);
    for (const wrong of [none, { code_verifier: "x".repeat(43) }])
      assert.equal((await redeemWith(org, bound, wrong, client)).body["error"], "invalid_grant");
    assert.equal((await redeemWith(org, bound, {}, client)).status, 200);
  });
});
