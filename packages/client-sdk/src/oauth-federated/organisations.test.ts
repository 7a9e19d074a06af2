/** A web application of several organisations: the common entry finds the organisation, and the session stays with it. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { sha256Base64url } from "../base64url.ts";
import type { AcceptedOrganisations } from "../configuration/settings.ts";
import {
  APP,
  type FederatedFixture,
  federatedFixture,
  NAVIGATION,
  principalIn,
  refusedWith,
  type TestBrowser,
} from "../testing/federated-fixture.ts";
import {
  addSecondOrganisation,
  FIRST,
  SECOND,
  SECOND_ISSUER,
  SERVER,
} from "../testing/second-organisation.ts";
import type { TestKey } from "../testing/signed-token.ts";
import { CLIENT_ID, ISSUER, PERM_ID } from "../testing/test-provider.ts";

const THIRD = "0197aaaa-0000-7000-8000-000000000003";

interface Shared extends FederatedFixture {
  readonly key: TestKey;
  /** Forms that reached the second organisation's token endpoint. */
  readonly tokenRequests: URLSearchParams[];
}

async function shared(organisations: AcceptedOrganisations, options = {}): Promise<Shared> {
  const one = { issuer: undefined, oauthClientId: undefined };
  const fixture = await federatedFixture(
    { ...one, federationServer: SERVER, clientId: CLIENT_ID, organisations },
    options,
  );
  const { provider } = fixture;
  const key = await addSecondOrganisation(provider);
  const tokenRequests: URLSearchParams[] = [];
  provider.answers.set(`${SECOND_ISSUER}/token`, async (request) => {
    const form = new URLSearchParams(await request.text());
    tokenRequests.push(form);
    const { nonce, challenge } = JSON.parse(atob(form.get("code") ?? "e30=")) as Record<string, string>;
    if (challenge !== undefined && challenge !== (await sha256Base64url(form.get("code_verifier") ?? "")))
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    const claims = { iss: SECOND_ISSUER, nonce, ...fixture.idTokenChanges.claims };
    const id_token = await provider.idToken({ key, ...fixture.idTokenChanges, claims });
    const members = {
      token_type: "Bearer",
      expires_in: 3600,
      refresh_token: `rt-${tokenRequests.length}`,
      id_token,
    };
    return Response.json({ access_token: `at-${tokenRequests.length}`, ...members });
  });
  return Object.assign(fixture, { key, tokenRequests });
}

/** Through the common entry, which has found the second organisation. */
async function signInAtSecond(browser: TestBrowser, path = "/", changes = {}) {
  const { location } = await browser.go(path);
  assert.ok(location);
  return browser.go(browser.answerTo(location, { iss: SECOND_ISSUER, ...changes }));
}

test("a sign-in begins at the common entry, and goes on at the issuer of its response", async () => {
  const { browser: open, provider, tokenRequests } = await shared("any");
  const browser = open();
  const { location } = await browser.go("/orders");
  assert.equal(`${location?.origin}${location?.pathname}`, `${SERVER}/oauth/common/authorize`);
  assert.equal(location?.searchParams.get("organisation"), null);
  assert.deepEqual(provider.calls, [], "nothing is fetched before an organisation is known");
  const back = await browser.go(browser.answerTo(location ?? new URL(SERVER), { iss: SECOND_ISSUER }));
  assert.equal(back.location?.pathname, "/orders");
  assert.equal(tokenRequests[0]?.get("grant_type"), "authorization_code");
  const principal = principalIn(await browser.go("/"));
  assert.deepEqual(
    [principal.organisationId, principal.user?.organisationId, principal.claims["iss"], principal.sub],
    [SECOND, SECOND, SECOND_ISSUER, PERM_ID],
  );
});

test("neither userinfo nor a claim of the ID token moves a user to another organisation", async () => {
  const fixture = await shared("any");
  Object.assign(fixture.provider.userinfo, { org_id: FIRST });
  fixture.idTokenChanges = { claims: { org_id: FIRST } };
  const browser = fixture.browser();
  await signInAtSecond(browser);
  const { organisationId, user } = principalIn(await browser.go("/"));
  assert.deepEqual([organisationId, user?.organisationId], [SECOND, SECOND]);
});

test("a session is renewed and ended at its own organisation", async () => {
  const fixture = await shared("any");
  const browser = fixture.browser();
  await signInAtSecond(browser);
  fixture.provider.advance(3_590);
  assert.equal(principalIn(await browser.go("/")).organisationId, SECOND);
  assert.equal(fixture.tokenRequests[1]?.get("grant_type"), "refresh_token");
  const out = await browser.send("/signet/logout", {
    method: "POST",
    headers: { ...NAVIGATION, "sec-fetch-site": "same-origin", origin: APP },
  });
  assert.equal(`${out.location?.origin}${out.location?.pathname}`, `${SECOND_ISSUER}/end_session`);
});

test("a renewal that another organisation's keys have signed ends the session", async () => {
  const fixture = await shared("any");
  const browser = fixture.browser();
  await signInAtSecond(browser);
  fixture.idTokenChanges = { key: fixture.provider.key, claims: { iss: ISSUER } };
  fixture.provider.advance(3_590);
  assert.equal((await browser.go("/")).status, 302);
});

