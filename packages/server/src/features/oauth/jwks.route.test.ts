import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SigningAlg } from "@signet/protocol/jose/jws";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { MAX_TOKEN_LIFETIME_MS, PUBLISH_AHEAD_MS } from "../../core/signing-keys/signing-key.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { codeSource } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { credentials, postForm } from "../../testing/fixtures/client.ts";
import { headerOf, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  let made = 0;
  const newOrganisation = async () => {
    org = await makeOrganisation(running.service, `Org${made++}`);
    return `${org.issuer}/.well-known/jwks.json`;
  };
  const kids = async (url: string) => {
    const { body } = await sendRaw(url, {});
    return (body["keys"] as { kid: string }[]).map(({ kid }) => kid);
  };
  const token = async () => {
    const form = { grant_type: "client_credentials", ...credentials(org.batch) };
    const { status, body } = await postForm(`${org.issuer}/token`, form);
    assert.equal(status, 200);
    return String(body["access_token"]);
  };
  const isActive = async (accessToken: string) => {
    const form = { token: accessToken, ...credentials(org.batch) };
    return (await postForm(`${org.issuer}/introspect`, form)).body["active"];
  };
  const rotate = (compromised: boolean, alg: SigningAlg = "ES256") =>
    running.service.keys.rotate(org.organisation.id, alg, { actor: "test", compromised });

  test("publishes ES256 and RS256 keys with public members only, each with its own kid", async () => {
    const url = await newOrganisation();
    const { status, body, headers } = await sendRaw(url, {});
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/(jwk-set\+)?json/);
    assert.equal(headers.get("access-control-allow-origin"), "*");
    assert.equal(headers.get("cache-control"), "public, max-age=300");
    assert.deepEqual(Object.keys(body), ["keys"]);
    const keys = body["keys"] as Record<string, string>[];
    const members = { ES256: ["crv", "x", "y"], RS256: ["e", "n"] } as Record<string, string[]>;
    assert.deepEqual(keys.map(({ alg }) => alg).sort(), Object.keys(members));
    for (const key of keys) {
      const expected = ["alg", "kid", "kty", "use", ...(members[key["alg"] ?? ""] ?? [])].sort();
      assert.deepEqual(Object.keys(key).sort(), expected);
      assert.equal(key["use"], "sig");
    }
    assert.equal(new Set(keys.map(({ kid }) => kid)).size, keys.length);
    const other = await kids(await newOrganisation());
    assert.ok(!other.some((kid) => keys.some((key) => key["kid"] === kid)), "no two organisations share one");
  });

  test("publishes keys with which another library verifies tokens of all four algorithms", async () => {
    const url = await newOrganisation();
    const source = codeSource(org);
    for (const alg of ["ES256", "RS256", "PS256", "EdDSA"] as const) {
      const client = await makeClient(running.service, org.organisation, {
        redirectUris: [REDIRECT_URI],
        requireConsent: false,
        idTokenSignedResponseAlg: alg,
        accessTokenSignedResponseAlg: alg,
      });
      const { accessToken, idToken } = await source.tokens({}, client);
      const { body } = await sendRaw(url, {});
      const keys = createLocalJWKSet(body as unknown as JSONWebKeySet);
      const currentDate = new Date(clock());
      const id = await jwtVerify(idToken, keys, {
        issuer: org.issuer,
        audience: client.application.id,
        algorithms: [alg],
        typ: "JWT",
        currentDate,
      });
      assert.equal(id.payload.sub, org.user.id);
      await jwtVerify(accessToken, keys, {
        issuer: org.issuer,
        audience: org.issuer,
        algorithms: [alg],
        typ: "at+jwt",
        currentDate,
      });
    }
  });

  test("publishes a new key before it signs, and the old key until its last token has expired", async () => {
    const url = await newOrganisation();
    const [before] = [await kids(url)];
    const early = await token();
    const old = String(headerOf(early)["kid"]);
    const next = await rotate(false);
    assert.deepEqual((await kids(url)).sort(), [...before, next.kid].sort(), "both are published");
    assert.equal(headerOf(await token())["kid"], old, "the old one still signs");
    clock.advance(PUBLISH_AHEAD_MS - 1);
    assert.equal(headerOf(await token())["kid"], old);
    const last = await token();
    clock.advance(1);
    assert.equal(headerOf(await token())["kid"], next.kid);
    assert.equal(await isActive(last), true, "what the old one signed is still good");
    clock.advance(MAX_TOKEN_LIFETIME_MS - 1);
    assert.ok((await kids(url)).includes(old));
    clock.advance(1);
    const left = await kids(url);
    assert.ok(!left.includes(old) && left.includes(next.kid));
    assert.equal(left.length, before.length);
  });

  test("removes a compromised key immediately, and rejects its tokens though they were verified before", async () => {
    const url = await newOrganisation();
    const stolen = await token();
    assert.equal(await isActive(stolen), true);
    const before = await kids(url);
    const next = await rotate(true);
    const now = await kids(url);
    assert.ok(!now.includes(String(headerOf(stolen)["kid"])) && now.includes(next.kid));
    assert.equal(now.length, before.length);
    assert.equal(await isActive(stolen), false);
    const renewed = await token();
    assert.equal(headerOf(renewed)["kid"], next.kid);
    assert.equal(await isActive(renewed), true);
  });

  test("removes the old and the next key when compromised during a rotation", async () => {
    const url = await newOrganisation();
    const first = String(headerOf(await token())["kid"]);
    const second = (await rotate(false)).kid;
    const third = (await rotate(true)).kid;
    const now = await kids(url);
    assert.ok(!now.includes(first) && !now.includes(second) && now.includes(third));
    assert.equal(headerOf(await token())["kid"], third);
  });

  test("rotates one algorithm without touching the others", async () => {
    const url = await newOrganisation();
    const before = await kids(url);
    const next = await rotate(true, "RS256");
    const now = await kids(url);
    assert.equal(now.filter((kid) => before.includes(kid)).length, 1);
    assert.ok(now.includes(next.kid));
  });
});
