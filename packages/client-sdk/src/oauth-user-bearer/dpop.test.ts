import assert from "node:assert/strict";
import { test } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import { SignetError } from "../errors.ts";
import type { Filter, FilterResult } from "../filter.ts";
import { dpopClient, type ProofChanges } from "../testing/dpop-client.ts";
import { sharedSecret, testKey } from "../testing/signed-token.ts";
import { AUDIENCE, createTestProvider, ISSUER } from "../testing/test-provider.ts";
import { createDpopNonces, createReplayMemory } from "./dpop-nonces.ts";
import { type OAuthUserBearerOptions, oauthUserBearer } from "./oauth-user-bearer.ts";

const provider = await createTestProvider();
const client = await dpopClient();
const { fetch, clock } = provider;
const BASE_URL = "https://api.example";
const URL_HERE = `${BASE_URL}/notes/%7e1`;

function api(options: OAuthUserBearerOptions = {}, baseUrl: string | undefined = BASE_URL): Filter {
  const address = baseUrl === "" ? {} : { baseUrl };
  const configuration = { issuer: ISSUER, oauthAudience: AUDIENCE, ...address };
  return oauthUserBearer({ filterType: "OAuthUserBearer", ...configuration }, { fetch, clock, ...options });
}
const filter = api();

const boundTo = (jkt: string) => provider.accessToken({ claims: { cnf: { jkt } } });
const token = await boundTo(client.thumbprint);

function send(
  proof: string | undefined,
  { scheme = "DPoP", asked = filter, used = token, method = "POST" } = {},
): Promise<FilterResult> {
  const headers: Record<string, string> = { authorization: `${scheme} ${used}` };
  if (proof !== undefined) headers["dpop"] = proof;
  // The host is what the caller writes; query and fragment are no part of what is proven.
  return asked.authenticate(new Request("http://evil.example/notes/%7e1?q=1", { method, headers }));
}

const target = () => ({ method: "POST", url: URL_HERE, token, now: provider.clock() });
const proof = (changes?: ProofChanges) => client.proof(target(), changes);

async function accepted(result: Promise<FilterResult>, about = ""): Promise<void> {
  const settled = await result;
  const told = settled.kind === "answer" ? settled.error?.message : "";
  assert.equal(settled.kind, "authenticated", `${about}: ${told}`);
}

async function refused(result: Promise<FilterResult>, about = "") {
  const settled = await result;
  assert.equal(settled.kind, "answer", about);
  const { error, response } = settled;
  assert.ok(error instanceof SignetError);
  assert.equal(error.code, "token_not_proven", about);
  assert.equal(response.status, error.status);
  return { error, response, challenge: response.headers.get("www-authenticate") ?? "" };
}

test("a bound token is accepted with a proof of its key, for every supported algorithm", async () => {
  await accepted(send(await proof()));
  for (const alg of ["RS256", "PS256", "EdDSA", "ES384"]) {
    const other = await dpopClient(alg);
    const bound = await boundTo(other.thumbprint);
    await accepted(send(await other.proof({ ...target(), token: bound }), { used: bound }), alg);
  }
});

test("ML-DSA is for tokens: a proof with such a key is rejected, and none is asked for", async () => {
  for (const alg of ["ML-DSA-44", "ML-DSA-65", "ML-DSA-87"]) {
    const other = await dpopClient(alg);
    const bound = await boundTo(other.thumbprint);
    const { challenge } = await refused(
      send(await other.proof({ ...target(), token: bound }), { used: bound }),
      alg,
    );
    assert.doesNotMatch(challenge, /ML-DSA/);
  }
});

test("without its proof a bound token is rejected, as a bearer token too", async () => {
  const { challenge } = await refused(send(undefined));
  assert.match(challenge, /^Bearer realm="[^"]+", DPoP error="invalid_dpop_proof", .*algs="ES256 /);
  const downgraded = await refused(send(await proof(), { scheme: "Bearer" }));
  assert.match(downgraded.challenge, /^Bearer realm="[^"]+", error="invalid_token".*, DPoP algs="/);
  await refused(send(undefined, { scheme: "Bearer" }));
});

test("an unbound token is rejected with a proof", async () => {
  const used = await provider.accessToken();
  await refused(send(await client.proof({ ...target(), token: used }), { used }));
  await accepted(send(undefined, { used, scheme: "Bearer" }));
});

