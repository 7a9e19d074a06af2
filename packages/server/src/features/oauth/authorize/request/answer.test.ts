import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../../../testing/databases.ts";
import {
  authorizationRequest,
  type TestBrowser,
  type TestPage,
  testBrowser,
} from "../../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../../testing/fakes/quick-passwords.ts";
import { postForm } from "../../../../testing/fixtures/client.ts";
import { requestQuery, signInAndConsent, visit } from "../../../../testing/fixtures/visit.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../../testing/test-service.ts";

const ODD = `${"0123456789abcdef".repeat(16)} &=#?+%20%2B/\\'"<script>alert(1)</script>;,ü✓𝕊\u0001\t`;
/** A form cannot carry a line break unchanged: the browser makes each one CR LF (HTML, "form submission"). */
const stateFor = (mode: string) => (mode === "form_post" ? ODD : `${ODD}\r\n\n`);

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let browser: TestBrowser;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh(), passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    browser = testBrowser();
    await signInAndConsent(browser, org);
  });
  after(() => running.close());

  /** The answer's parameters, from where the mode puts them and from nowhere else. */
  function received(page: TestPage, mode: string): Record<string, string> {
    if (mode === "form_post") {
      assert.equal(page.status, 200);
      assert.equal(page.location, undefined);
      assert.ok(
        page.body.includes(`<form id="form-post" method="post" action="${REDIRECT_URI}">`),
        "nothing in the query",
      );
      return page.hidden;
    }
    const { search, hash } = new URL(page.location ?? "");
    assert.equal(mode === "fragment" ? search : hash, "", "nowhere else");
    assert.equal(new URL(page.location ?? "").origin + new URL(page.location ?? "").pathname, REDIRECT_URI);
    return Object.fromEntries(new URLSearchParams(mode === "fragment" ? hash.slice(1) : search));
  }

  for (const mode of ["query", "fragment", "form_post"]) {
    test(`${mode}: a code comes with the unchanged state and the issuer`, async () => {
      const answer = received(
        await visit(browser, org, { more: { response_mode: mode, state: stateFor(mode) } }),
        mode,
      );
      assert.match(answer.code ?? "", /^sgn_ac_[A-Za-z0-9_-]{43}$/);
      assert.deepEqual(answer, { code: answer.code, state: stateFor(mode), iss: org.issuer });
    });

    test(`${mode}: an error uses the same response mode, with and without prompt=none`, async () => {
      for (const more of [{ prompt: "none" }, { scope: "nonsense" }]) {
        const asked = { more: { ...more, response_mode: mode, state: stateFor(mode) } };
        const answer = received(await visit(testBrowser(), org, asked), mode);
        assert.deepEqual(Object.keys(answer).sort(), ["error", "error_description", "iss", "state"]);
        assert.equal(answer.error, "prompt" in more ? "login_required" : "invalid_scope");
        assert.equal(answer.iss, org.issuer);
        assert.equal(answer.state, stateFor(mode));
      }
    });

    test(`${mode}: a request without state has none in the response`, async () => {
      const answer = received(
        await visit(browser, org, { more: { response_mode: mode, state: undefined } }),
        mode,
      );
      assert.deepEqual(Object.keys(answer), ["code", "iss"]);
    });
  }

  test("the redirect URI's query is kept, and the response is added to it", async () => {
    const redirectUri = "https://app.example/callback?tenant=a%2Fb&x";
    const made = await makeClient(running.service, org.organisation, {
      redirectUris: [redirectUri],
      requireConsent: false,
    });
    const page = await visit(browser, org, { clientId: made.application.id, redirectUri });
    assert.ok(page.location?.startsWith(`${redirectUri}&code=sgn_ac_`), String(page.location));
  });

  test("the form_post page may submit to the client and its redirects, and is not cached", async () => {
    const page = await visit(browser, org, { more: { response_mode: "form_post" } });
    const policy = page.headers.get("content-security-policy") ?? "";
    assert.ok(!policy.includes("form-action"), policy);
    assert.equal(/<form[^>]* action="([^"]*)"/.exec(page.body)?.[1], "https://app.example/callback");
    assert.doesNotMatch(policy, /unsafe/);
    assert.equal(page.headers.get("cache-control"), "no-store");
    assert.doesNotMatch(page.body, /<script(?! src="\/assets\/)/);
  });

  test("a response to a POST redirects with 303, so that the password is not resent", async () => {
    const other = testBrowser();
    const login = await other.get(`${org.issuer}/authorize?${requestQuery(org)}`);
    const { email, password } = org.user;
    const sent = await other.post(`${org.issuer}/login`, { ...login.hidden, email, password });
    assert.equal(sent.status, 303);
    assert.equal(sent.headers.get("cache-control"), "no-store");
    const answer = await other.get(sent.location ?? "");
    assert.equal(answer.status, 302);
    assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
    const asked = { more: { prompt: "consent" } };
    const consent = await visit(other, org, asked);
    assert.equal(
      (await other.post(`${org.issuer}/authorize`, { ...consent.hidden, decision: "allow" })).status,
      303,
    );
    assert.equal(
      (await other.post(`${org.issuer}/authorize`, { ...consent.hidden, decision: "deny" })).status,
      303,
    );
  });

  test("a code of every response mode is redeemed", async () => {
    const asked = { response_mode: "form_post" };
    const { query, verifier } = authorizationRequest(org.web.application.id, REDIRECT_URI, asked);
    const page = await browser.get(`${org.issuer}/authorize?${query}`);
    const answer = await postForm(`${org.issuer}/token`, {
      grant_type: "authorization_code",
      code: page.hidden.code ?? "",
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
      client_id: org.web.application.id,
      client_secret: org.web.secret,
    });
    assert.equal(answer.status, 200);
  });
});
