/** Tokens that the organisation's own agents sign: what the service could say by itself signs nobody in, and keeps nobody so. */
import assert from "node:assert/strict";
import { createPublicKey, type KeyObject, sign as signBytes } from "node:crypto";
import { test } from "node:test";
import { newEcKey, testCertificate } from "@signet/protocol/testing/test-certificate";
import { calculateJwkThumbprint } from "jose";
import type { SignetErrorCode } from "../errors.ts";
import { federatedFixture, principalIn, refusedWith } from "../testing/federated-fixture.ts";
import { signedToken, type TestKey, testKey } from "../testing/signed-token.ts";
import { CLIENT_ID, ISSUER, PERM_ID, START_MS } from "../testing/test-provider.ts";

const validity = { validFrom: new Date(START_MS - 3_600_000), validTo: new Date(START_MS + 86_400_000) };
const root = testCertificate({ subject: "Root", isCa: true, ...validity });
const POOL = "0197aaaa-0000-7000-8000-0000000000b1";

async function pinnedFixture(changes = {}) {
  const agent = await testKey("agent-1");
  const fixture = await federatedFixture({ sovereignPublicKeys: [agent.jwk], ...changes });
  fixture.idTokenChanges = { key: agent, header: { kid: "agent-1" } };
  return { fixture, agent };
}

test("only the pinned key signs users in, whatever keys the service publishes", async () => {
  const { fixture } = await pinnedFixture();
  const browser = fixture.browser();
  await browser.signIn();
  principalIn(await browser.go("/"));
  fixture.idTokenChanges = {};
  const answer = await fixture.browser().signIn();
  assert.ok(
    ["token_key_unknown", "token_key_untrusted"].includes(codeOf(answer.result)),
    codeOf(answer.result),
  );
});

test("with a pool, responses and ID tokens name the pool's issuer", async () => {
  const { fixture, agent } = await pinnedFixture({ sovereignSigningPoolId: POOL });
  const issuer = `${ISSUER}/sovereign/pools/${POOL}`;
  const metadata = { ...fixture.provider.metadata, issuer };
  fixture.provider.answers.set(`/sovereign/pools/${POOL}/.well-known/openid-configuration`, () =>
    Response.json(metadata),
  );
  const sign = async (iss: string, claims: Record<string, unknown>) => {
    const browser = fixture.browser();
    const { location } = await browser.go("/");
    fixture.idTokenChanges = { key: agent, header: { kid: "agent-1" }, claims };
    return browser.go(browser.answerTo(new URL(location ?? ""), { iss }));
  };
  assert.equal((await sign(issuer, { iss: issuer })).status, 302);
  refusedWith(await sign(ISSUER, { iss: issuer }), "provider_answer");
  refusedWith(await sign(issuer, {}), "token_issuer");
});

test("a refresh without an agent's signature ends the session", async () => {
  for (const idToken of [async () => undefined, (own: () => Promise<string>) => own()]) {
    const { fixture } = await pinnedFixture();
    const browser = fixture.browser();
    await browser.signIn();
    fixture.onRefresh = async () =>
      Response.json({
        access_token: "at",
        token_type: "Bearer",
        expires_in: 3600,
        refresh_token: "rt-2",
        id_token: await idToken(() => fixture.provider.idToken()),
      });
    fixture.provider.advance(3590);
    assert.equal((await browser.go("/")).status, 302);
    assert.ok(!browser.cookies.has("__Host-signet-session"));
  }
});

test("a session without agents' signatures ends when the application pins their keys, and the reverse", async () => {
  const before = await federatedFixture();
  before.idTokenChanges = { claims: { role: "Administrator" } };
  const browser = before.browser();
  await browser.signIn();
  assert.equal(principalIn(await browser.go("/")).user?.role, "Administrator");
  const { fixture } = await pinnedFixture();
  const moved = fixture.browser();
  for (const [name, value] of browser.cookies) moved.cookies.set(name, value);
  assert.equal((await moved.go("/")).status, 302);
  await moved.signIn();
  principalIn(await moved.go("/"));
  for (const [name, value] of moved.cookies) browser.cookies.set(name, value);
  assert.equal((await browser.go("/")).status, 302);
});