test("a proof that is wrong in any way is rejected", async () => {
  const other = await dpopClient();
  const rsa = await testKey("rsa", "RS256");
  const now = provider.clock() / 1000;
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  const mine = client.key.jwk;
  const wrong: Record<string, ProofChanges> = {
    "no typ": { header: { typ: undefined } },
    "typ JWT": { header: { typ: "JWT" } },
    "an access token's typ": { header: { typ: "at+jwt" } },
    "alg none": { header: { alg: "none" } },
    "alg HS256 with the public key": {
      header: { alg: "HS256" },
      key: sharedSecret(new TextEncoder().encode(JSON.stringify(mine)) as Uint8Array<ArrayBuffer>),
    },
    "alg HS256 and a shared key": {
      header: { alg: "HS256", jwk: { kty: "oct", k: "c2VjcmV0" } },
      key: sharedSecret(new TextEncoder().encode("secret") as Uint8Array<ArrayBuffer>),
    },
    "alg of another key type": { header: { alg: "RS256" } },
    "no jwk": { header: { jwk: undefined } },
    "jwk that is a text": { header: { jwk: JSON.stringify(mine) } },
    "a private key": { header: { jwk: { ...mine, d: "x" } } },
    "a broken key": { header: { jwk: { ...mine, x: "AAAA" } } },
    "another key's signature": { key: other.key },
    "another key, properly": { key: other.key, header: { jwk: other.key.jwk } },
    "a key of another type, properly": { key: rsa, header: { alg: "RS256", jwk: rsa.jwk } },
    "a public key that did not sign": { header: { jwk: await exportJWK(publicKey) } },
    crit: { header: { crit: ["b64"], b64: true } },
    "a proof of enormous length": { claims: { more: "x".repeat(8_192) } },
    "no jti": { claims: { jti: undefined } },
    "an empty jti": { claims: { jti: "" } },
    "a jti that is a number": { claims: { jti: 1 } },
    "a huge jti": { claims: { jti: "x".repeat(513) } },
    "no htm": { claims: { htm: undefined } },
    "another method": { claims: { htm: "GET" } },
    "the method in small letters": { claims: { htm: "post" } },
    "no htu": { claims: { htu: undefined } },
    "another path": { claims: { htu: `${BASE_URL}/notes` } },
    "another host: the one of the Host header": { claims: { htu: "http://evil.example/notes/%7e1" } },
    "another port": { claims: { htu: "https://api.example:444/notes/%7e1" } },
    "another scheme": { claims: { htu: "http://api.example/notes/%7e1" } },
    "a path alone": { claims: { htu: "/notes/%7e1" } },
    "no iat": { claims: { iat: undefined } },
    "iat as a text": { claims: { iat: String(now) } },
    "made too long ago": { claims: { iat: now - 121 } },
    "made in the future": { claims: { iat: now + 61 } },
    "no ath": { claims: { ath: undefined } },
    "the hash of another token": { claims: { ath: "A5BYxvLAy0ksUzsKTRTvd8wPeKvMztUofYShogEc-4E" } },
  };
  for (const [about, changes] of Object.entries(wrong)) {
    const { error, challenge } = await refused(send(await proof(changes)), about);
    assert.equal(error.oauthError, "invalid_dpop_proof", about);
    assert.match(challenge, /DPoP error="invalid_dpop_proof"/, about);
    if (/^alg (?:none|HS)/.test(about)) assert.match(error.message, /algorithm is not accepted/, about);
  }
  const good = await proof();
  for (const text of ["", "x", "a.b", `${good}, ${good}`, `${good}.x`, good.slice(0, -9), "a".repeat(9000)])
    await refused(send(text), text.slice(0, 20));
});

test("equivalent URLs match: query, fragment, default port, case of escapes", async () => {
  for (const htu of [
    `${URL_HERE}?other=1#x`,
    "https://API.example:443/notes/%7e1",
    "HTTPS://api.example/notes/%7E1",
  ])
    await accepted(send(await proof({ claims: { htu } })), htu);
});

test("clock skew is tolerated", async () => {
  const now = provider.clock() / 1000;
  for (const iat of [now - 120, now + 60, now + 0.5])
    await accepted(send(await proof({ claims: { iat } })), String(iat - now));
});

test("a proof is accepted once", async () => {
  const asked = api();
  const once = await proof({ claims: { iat: provider.clock() / 1000 + 60 } });
  await accepted(send(once, { asked }));
  const { challenge } = await refused(send(once, { asked }), "again");
  assert.match(challenge, /invalid_dpop_proof/);
  provider.advance(179);
  await refused(send(once, { asked }), "three minutes later");
  const both = await proof();
  const outcomes = await Promise.all([send(both, { asked }), send(both, { asked })]);
  assert.deepEqual(outcomes.map(({ kind }) => kind).sort(), ["answer", "authenticated"]);
});

test("two keys may use the same jti; an invalid proof uses none up", async () => {
  const asked = api();
  const jti = "the same";
  const other = await dpopClient();
  const bound = await boundTo(other.thumbprint);
  await refused(send(await proof({ claims: { jti, htm: "GET" } }), { asked }));
  await accepted(send(await proof({ claims: { jti } }), { asked }));
  const theirs = await other.proof({ ...target(), token: bound }, { claims: { jti } });
  await accepted(send(theirs, { asked, used: bound }));
});

test("a shared memory makes a proof single-use across instances; a full one accepts no more", async () => {
  const replayMemory = createReplayMemory({ clock, most: 2 });
  const [one, two] = [api({ replayMemory }), api({ replayMemory })];
  const once = await proof();
  await accepted(send(once, { asked: one }));
  await refused(send(once, { asked: two }));
  await accepted(send(await proof(), { asked: two }));
  assert.equal((await refused(send(await proof(), { asked: one }))).response.status, 503);
  provider.advance(181);
  await accepted(send(await proof(), { asked: one }));
});

