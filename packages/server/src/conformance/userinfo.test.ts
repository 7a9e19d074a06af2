/** OpenID conformance: userinfo. All behaviours: docs/openid-behaviours.md. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { authorizationRequest, testBrowser } from "../testing/fakes/browser.ts";
import { codeSource } from "../testing/fakes/code-source.ts";
import { forEachProvider } from "../testing/fakes/provider.ts";
import { redeem } from "../testing/fixtures/client.ts";
import { fullAddress, fullProfileClaims, giveFullProfile } from "../testing/fixtures/full-profile.ts";
import { answerOf, decide, follow, logIn, showsConsent, visit, withUser } from "../testing/fixtures/visit.ts";
import { payloadOf, sendRaw } from "../testing/probes/answers.ts";
import { makeClient, REDIRECT_URI } from "../testing/test-service.ts";

forEachProvider((provider) => {
  const url = () => `${provider().org.issuer}/userinfo`;
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const ways: Record<string, (token: string) => RequestInit> = {
    "GET with a bearer header": (token) => ({ headers: bearer(token) }),
    "POST with a bearer header": (token) => ({ method: "POST", headers: bearer(token) }),
    "POST with the token in the form": (token) => ({
      method: "POST",
      body: new URLSearchParams({ access_token: token }),
    }),
  };

  for (const [way, request] of Object.entries(ways))
    test(`${way}: JSON with the sub of the ID token and a boolean email_verified, nothing null or empty`, async () => {
      const { running, org } = provider();
      const email = `${way.length}@acme.example`;
      const scope = "openid profile email phone";
      const { accessToken, idToken } = await codeSource(await withUser(running.service, org, email)).tokens({
        scope,
      });
      const { status, headers, body } = await sendRaw(url(), request(accessToken));
      assert.equal(status, 200);
      assert.match(headers.get("content-type") ?? "", /^application\/json/);
      assert.equal(body["sub"], payloadOf(idToken)["sub"]);
      assert.equal(body["email_verified"], true);
      for (const [name, value] of Object.entries(body)) assert.ok(value !== null && value !== "", name);
      assert.ok(!("phone_number" in body), "this user has none");
    });

  test("each standard scope gives all its claims (OpenID Connect Core §5.4), and none without a value", async () => {
    const { running, org } = provider();
    const full = await withUser(running.service, org, "full@acme.example");
    await giveFullProfile(running.service, full);
    const bare = await withUser(running.service, org, "bare@acme.example");
    const userinfo = async (at: typeof org, scope: string) => {
      const settings = { redirectUris: [REDIRECT_URI], allowedScopes: scope.split(" ") };
      const client = await makeClient(running.service, org.organisation, settings);
      const { accessToken } = await codeSource(at).tokens({ scope }, client);
      return (await sendRaw(url(), { headers: bearer(accessToken) })).body;
    };
    const { updated_at: updatedAt, ...profile } = await userinfo(full, "openid profile");
    assert.ok(
      Number.isInteger(updatedAt) && Math.abs(Number(updatedAt) * 1_000 - provider().clock()) < 1_000,
    );
    const identity = { sub: full.user.id, preferred_username: "full@acme.example" };
    for (const [name, value] of Object.entries({ ...identity, ...fullProfileClaims }))
      assert.equal(profile[name], value, name);
    const { sub: _, ...rest } = await userinfo(full, "openid phone address");
    assert.deepEqual(rest, {
      phone_number: "+4512345678",
      phone_number_verified: false,
      address: fullAddress,
    });
    assert.deepEqual(await userinfo(bare, "openid phone address"), { sub: bare.user.id });
    const all = await userinfo(full, "openid profile email phone address");
    assert.deepEqual(all, {
      ...(await userinfo(full, "openid profile")),
      ...rest,
      ...(await userinfo(full, "openid email")),
    });
  });

  test("userinfo returns an essential name claim without the profile scope once consent covers it", async () => {
    const { running, org } = provider();
    const otto = await withUser(running.service, org, "otto@acme.example");
    const browser = testBrowser();
    await logIn(browser, otto, await visit(browser, otto));
    const more = { scope: "openid", claims: '{"userinfo":{"name":{"essential":true}}}' };
    const silent = await visit(browser, otto, { more: { ...more, prompt: "none" } });
    assert.equal(answerOf(silent).get("error"), "consent_required");
    const { query, verifier } = authorizationRequest(otto.web.application.id, REDIRECT_URI, more);
    const page = await follow(browser, await browser.get(`${otto.issuer}/authorize?${query}`));
    assert.ok(showsConsent(page) && page.body.includes('data-scope="profile"'));
    const code = answerOf(await decide(browser, otto, page)).get("code") ?? "";
    const { body } = await redeem(otto, { code, verifier });
    assert.equal(body["scope"], "openid");
    const answer = await sendRaw(url(), { headers: bearer(String(body["access_token"])) });
    assert.deepEqual(answer.body, { sub: otto.user.id, name: "Otto Other" });
  });

  test("redirects a malformed claims parameter with invalid_request", async () => {
    const { org } = provider();
    for (const claims of ["name", "[]", '{"userinfo":[]}', '{"userinfo":{"name":"x"}}']) {
      const page = await visit(testBrowser(), org, { more: { claims } });
      assert.ok(page.location?.startsWith(REDIRECT_URI), claims);
      assert.equal(answerOf(page).get("error"), "invalid_request", claims);
    }
  });
});