test("expires_in, which nobody signs, keeps nobody signed in after the signed tokens have expired", async () => {
  for (const hasRefreshToken of [true, false]) {
    const { fixture } = await pinnedFixture();
    fixture.tokenChanges = { expires_in: 86_400, ...(hasRefreshToken ? {} : { refresh_token: undefined }) };
    const browser = fixture.browser();
    await browser.signIn();
    fixture.onRefresh = async () => Response.json({ error: "temporarily_unavailable" }, { status: 503 });
    fixture.provider.advance(3599);
    principalIn(await browser.go("/"));
    fixture.provider.advance(10);
    assert.notEqual((await browser.go("/")).result.kind, "authenticated");
  }
});

test("the scopes of an access token end with it", async () => {
  const { fixture, agent } = await pinnedFixture();
  const { provider } = fixture;
  const exp = provider.clock() / 1000 + 600;
  const accessToken = () =>
    provider.accessToken({ key: agent, header: { kid: "agent-1" }, claims: { scope: "openid notes", exp } });
  fixture.tokenChanges = { access_token: await accessToken() };
  const browser = fixture.browser();
  await browser.signIn();
  assert.ok(principalIn(await browser.go("/")).scopes.has("notes"));
  provider.advance(700);
  assert.deepEqual([...principalIn(await browser.go("/")).scopes], []);
});

/** What a service that lies says beside the signed tokens. */
const lies = {
  sub: PERM_ID,
  email: "mallory@evil.example",
  role: "Administrator",
  org_id: "another",
  family_name: "M",
};

const pinModes = {
  "public keys": ({ jwk }: TestKey) => ({ sovereignPublicKeys: [jwk] }),
  thumbprints: async ({ jwk }: TestKey) => ({
    sovereignKeyThumbprints: [await calculateJwkThumbprint(jwk)],
  }),
  "a pool alone": () => ({ sovereignSigningPoolId: POOL, environment: "development" as const }),
  "trusted roots": () => ({ sovereignSigningPoolId: POOL, sovereignTrustedRootCertificates: [root.pem] }),
};

for (const [mode, pinsOf] of Object.entries(pinModes))
  test(`${mode}: who a user is, roles, organisation and scopes come from signed tokens alone`, async () => {
    const agentPrivateKey = newEcKey();
    const agent = await importedKey("agent-1", agentPrivateKey);
    const pins = await pinsOf(agent);
    const hasPool = "sovereignSigningPoolId" in pins;
    const iss = hasPool ? `${ISSUER}/sovereign/pools/${POOL}` : ISSUER;
    const fixture = await federatedFixture(pins);
    const { provider } = fixture;
    const x5c = testCertificate({
      subject: "Agent",
      issuer: root,
      privateKey: agentPrivateKey,
      uris: [iss],
      ...validity,
    }).x5c;
    const published = () => Response.json({ keys: [{ ...agent.jwk, x5c: [x5c] }] });
    provider.answers.set(`/sovereign/pools/${POOL}/jwks.json`, published);
    provider.keys.push(agent.jwk);
    provider.answers.set(`/sovereign/pools/${POOL}/.well-known/openid-configuration`, () =>
      Response.json({ ...provider.metadata, issuer: iss }),
    );
    Object.assign(provider.userinfo, lies);
    const signedByAgent = { key: agent, header: { kid: "agent-1" } };
    fixture.idTokenChanges = {
      ...signedByAgent,
      claims: { iss, email: "ada@example.com", given_name: "Ada" },
    };
    const accessToken = (claims = {}) =>
      provider.accessToken({ ...signedByAgent, claims: { iss, groups: ["staff"], ...claims } });
    fixture.tokenChanges = { scope: "openid notes admin", access_token: await accessToken() };
    const browser = fixture.browser();
    const { location } = await browser.go("/");
    await browser.go(browser.answerTo(new URL(location ?? ""), { iss }));
    const check = async (scopes: readonly string[]) => {
      const principal = principalIn(await browser.go("/"));
      assert.deepEqual(principal.user, {
        permId: PERM_ID,
        email: "ada@example.com",
        firstname: "Ada",
        organisationId: ISSUER.slice(-36),
      });
      assert.deepEqual([...principal.scopes], scopes);
      assert.deepEqual(principal.claims["groups"], scopes.length > 0 ? ["staff"] : undefined);
      assert.equal(principal.claims["role"], undefined);
      assert.equal(
        principal.claims["client_id"],
        undefined,
        "the access token's own members are not the user's",
      );
      assert.equal(principal.unsignedUserinfo?.["role"], "Administrator");
      assert.deepEqual([...(principal.unsignedScopes ?? [])], ["openid", "notes", "admin"]);
    };
    await check(["openid", "notes"]);
    // A refresh that brings another user's, another application's, the service's own, or no access token.
    for (const other of [
      () => accessToken({ sub: "0197aaaa-0000-4000-8000-0000000000f2" }),
      () => accessToken({ client_id: "another" }),
      () => provider.accessToken({ claims: { iss, scope: "openid admin" } }),
      () => provider.accessToken({ key: agent, header: { kid: "agent-1", typ: "JWT" }, claims: { iss } }),
      () => "opaque",
    ]) {
      provider.advance(3590);
      // Made now: an expired one would be refused for that.
      fixture.tokenChanges = { ...fixture.tokenChanges, access_token: await other() };
      await check([]);
    }
    fixture.tokenChanges = { ...fixture.tokenChanges, access_token: await accessToken() };
    provider.advance(3590);
    await check(["openid", "notes"]);
  });

