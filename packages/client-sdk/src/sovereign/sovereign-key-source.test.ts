import assert from "node:assert/strict";
import { createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import { jwkThumbprint } from "@signet/protocol/jose/jwk";
import {
  newEcKey,
  type TestCertificate,
  type TestCertificateInput,
  testCertificate,
} from "@signet/protocol/testing/test-certificate";
import { calculateJwkThumbprint, exportJWK, type JWK } from "jose";
import type { SovereignSettings } from "../configuration/settings.ts";
import { SignetError, type SignetErrorCode } from "../errors.ts";
import { createSovereignKeySource, type SovereignKeySettings } from "./sovereign-key-source.ts";

const ISSUER = "https://id.example/oauth/org";
const POOL = `${ISSUER}/sovereign/pools/pool`;
const MINUTE_MS = 60_000;

const agentKey = newEcKey();
const rogueKey = newEcKey();
const publicOf = (key: KeyObject): JWK => createPublicKey(key).export({ format: "jwk" });
const kidOf = (key: KeyObject): string => jwkThumbprint(publicOf(key));
const kid = kidOf(agentKey);
/** As the pool publishes it. */
const published = (key: KeyObject, more: JWK = {}): JWK => ({
  ...publicOf(key),
  kid: kidOf(key),
  use: "sig",
  alg: "ES256",
  ...more,
});
const spki = (key: KeyObject): string =>
  createPublicKey(key).export({ format: "pem", type: "spki" }).toString();

const root = testCertificate({ subject: "Root", isCa: true });
const certified = (issuer: TestCertificate, more: Partial<TestCertificateInput> = {}) =>
  testCertificate({ subject: "Agent", issuer, privateKey: agentKey, uris: [POOL], ...more }).x5c;

const nothing: SovereignSettings = {
  trustedRoots: [],
  thumbprints: [],
  publicKeys: [],
  allowUnpinned: false,
};
const settingsOf = (sovereign: Partial<SovereignSettings>, more: Partial<SovereignKeySettings> = {}) => ({
  environment: "production" as const,
  issuer: ISSUER,
  sovereign: { ...nothing, poolIssuer: POOL, ...sovereign },
  ...more,
});

/** A service that publishes these keys, until others are put in. */
function stage(
  sovereign: Partial<SovereignSettings>,
  keys: readonly JWK[],
  more: Partial<SovereignKeySettings> = {},
) {
  const fixture = { keys, now: Date.now(), calls: [] as string[] };
  const source = createSovereignKeySource(settingsOf(sovereign, more), {
    clock: () => fixture.now,
    fetch: async (input) => {
      fixture.calls.push(String(input));
      return Response.json({ keys: fixture.keys }, { headers: { "cache-control": "max-age=300" } });
    },
  });
  return Object.assign(fixture, {
    keyFor: (of: string | undefined = kid) => source.keyFor({ alg: "ES256", kid: of }),
  });
}

const refused = (work: Promise<unknown>, code: SignetErrorCode, cause?: RegExp) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof SignetError);
    assert.equal(error.code, code);
    if (cause) assert.match(String((error.cause as Error | undefined)?.message), cause);
    return true;
  });

async function isAgents(key: Promise<CryptoKey>): Promise<void> {
  assert.equal(await calculateJwkThumbprint(await exportJWK(await key)), kid);
}

const modes: ReadonlyArray<readonly [name: string, pins: Partial<SovereignSettings>, x5c?: string[]]> = [
  ["a pool alone, forced", { allowUnpinned: true }],
  ["trusted roots", { trustedRoots: [root.pem] }, [certified(root)]],
  ["thumbprints", { thumbprints: [kidOf(newEcKey()), kid] }],
  ["public keys", { publicKeys: [publicOf(agentKey)] }],
];

for (const [name, pins, x5c] of modes) {
  test(`${name}: accepts the agent's key, not another one or one without kid`, async () => {
    const fixture = stage(pins, [published(agentKey, x5c ? { x5c } : {})]);
    await isAgents(fixture.keyFor());
    await refused(fixture.keyFor("another"), "token_key_unknown");
    const source = createSovereignKeySource(settingsOf(pins), {
      fetch: () => assert.fail("nothing to ask for"),
    });
    await refused(source.keyFor({ alg: "ES256" }), "token_key_unknown");
  });

  test(`${name}: accepts only the required key`, async () => {
    const keys = [published(agentKey, x5c ? { x5c } : {}), published(rogueKey)];
    await isAgents(stage({ ...pins, requiredKeyId: kid }, keys).keyFor());
    await refused(stage({ ...pins, requiredKeyId: "2026-11" }, keys).keyFor(), "token_key_untrusted");
  });

  test(`${name}: rejects an algorithm that doesn't match the key`, async () => {
    const keys = [published(agentKey, x5c ? { x5c } : {})];
    const source = createSovereignKeySource(settingsOf(pins), { fetch: async () => Response.json({ keys }) });
    await refused(source.keyFor({ alg: "RS256", kid }), "token_algorithm");
  });
}