test("an unavailable shared memory lets nobody in", async () => {
  const away = api({ replayMemory: { isFirst: () => Promise.reject(new Error("the store is away")) } });
  const result = await send(await proof(), { asked: away });
  assert.ok(result.kind === "answer" && result.error instanceof SignetError);
  assert.deepEqual([result.error.code, result.response.status], ["provider_unreachable", 503]);
});

test("if nonces are required, a proof needs a recent one", async () => {
  const secret = Buffer.alloc(32, 7).toString("base64url");
  const dpopNonces = createDpopNonces({ secret, clock, lifetimeSeconds: 100 });
  const asked = api({ dpopNonces });
  const first = await refused(send(await proof(), { asked }));
  assert.equal(first.error.oauthError, "use_dpop_nonce");
  assert.equal(first.response.status, 401);
  assert.match(first.challenge, /DPoP error="use_dpop_nonce"/);
  const nonce = first.response.headers.get("dpop-nonce");
  assert.ok(nonce);
  await accepted(send(await proof({ claims: { nonce } }), { asked }));
  // Another instance with the same secret.
  const twin = createDpopNonces({ secret, clock, lifetimeSeconds: 100 });
  assert.equal(await twin.accepts(nonce), true);
  provider.advance(100);
  await accepted(send(await proof({ claims: { nonce } }), { asked }));
  provider.advance(100);
  for (const old of [nonce, "", 1, `${nonce}x`])
    await refused(send(await proof({ claims: { nonce: old } }), { asked }), String(old));
  const stranger = createDpopNonces({ secret: Buffer.alloc(32, 8).toString("base64url"), clock });
  await refused(send(await proof({ claims: { nonce: await stranger.current() } }), { asked }));
  assert.throws(() => createDpopNonces({ secret: "c2hvcnQ" }), { code: "configuration" });
});

test("an API without a base URL accepts no proof, and logs why", async () => {
  const told: Error[] = [];
  const asked = api({ onError: (error) => told.push(error) }, "");
  const { challenge } = await refused(send(await proof(), { asked }));
  assert.ok(!challenge.includes("DPoP"));
  assert.match(String(told[0]?.cause), /baseUrl/);
});

test("a token bound to a certificate and a key needs both", async () => {
  const cnf = { jkt: client.thumbprint, "x5t#S256": "A5BYxvLAy0ksUzsKTRTvd8wPeKvMztUofYShogEc-4E" };
  const used = await provider.accessToken({ claims: { cnf } });
  const request = async () => {
    const dpop = await client.proof({ ...target(), token: used });
    return new Request(URL_HERE, { method: "POST", headers: { authorization: `DPoP ${used}`, dpop } });
  };
  await refused(filter.authenticate(await request()));
  await accepted(filter.authenticate(await request(), { clientCertificate: Uint8Array.of(1, 2, 3) }));
});

test("an API that wants bound tokens refuses others, and takes what is bound as it asks", async () => {
  const der = new Uint8Array([1, 2, 3]);
  const { sha256Base64url } = await import("../base64url.ts");
  const certified = await provider.accessToken({
    claims: { cnf: { "x5t#S256": await sha256Base64url(der) } },
  });
  const plain = await provider.accessToken();
  const byCertificate = (asked: Filter) =>
    asked.authenticate(new Request(URL_HERE, { headers: { authorization: `Bearer ${certified}` } }), {
      clientCertificate: der,
    });
  const [dpop, mtls, any] = (["dpop", "mtls", "any"] as const).map((senderConstraint) =>
    api({ senderConstraint }),
  );
  assert.ok(dpop && mtls && any);
  for (const asked of [dpop, mtls, any]) {
    const { challenge } = await refused(send(undefined, { used: plain, scheme: "Bearer", asked }));
    assert.match(challenge, /error="invalid_token"/);
  }
  await accepted(send(await proof(), { asked: dpop }));
  await accepted(send(await proof(), { asked: any }));
  await refused(send(await proof(), { asked: mtls }), "a key where a certificate is wanted");
  await refused(send(undefined, { asked: dpop }), "the token names a key that nobody proves");
  await accepted(byCertificate(mtls));
  await accepted(byCertificate(any));
  await refused(byCertificate(dpop), "a certificate where a key is wanted");
  await accepted(
    send(undefined, { used: plain, scheme: "Bearer", asked: api({ senderConstraint: "none" }) }),
  );
});

test("a sender constraint that cannot be kept is a fault of the configuration", () => {
  for (const options of [
    { senderConstraint: "dpop" },
    { senderConstraint: "tls" },
  ] as OAuthUserBearerOptions[])
    assert.throws(() => api(options, options.senderConstraint === "dpop" ? "" : BASE_URL), {
      code: "configuration",
    });
});