test("userinfo that an agent has signed counts as signed, of this client, this user and this moment", async () => {
  const { fixture, agent } = await pinnedFixture();
  const { provider } = fixture;
  const iat = () => provider.clock() / 1000;
  const told = (claims = {}, header = {}, key = agent) => {
    const base = { iss: ISSUER, aud: CLIENT_ID, sub: PERM_ID, iat: iat(), email: "ada@example.com" };
    const by = { alg: key.alg, kid: "agent-1", typ: "JWT", ...header };
    return signedToken(key, by, { ...base, role: "Administrator", ...claims });
  };
  const answer = (jwt: string) =>
    provider.answers.set(
      "/userinfo",
      () => new Response(jwt, { headers: { "content-type": "application/jwt" } }),
    );
  const early = await told();
  answer(early);
  const browser = fixture.browser();
  await browser.signIn();
  const principal = principalIn(await browser.go("/"));
  assert.deepEqual([principal.user?.role, principal.user?.email], ["Administrator", "ada@example.com"]);
  assert.equal(principal.claims["role"], "Administrator");
  assert.deepEqual(principal.unsignedUserinfo, {});

  const refused: [SignetErrorCode, string][] = [
    ["token_signature", await told({}, {}, provider.key)],
    ["token_audience", await told({ aud: "another" })],
    ["token_issuer", await told({ iss: "https://another.example" })],
    ["token_claim_missing", await told({ iat: undefined })],
    ["token_expired", await told({ iat: iat() - 200 })],
    // What agents sign for the same client besides.
    ["token_type", await told({ exp: iat() + 300 })],
    ["token_subject", await told({ sub: "another" })],
  ];
  for (const [code, jwt] of refused) {
    answer(jwt);
    refusedWith(await fixture.browser().signIn(), code);
  }

  // A refresh at which the service keeps the new answer back, or brings the old one again, keeps no role.
  for (const late of [
    () => answer(early),
    () => provider.answers.set("/userinfo", () => new Response(null, { status: 503 })),
  ]) {
    answer(await told());
    const other = fixture.browser();
    await other.signIn();
    provider.advance(3590);
    late();
    const { user, unsignedUserinfo } = principalIn(await other.go("/"));
    assert.deepEqual([user?.role, unsignedUserinfo?.["role"]], [undefined, "Administrator"]);
  }
});

/** A provider's key made from a private key of node:crypto. */
async function importedKey(kid: string, privateKey: KeyObject): Promise<TestKey> {
  const jwk = { ...createPublicKey(privateKey).export({ format: "jwk" }), kid, alg: "ES256", use: "sig" };
  const sign = async (input: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(signBytes("sha256", input, { key: privateKey, dsaEncoding: "ieee-p1363" })).buffer;
  return { alg: "ES256", kid, jwk, sign };
}

const codeOf = (result: object): string => String((result as { error?: { code?: string } }).error?.code);