test("only the pool's key set is fetched, for unknown kids within a budget", async () => {
  const fixture = stage({ thumbprints: [kid] }, [published(agentKey)]);
  await fixture.keyFor();
  for (let count = 0; count < 20; count++)
    await refused(fixture.keyFor(`made up ${count}`), "token_key_unknown");
  assert.deepEqual(new Set(fixture.calls), new Set([`${POOL}/jwks.json`]));
  assert.equal(fixture.calls.length, 11);
});

test("a pool alone is rejected in production, and accepted elsewhere", async () => {
  assert.throws(() => createSovereignKeySource(settingsOf({})), { code: "configuration" });
  for (const environment of ["staging", "development"] as const)
    await isAgents(stage({}, [published(agentKey)], { environment }).keyFor());
});

test("pinning nothing, two things, or something unreadable is rejected at start", () => {
  const { publicKey: pssOnly } = generateKeyPairSync("rsa-pss", { modulusLength: 2048 });
  const { sovereign: _none, ...bare } = settingsOf({});
  const jwk = publicOf(agentKey);
  const wrong: Partial<SovereignSettings>[] = [
    { trustedRoots: [root.pem], thumbprints: [kid] },
    { thumbprints: [kid], publicKeys: [jwk] },
    { trustedRoots: ["no certificate"] },
    { trustedRoots: [root.pem + root.pem] },
    { publicKeys: ["no key"] },
    { publicKeys: [root.pem] },
    // For one kind of padding only: a JWK can't say so (RFC 4055 §1.2).
    { publicKeys: [pssOnly.export({ format: "pem", type: "spki" }).toString()] },
    { publicKeys: [{ ...jwk, d: "secret" }] },
    { publicKeys: [{ kty: "oct", k: "AAAA" }] },
    { publicKeys: [{ kty: "EC", crv: "P-256" }] },
    { publicKeys: [agentKey.export({ format: "pem", type: "pkcs8" }).toString()] },
  ];
  for (const one of wrong)
    assert.throws(
      () => createSovereignKeySource(settingsOf(one)),
      { code: "configuration" },
      JSON.stringify(one),
    );
  assert.throws(() => createSovereignKeySource(bare), { code: "configuration" });
  const withoutPool = { ...settingsOf({}), sovereign: { ...nothing, trustedRoots: [root.pem] } };
  assert.throws(() => createSovereignKeySource(withoutPool), { code: "configuration" });
  for (const environment of ["production", "development"] as const)
    assert.throws(() => createSovereignKeySource({ ...withoutPool, environment, sovereign: nothing }), {
      code: "configuration",
    });
});

test("roots: a key without a chain, with another's, under another root or for another pool is rejected", async () => {
  const roots = { trustedRoots: [root.pem] };
  const rogueRoot = testCertificate({ subject: "Root", isCa: true });
  const past = { validFrom: new Date(Date.now() - 2 * MINUTE_MS), validTo: new Date(Date.now() - MINUTE_MS) };
  const chains: ReadonlyArray<readonly [fault: RegExp | undefined, x5c: unknown]> = [
    [undefined, undefined],
    [undefined, "text"],
    [undefined, [7]],
    [/no certificates/, []],
    [/trusted root/, [certified(rogueRoot)]],
    [/trusted root/, [certified(rogueRoot), rogueRoot.x5c]],
    [/lack the URI of the pool/, [certified(root, { uris: [`${ISSUER}/sovereign/pools/other`] })]],
    [/another key/, [certified(root, { privateKey: rogueKey })]],
    [/has expired/, [certified(root, past)]],
  ];
  for (const [fault, x5c] of chains) {
    const fixture = stage(roots, [published(agentKey, x5c === undefined ? {} : { x5c: x5c as string[] })]);
    await refused(fixture.keyFor(), "token_key_untrusted", fault);
  }
});

test("roots: a chain is rejected a minute after it has expired, while the key set is still fresh", async () => {
  const validTo = new Date(Date.now() + 30_000);
  const fixture = stage({ trustedRoots: [root.pem] }, [
    published(agentKey, { x5c: [certified(root, { validTo })] }),
  ]);
  await isAgents(fixture.keyFor());
  fixture.now += 91_000;
  await refused(fixture.keyFor(), "token_key_untrusted", /has expired/);
  assert.equal(fixture.calls.length, 1);
});

test("roots: keys can rotate while their certificates lead to the root", async () => {
  const fixture = stage({ trustedRoots: [root.pem] }, [published(agentKey, { x5c: [certified(root)] })]);
  await isAgents(fixture.keyFor());
  fixture.keys = [published(rogueKey, { x5c: [certified(root, { privateKey: rogueKey })] })];
  fixture.now += MINUTE_MS;
  assert.ok(await fixture.keyFor(kidOf(rogueKey)));
});