test("the switcher's link asks for one organisation, and no other may answer", async () => {
  const fixture = await shared("any");
  const browser = fixture.browser();
  await signInAtSecond(browser);
  const to = (id: string) => browser.go(`/signet/login?return_to=/a&organisation=${id}`);
  const { location } = await to(FIRST.toUpperCase());
  assert.equal(location?.searchParams.get("organisation"), FIRST);
  refusedWith(
    await browser.go(browser.answerTo(location ?? new URL(SERVER), { iss: SECOND_ISSUER })),
    "provider_answer",
  );
  const again = (await to(FIRST)).location ?? new URL(SERVER);
  assert.equal((await browser.go(browser.answerTo(again))).location?.pathname, "/a");
  assert.equal(principalIn(await browser.go("/")).organisationId, FIRST, "the session is the other one now");
  refusedWith(await to("acme"), "request_malformed");
});

test("an organisation that is not listed is refused, in a sentence that names the setting", async () => {
  const fixture = await shared([FIRST, THIRD]);
  const browser = fixture.browser();
  const refusal = await signInAtSecond(browser);
  assert.equal(refusal.status, 403);
  assert.match(
    refusedWith(refusal, "token_organisation").message,
    new RegExp(`${SECOND} is not among organisations \\(SIGNET_ORGANISATIONS\\)`),
  );
  assert.ok(!refusal.body.includes(SECOND) && !refusal.body.includes("SIGNET_"), "users read no settings");
  assert.deepEqual([...browser.cookies.keys()], []);
  assert.deepEqual(fixture.tokenRequests, [], "the code is not redeemed");
  refusedWith(await browser.go(`/signet/login?organisation=${SECOND}`), "token_organisation");
});

test("the only listed organisation is asked for at once", async () => {
  const { browser } = await shared([FIRST]);
  assert.equal((await browser().go("/")).location?.searchParams.get("organisation"), FIRST);
});

test("sessions of an organisation that is no longer accepted end; while that is unknown, nobody is let in or signed out", async () => {
  let accepts = () => true;
  const fixture = await shared(async () => accepts());
  const browser = fixture.browser();
  await signInAtSecond(browser);
  principalIn(await browser.go("/"));
  accepts = () => {
    throw new Error("database away");
  };
  assert.equal((await browser.go("/")).status, 503);
  accepts = () => true;
  principalIn(await browser.go("/"));
  accepts = () => false;
  assert.equal((await browser.go("/")).status, 302);
});

describe("the response of a sign-in is refused whose issuer", () => {
  for (const iss of [
    undefined,
    `https://evil.example/oauth/${SECOND}`,
    `${SERVER}/oauth/common`,
    `${SERVER}/oauth/${SECOND}/`,
    `${SECOND_ISSUER}/sovereign/pools/${FIRST}`,
  ])
    test(`is ${iss}`, async () => {
      const fixture = await shared("any");
      refusedWith(await signInAtSecond(fixture.browser(), "/", { iss }), "provider_answer");
      assert.deepEqual(fixture.provider.calls, [], "nothing is fetched");
    });
});

test("an ID token of another organisation signs nobody in, whoever has signed it", async () => {
  const fixture = await shared("any");
  fixture.idTokenChanges = { claims: { iss: ISSUER } };
  refusedWith(await signInAtSecond(fixture.browser()), "token_issuer");
  fixture.idTokenChanges = { key: fixture.provider.key };
  refusedWith(await signInAtSecond(fixture.browser()), "token_signature");
});

test("a logout token ends sessions of its own issuer alone", async () => {
  const fixture = await shared("any");
  const { provider, key } = fixture;
  const [first, second] = [fixture.browser(), fixture.browser()];
  await first.signIn();
  await signInAtSecond(second);
  const tell = async (token: string) =>
    (
      await fixture.browser().send("/signet/back-channel-logout", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ logout_token: token }).toString(),
      })
    ).status;
  assert.equal(
    await tell(await provider.logoutToken({ claims: { iss: SECOND_ISSUER } })),
    400,
    "the first's key",
  );
  assert.equal(await tell(await provider.logoutToken({ key, claims: { iss: "https://evil.example" } })), 400);
  principalIn(await second.go("/"));
  // The same user and session id at both.
  assert.equal(await tell(await provider.logoutToken({ key, claims: { iss: SECOND_ISSUER } })), 200);
  assert.equal((await second.go("/")).status, 302);
  assert.equal(principalIn(await first.go("/")).organisationId, FIRST);
});

test("who switches organisations leaves nothing of the session before", async () => {
  const fixture = await shared("any");
  const browser = fixture.browser();
  await signInAtSecond(browser);
  const copied = fixture.browser();
  for (const [name, value] of browser.cookies) copied.cookies.set(name, value);
  const { location } = await browser.go(`/signet/login?organisation=${FIRST}`);
  await browser.go(browser.answerTo(location ?? new URL(SERVER)));
  assert.equal((await copied.go("/")).status, 302, "the cookie of the session before is no longer one");
});
