/** ID and logout tokens are accepted with the registered algorithm only (OpenID Connect Core §3.1.3.7 step 7). */
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkConfiguration } from "../configuration/check-configuration.ts";
import { federated } from "../testing/configurations.ts";
import { APP, federatedFixture, NAVIGATION, principalIn, refusedWith } from "../testing/federated-fixture.ts";
import { testKey } from "../testing/signed-token.ts";

const rsa = await testKey("rsa-1", "RS256");

async function fixtureWith(changes: { oauthIdTokenAlg?: string }) {
  const fixture = await federatedFixture(changes);
  fixture.provider.keys.push(rsa.jwk);
  return fixture;
}
const byRsa = { key: rsa, header: { alg: "RS256", kid: "rsa-1" } };

test("the default is what registrations default to: ES256 at Signet, RS256 at other providers", () => {
  const algOf = (changes: object) => checkConfiguration({ ...federated, ...changes }).idTokenAlg;
  assert.equal(algOf({}), "ES256");
  assert.equal(algOf({ oauthIdTokenAlg: "PS256" }), "PS256");
  const { federationServer, oauthOrganisationId, ...rest } = federated;
  const atIssuer = (issuer: string) =>
    checkConfiguration({ ...rest, issuer, oauthClientId: "app" }).idTokenAlg;
  assert.equal(atIssuer(`${federationServer}/oauth/${oauthOrganisationId}`), "ES256");
  assert.equal(atIssuer("https://accounts.example"), "RS256");
  assert.equal(algOf({ sovereignKeyThumbprints: ["a".repeat(43)] }), undefined, "agents' keys decide");
});

test("an ID token with another algorithm signs nobody in, and keeps nobody signed in", async () => {
  for (const oauthIdTokenAlg of [undefined, "RS256"]) {
    const fixture = await fixtureWith(oauthIdTokenAlg === undefined ? {} : { oauthIdTokenAlg });
    const [right, wrong] = oauthIdTokenAlg === undefined ? [{}, byRsa] : [byRsa, {}];
    fixture.idTokenChanges = wrong;
    const error = refusedWith(await fixture.browser().signIn(), "token_algorithm");
    assert.match(String(error.cause), /oauthIdTokenAlg \(SIGNET_OAUTH_ID_TOKEN_ALG\)/);
    fixture.idTokenChanges = right;
    const browser = fixture.browser();
    await browser.signIn();
    principalIn(await browser.go("/"));
    fixture.idTokenChanges = wrong;
    fixture.provider.advance(3590);
    assert.equal((await browser.go("/")).status, 302);
  }
});

test("sessions with ML-DSA for both tokens fit in cookies, and end with a question at the provider", async () => {
  for (const alg of ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"]) {
    const key = await testKey("lattice", alg);
    const fixture = await federatedFixture({ oauthIdTokenAlg: alg });
    fixture.provider.keys.push(key.jwk);
    const signed = { key, header: { alg, kid: "lattice" } };
    fixture.idTokenChanges = signed;
    fixture.tokenChanges = { access_token: await fixture.provider.accessToken(signed) };
    const browser = fixture.browser();
    await browser.signIn();
    assert.equal(principalIn(await browser.go("/")).user?.email, "ada@example.com", alg);
    fixture.provider.advance(3590);
    assert.equal(principalIn(await browser.go("/")).claims["sid"], "session-1", "refreshed");
    const { location } = await browser.send("/signet/logout", {
      method: "POST",
      headers: { ...NAVIGATION, "sec-fetch-site": "same-origin", origin: APP },
    });
    assert.equal(location?.searchParams.has("id_token_hint"), false);
    assert.ok(location?.searchParams.get("client_id"));
  }
});

test("a session keeps an ID token of ML-DSA whole beside a short access token: it is the hint", async () => {
  const key = await testKey("lattice", "ML-DSA-65");
  const fixture = await federatedFixture({ oauthIdTokenAlg: "ML-DSA-65" });
  fixture.provider.keys.push(key.jwk);
  fixture.idTokenChanges = { key, header: { alg: "ML-DSA-65", kid: "lattice" } };
  const browser = fixture.browser();
  await browser.signIn();
  const { location } = await browser.send("/signet/logout", {
    method: "POST",
    headers: { ...NAVIGATION, "sec-fetch-site": "same-origin", origin: APP },
  });
  assert.equal(location?.searchParams.get("id_token_hint")?.split(".")[2]?.length, 4_412);
});

test("a logout token with another algorithm signs nobody out", async () => {
  const fixture = await fixtureWith({});
  const browser = fixture.browser();
  await browser.signIn();
  const logout = async (token: string) =>
    (
      await fixture.browser().send("/signet/back-channel-logout", {
        method: "POST",
        body: new URLSearchParams({ logout_token: token }),
      })
    ).status;
  assert.equal(await logout(await fixture.provider.logoutToken(byRsa)), 400);
  principalIn(await browser.go("/"));
  assert.equal(await logout(await fixture.provider.logoutToken()), 200);
  assert.equal((await browser.go("/")).status, 302);
});