test("a swapped key set: pinned modes reject other keys under the same name", async () => {
  const swapped = [published(rogueKey, { kid })];
  for (const [name, pins, x5c] of modes.slice(1, 3)) {
    const fixture = stage(pins, [published(agentKey, x5c ? { x5c } : {})]);
    await isAgents(fixture.keyFor());
    // The chain of the true key does not fit the key that was put in.
    fixture.keys = swapped.map((key) => ({ ...key, ...(x5c ? { x5c } : {}) }));
    fixture.now += 10 * MINUTE_MS;
    await refused(fixture.keyFor(), "token_key_untrusted");
    fixture.keys = [...swapped, published(agentKey, x5c ? { x5c } : {})];
    fixture.now += 10 * MINUTE_MS;
    await refused(fixture.keyFor(), "token_key_untrusted");
    assert.ok(name);
  }
  // What it does not stop, as the documents say.
  const unpinned = stage({ allowUnpinned: true }, swapped);
  assert.equal(await calculateJwkThumbprint(await exportJWK(await unpinned.keyFor())), kidOf(rogueKey));
});

test("thumbprints are computed from the key itself, and only for public keys", async () => {
  const pins = { thumbprints: [kid] };
  await refused(stage(pins, [published(rogueKey, { kid })]).keyFor(), "token_key_untrusted");
  await refused(stage(pins, [{ kty: "oct", k: "AAAA", kid }]).keyFor(), "token_key_untrusted");
  const { y: _y, ...half } = published(agentKey);
  await refused(stage(pins, [half]).keyFor(), "token_key_untrusted");
  const secret = { ...published(agentKey), ...agentKey.export({ format: "jwk" }) } as JWK;
  await refused(stage(pins, [secret]).keyFor(), "token_key_untrusted");
});

test("thumbprints without a pool are looked up in the issuer's keys", async () => {
  const calls: string[] = [];
  const sovereign = { ...nothing, thumbprints: [kid] };
  const source = createSovereignKeySource(
    { environment: "production", issuer: ISSUER, sovereign },
    {
      fetch: async (input) => {
        calls.push(String(input));
        return Response.json(
          calls.length === 1
            ? { issuer: ISSUER, jwks_uri: `${ISSUER}/keys` }
            : { keys: [published(agentKey), published(rogueKey)] },
        );
      },
    },
  );
  await isAgents(source.keyFor({ alg: "ES256", kid }));
  await refused(source.keyFor({ alg: "ES256", kid: kidOf(rogueKey) }), "token_key_untrusted");
  assert.deepEqual(calls, [`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/keys`]);
});

test("public keys: nothing is fetched; JWK or PEM, by thumbprint or the JWK's kid", async () => {
  const named = { ...publicOf(agentKey), kid: "2026-11" };
  for (const publicKeys of [
    [publicOf(agentKey)],
    [spki(agentKey)],
    [named],
    [spki(rogueKey), named, named],
  ]) {
    const fixture = stage({ publicKeys }, []);
    await isAgents(fixture.keyFor());
    assert.deepEqual(fixture.calls, []);
  }
  await isAgents(stage({ publicKeys: [named] }, []).keyFor("2026-11"));
  await refused(stage({ publicKeys: [spki(agentKey)] }, []).keyFor(kidOf(rogueKey)), "token_key_unknown");
});

test("an agent's key of ML-DSA is accepted in every mode, and as what it is alone", async () => {
  const { privateKey } = generateKeyPairSync("ml-dsa-65");
  const own = kidOf(privateKey);
  const x5c = [certified(root, { privateKey })];
  const entry = { alg: "ML-DSA-65", x5c };
  const keyFor = (pins: Partial<SovereignSettings>, alg = "ML-DSA-65") => {
    const keys = [published(privateKey, entry), published(agentKey)];
    const fetch = async () => Response.json({ keys });
    return createSovereignKeySource(settingsOf(pins), { fetch }).keyFor({ alg, kid: own });
  };
  for (const pins of [
    { allowUnpinned: true },
    { trustedRoots: [root.pem] },
    { thumbprints: [own] },
    { publicKeys: [publicOf(privateKey)] },
    { publicKeys: [spki(privateKey)] },
  ]) {
    const imported = await keyFor(pins);
    assert.equal(await calculateJwkThumbprint(await exportJWK(imported)), own);
    await refused(keyFor(pins, "ML-DSA-44"), "token_algorithm");
  }
  const other = generateKeyPairSync("ml-dsa-65").privateKey;
  entry.x5c = [certified(root, { privateKey: other })];
  await refused(keyFor({ trustedRoots: [root.pem] }), "token_key_untrusted", /another key/);
  const secret = privateKey.export({ format: "jwk" }) as JWK;
  assert.throws(() => keyFor({ publicKeys: [secret] }), /is private/);
});
