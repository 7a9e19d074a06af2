/** DPoP (RFC 9449) at the token and userinfo endpoints: proofs, nonces, bound codes and refresh tokens. */
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, test } from "node:test";
import { exportJWK, generateKeyPair } from "jose";
import type { ApplicationSettings } from "../../core/applications/application.ts";
import { createApplication } from "../../core/applications/applications.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type CodeSource, codeSource, redeemWith } from "../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { makeApiClient } from "../../testing/fixtures/api-client.ts";
import { type Answer, credentials, postForm } from "../../testing/fixtures/client.ts";
import { type DpopKey, dpopKey, type ProofChanges } from "../../testing/fixtures/dpop.ts";
import { assertOAuthError, payloadOf, sendRaw } from "../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../testing/test-service.ts";

const nested = (depth: number): unknown => (depth === 0 ? [] : [nested(depth - 1)]);

forEachDatabase(({ name, fresh }) => {
  let running: TestService;
  /** On PostgreSQL a node of its own. */
  let second: TestService;
  let org: TestOrganisation;
  let source: CodeSource;
  let clock: FakeClock;
  let key: DpopKey;
  let other: DpopKey;
  let bound: TestClient;
  let native: TestClient;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    running = await startTestService({ databaseUrl, clock });
    const { baseUrl } = running;
    second = name === "sqlite" ? running : await startTestService({ databaseUrl, clock, baseUrl });
    org = await makeOrganisation(running.service);
    source = codeSource(org);
    key = await dpopKey();
    other = await dpopKey();
    bound = await makeClient(running.service, org.organisation, { ...service, dpopBoundAccessTokens: true });
    native = await publicClient();
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    if (second !== running) await second.close();
    await running.close();
  });

  const service: Partial<ApplicationSettings> = { grantTypes: ["client_credentials"], allowedScopes: [] };
  const publicClient = async (settings: Partial<ApplicationSettings> = {}): Promise<TestClient> => {
    const made = { orgId: org.organisation.id, name: "App", clientType: "public", actor: "test" } as const;
    const own = { redirectUris: [REDIRECT_URI], requireConsent: false, ...settings };
    return { application: await createApplication(running.service, { ...made, settings: own }), secret: "" };
  };
  const tokenUrl = () => `${org.issuer}/token`;
  const proof = (changes: ProofChanges = {}, by: DpopKey = key, nonce?: string) =>
    by.proof({ url: tokenUrl(), now: clock(), ...(nonce === undefined ? {} : { nonce }) }, changes);
  const jobToken = (dpop: string | undefined, client = bound, url = tokenUrl()) =>
    postForm(
      url,
      { grant_type: "client_credentials", ...credentials(client) },
      dpop === undefined ? {} : { dpop },
    );
  const redeem = (grant: { code: string; verifier: string }, dpop: string | undefined, client = native) =>
    postForm(
      tokenUrl(),
      {
        ...{ grant_type: "authorization_code", code: grant.code, code_verifier: grant.verifier },
        ...(client.secret === "" ? { client_id: client.application.id } : credentials(client)),
        redirect_uri: REDIRECT_URI,
      },
      dpop === undefined ? {} : { dpop },
    );
  const refresh = (answer: Answer, dpop: string | undefined, client = native) =>
    postForm(
      tokenUrl(),
      {
        ...{ grant_type: "refresh_token", refresh_token: String(answer.body["refresh_token"]) },
        ...(client.secret === "" ? { client_id: client.application.id } : credentials(client)),
      },
      dpop === undefined ? {} : { dpop },
    );
  const accepted = (answer: Answer, about = ""): Answer => {
    assert.equal(answer.status, 200, `${about} ${JSON.stringify(answer.body)}`);
    return answer;
  };

  test("binds the token to the key of the proof, and tells so in the answer and in introspection", async () => {
    const { body } = accepted(await jobToken(await proof()));
    assert.equal(body["token_type"], "DPoP");
    assert.deepEqual(payloadOf(body["access_token"])["cnf"], { jkt: key.jkt });
    const token = String(body["access_token"]);
    const told = await postForm(`${org.issuer}/introspect`, { token, ...credentials(bound) });
    assert.deepEqual([told.body["token_type"], told.body["cnf"]], ["DPoP", { jkt: key.jkt }]);
    // Any proof binds, of every algorithm, also for a client that need not send one.
    for (const alg of ["ES256", "PS256", "EdDSA", "RS256"]) {
      const own = await dpopKey(alg);
      const answer = accepted(await jobToken(await proof({}, own), org.batch), alg);
      assert.deepEqual(payloadOf(answer.body["access_token"])["cnf"], { jkt: own.jkt }, alg);
    }
    const plain = accepted(await jobToken(undefined, org.batch));
    assert.deepEqual(
      [plain.body["token_type"], payloadOf(plain.body["access_token"])["cnf"]],
      ["Bearer", undefined],
    );
  });

  test("refuses a missing and every wrong proof", async () => {
    assertOAuthError(await jobToken(undefined), 400, "invalid_dpop_proof", "missing");
    const now = Math.floor(clock() / 1000);
    const stranger = (await generateKeyPair("ES256")).privateKey;
    const wrong: Record<string, ProofChanges> = {
      "another type": { header: { typ: "JWT" } },
      "no key": { header: { jwk: undefined } },
      "a private key": { header: { jwk: { ...key.jwk, d: "AAAA" } } },
      "another key": { header: { jwk: other.jwk } },
      "another signer": { signer: stranger },
      "no jti": { claims: { jti: undefined } },
      "a long jti": { claims: { jti: "x".repeat(256) } },
      "another method": { claims: { htm: "GET" } },
      "another address": { claims: { htu: `${org.issuer}/par` } },
      "another host": { claims: { htu: `https://as.example/oauth/${org.organisation.id}/token` } },
      "no address": { claims: { htu: undefined } },
      old: { claims: { iat: now - 61 } },
      ahead: { claims: { iat: now + 31 } },
      "no time": { claims: { iat: undefined } },
      "a text for a time": { claims: { iat: String(now) } },
      "too long": { claims: { more: "x".repeat(4_096) } },
    };
    for (const [about, changes] of Object.entries(wrong))
      assertOAuthError(await jobToken(await proof(changes)), 400, "invalid_dpop_proof", about);
    assertOAuthError(await jobToken("nonsense"), 400, "invalid_dpop_proof");
    assertOAuthError(await jobToken(`${await proof()}, ${await proof()}`), 400, "invalid_dpop_proof", "two");
    const none = await proof();
    const [, payload] = none.split(".");
    const header = Buffer.from(JSON.stringify({ typ: "dpop+jwt", alg: "none", jwk: key.jwk }));
    assertOAuthError(
      await jobToken(`${header.toString("base64url")}.${payload}.`),
      400,
      "invalid_dpop_proof",
    );
    for (const claims of [
      { iat: now - 60 },
      { iat: now + 30 },
      { htu: `${tokenUrl()}?a=b#c` },
      { jti: "x".repeat(255) },
    ])
      accepted(await jobToken(await proof({ claims })), JSON.stringify(claims));
  });

  test("an address is compared as RFC 3986 says, and nothing else is taken for it", async () => {
    const { host, port, pathname } = new URL(tokenUrl());
    for (const htu of [
      `HTTP://${host}${pathname}`,
      `http://${host}/x/..${pathname}`,
      `http://${host}${pathname.replace("oauth", "%6fauth")}`,
      `${tokenUrl()}#`,
    ])
      accepted(await jobToken(await proof({ claims: { htu } })), htu);
    for (const htu of [
      `https://${host}${pathname}`,
      `http://127.0.0.1${pathname}`,
      `http://127.0.0.1:${Number(port) + 1}${pathname}`,
      `http://127.0.0.1.evil.example:${port}${pathname}`,
      `http://evil.example@${host}${pathname}`,
      `http://evil.example/?${tokenUrl()}`,
      `${tokenUrl()}/`,
      `${tokenUrl()}%2f`,
      `http://${host}${pathname.toUpperCase()}`,
      `blob:${tokenUrl()}`,
      pathname,
      [tokenUrl()],
      null,
    ])
      assertOAuthError(
        await jobToken(await proof({ claims: { htu } })),
        400,
        "invalid_dpop_proof",
        String(htu),
      );
  });

  test("behind a proxy the address is that of the base URL, not that of the node", async () => {
    const proxied = await startTestService({
      databaseUrl: await fresh(),
      ...{ clock, baseUrl: "https://id.example" },
    });
    const there = await makeOrganisation(proxied.service);
    const path = `/oauth/${there.organisation.id}/token`;
    const ask = async (htu: string) =>
      jobToken(await proof({ claims: { htu } }), there.batch, proxied.baseUrl + path);
    const [ofNode, ofBase] = [
      await ask(proxied.baseUrl + path),
      await ask(`https://ID.example:443${path}?x=y`),
    ];
    await proxied.close();
    assertOAuthError(ofNode, 400, "invalid_dpop_proof", "the node's");
    accepted(ofBase);
  });

  test("a header that names no key of ours to verify with is refused, whatever it says", async () => {
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const [, payload = ""] = (await proof()).split(".");
    const mac = (header: object, secret: string) => {
      const signed = `${part(header)}.${payload}`;
      return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
    };
    const { publicKey } = await generateKeyPair("ES384", { extractable: true });
    const secret = { kty: "oct", k: Buffer.from("secret").toString("base64url") };
    const typ = "dpop+jwt";
    const hostile: Record<string, string> = {
      "a MAC with the public key": mac({ typ, alg: "HS256", jwk: key.jwk }, JSON.stringify(key.jwk)),
      "a MAC with a key that it brings": mac({ typ, alg: "HS256", jwk: secret }, "secret"),
      "another curve": await proof({ header: { jwk: await exportJWK(publicKey) } }),
      "no object": await proof({ header: { jwk: "key" } }),
      "a deep object": await proof({ header: { jwk: { ...key.jwk, x5c: nested(500) } } }),
      "an extension that we don't know": `${part({ typ, alg: "ES256", jwk: key.jwk, crit: ["x"], x: 1 })}.${payload}.${"A".repeat(86)}`,
      "an empty header": ".",
    };
    for (const [about, text] of Object.entries(hostile))
      assertOAuthError(await jobToken(text), 400, "invalid_dpop_proof", about);
  });

  test("accepts a proof once, on every node, and of twenty at once one", async () => {
    const dpop = await proof();
    const elsewhere = `${second.baseUrl}/oauth/${org.organisation.id}/token`;
    accepted(await jobToken(dpop));
    assertOAuthError(await jobToken(dpop), 400, "invalid_dpop_proof", "again");
    assertOAuthError(await jobToken(dpop, bound, elsewhere), 400, "invalid_dpop_proof", "on another node");
    const at = await proof();
    const all = await Promise.all(
      Array.from({ length: 20 }, (_, one) => jobToken(at, bound, one % 2 ? elsewhere : tokenUrl())),
    );
    assert.equal(all.filter(({ status }) => status === 200).length, 1);
    // Another key may use the same jti.
    const claims = { jti: "one" };
    accepted(await jobToken(await proof({ claims })));
    accepted(await jobToken(await proof({ claims }, other)));
  });

  test("a proof of a refused request is not used up", async () => {
    const dpop = await proof();
    const grant = await source.code({}, native);
    assertOAuthError(await redeem({ ...grant, verifier: "a".repeat(43) }, dpop), 400, "invalid_grant");
    accepted(await redeem(grant, dpop));
  });

  test("asks for a nonce, has it on every answer, and accepts that of this and of the last time slot", async () => {
    const strict = await makeClient(running.service, org.organisation, {
      ...service,
      requireDpopNonce: true,
    });
    const asked = await jobToken(await proof(), strict);
    assertOAuthError(asked, 400, "use_dpop_nonce");
    const nonce = asked.headers.get("dpop-nonce") ?? "";
    const first = accepted(await jobToken(await proof({}, key, nonce), strict));
    assert.equal(first.headers.get("dpop-nonce"), nonce);
    assertOAuthError(
      await jobToken(await proof({}, key, "wrong"), org.batch),
      400,
      "use_dpop_nonce",
      "not needed",
    );
    const foreign = await makeOrganisation(running.service, "Foreign");
    const theirs = await postForm(`${foreign.issuer}/token`, {});
    assert.notEqual(theirs.headers.get("dpop-nonce"), nonce);
    const ofOthers = await proof({}, key, theirs.headers.get("dpop-nonce") ?? "");
    assertOAuthError(await jobToken(ofOthers, strict), 400, "use_dpop_nonce", "of another organisation");
    clock.advance(150_000);
    const later = accepted(await jobToken(await proof({}, key, nonce), strict));
    assert.notEqual(later.headers.get("dpop-nonce"), nonce);
    clock.advance(150_000);
    assertOAuthError(await jobToken(await proof({}, key, nonce), strict), 400, "use_dpop_nonce", "too old");
  });

  test("a code is redeemed by the key that the request named, and by no other", async () => {
    const grant = await source.code({ dpop_jkt: key.jkt }, native);
    assertOAuthError(await redeem(grant, undefined), 400, "invalid_dpop_proof", "none");
    assertOAuthError(await redeem(grant, await proof({}, other)), 400, "invalid_dpop_proof", "another key");
    accepted(await redeem(grant, await proof()), "nothing was used up");
    await assert.rejects(source.code({ dpop_jkt: "short" }, native), /invalid_request/);
  });

  test("a public client refreshes with the key it began with, in the grace window too", async () => {
    const first = accepted(await redeem(await source.code({}, native), await proof()));
    assertOAuthError(await refresh(first, undefined), 400, "invalid_grant", "without a proof");
    assertOAuthError(await refresh(first, await proof({}, other)), 400, "invalid_grant", "another key");
    const next = accepted(await refresh(first, await proof()));
    assert.equal(next.body["token_type"], "DPoP");
    assertOAuthError(
      await refresh(first, await proof({}, other)),
      400,
      "invalid_grant",
      "in the grace window",
    );
    const again = accepted(await refresh(first, await proof()));
    assert.equal(again.body["refresh_token"], next.body["refresh_token"]);
    accepted(await refresh(next, await proof()), "another key has revoked nothing");
  });

  test("a confidential client may refresh with a new key", async () => {
    const first = accepted(await redeem(await source.code(), await proof(), org.web));
    const next = accepted(await refresh(first, await proof({}, other), org.web));
    assert.deepEqual(payloadOf(next.body["access_token"])["cnf"], { jkt: other.jkt });
  });

  test("userinfo wants the proof of the token's key, and says how", async () => {
    const { body } = accepted(await redeem(await source.code({}, native), await proof()));
    const token = String(body["access_token"]);
    const url = `${org.issuer}/userinfo`;
    const ask = (authorization: string, dpop?: string) =>
      sendRaw(url, { headers: dpop === undefined ? { authorization } : { authorization, dpop } });
    const ath = (changes: ProofChanges = {}, by: DpopKey = key) =>
      by.proof({ url, method: "GET", token, now: clock() }, changes);
    const refused = (answer: Answer, code: string, about: string) => {
      assertOAuthError(answer, 401, code, about);
      const told = answer.headers.get("www-authenticate") ?? "";
      assert.match(told, new RegExp(`^DPoP .*error="${code}".*algs="ES256 RS256 PS256 EdDSA"`), about);
      assert.ok(answer.headers.get("dpop-nonce"), about);
    };
    const dpop = await ath();
    assert.equal((await ask(`DPoP ${token}`, dpop)).status, 200);
    refused(await ask(`DPoP ${token}`, dpop), "invalid_dpop_proof", "again");
    refused(await ask(`DPoP ${token}`), "invalid_dpop_proof", "no proof");
    refused(
      await ask(`DPoP ${token}`, await ath({ claims: { ath: undefined } })),
      "invalid_dpop_proof",
      "no ath",
    );
    const forAnother = { claims: { ath: "x".repeat(43) } };
    refused(await ask(`DPoP ${token}`, await ath(forAnother)), "invalid_dpop_proof", "another token");
    refused(
      await ask(`DPoP ${token}`, await ath({}, other)),
      "invalid_token",
      "a stolen token without its key",
    );
    refused(await ask(`Bearer ${token}`, await ath()), "invalid_token", "Bearer");
    refused(
      await ask(`DPoP ${token}`, await ath({ claims: { nonce: "wrong" } })),
      "use_dpop_nonce",
      "wrong nonce",
    );
    const inForm = await postForm(url, { access_token: token });
    refused(inForm, "invalid_token", "in the form");
    const unbound = accepted(await redeemWith(org, await source.code())).body["access_token"];
    const withProof = await key.proof({ url, method: "GET", token: String(unbound), now: clock() });
    refused(await ask(`DPoP ${unbound}`, withProof), "invalid_token", "an unbound token");
    assert.equal((await ask(`Bearer ${unbound}`)).status, 200);
  });

  test("a bound token is worth nothing as Bearer at API v1 and the transmitter of signals", async () => {
    const api = await makeApiClient(running.service, org, ["signet:applications:read"]);
    const accessToken = String(accepted(await jobToken(await proof(), api)).body["access_token"]);
    assert.equal((await api.call("GET", "/applications")).status, 200);
    assert.equal((await api.call("GET", "/applications", { accessToken })).status, 401);
    const receiver = await makeClient(running.service, org.organisation, {
      ...{ grantTypes: ["client_credentials"], allowedScopes: ["ssf.read"] },
    });
    const streams = async (dpop?: string) => {
      const { body } = accepted(await jobToken(dpop, receiver));
      const headers = { authorization: `Bearer ${body["access_token"]}` };
      return (await sendRaw(`${org.issuer}/ssf/streams`, { headers })).status;
    };
    assert.deepEqual([await streams(), await streams(await proof())], [200, 401]);
  });

  test("browsers may send proofs and read the nonce", async () => {
    const origin = new URL(REDIRECT_URI).origin;
    const { headers } = await sendRaw(tokenUrl(), {
      method: "OPTIONS",
      headers: { origin, "access-control-request-method": "POST" },
    });
    assert.match(headers.get("access-control-allow-headers") ?? "", /\bDPoP\b/);
    const answer = await postForm(tokenUrl(), {}, { origin });
    assert.match(answer.headers.get("access-control-expose-headers") ?? "", /\bDPoP-Nonce\b/);
  });
});
