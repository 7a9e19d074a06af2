/** What pools publish, and that tokens of agents are read back by it and by nothing else. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { after, before, test } from "node:test";
import { agentAlgs } from "@signet/protocol/agent-signature";
import { testCertificate } from "@signet/protocol/testing/test-certificate";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import { sql } from "kysely";
import { changeApplication } from "../../../core/applications/application-changes.ts";
import { recordTokenExp } from "../../../core/signing-pools/agent-key.store.ts";
import { RETIRED_AFTER_MS } from "../../../core/signing-pools/agent-key.ts";
import {
  type SigningPool,
  signingPoolIssuer,
  signingPoolUrl,
} from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { codeSource } from "../../../testing/fakes/code-source.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  addKey,
  makeAgent,
  makePool,
  newAgentKey,
  presentedKey,
  signedWith,
  type TestAgentKey,
} from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { withUser } from "../../../testing/fixtures/visit.ts";
import { payloadOf, sendRaw } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { deactivateAgent, registerAgent } from "./agents.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    org = await makeOrganisation(running.service);
  });
  after(async () => {
    await running.close();
    assert.deepEqual(running.errors, []);
  });

  const addressOf = (pool: SigningPool) => signingPoolUrl(running.baseUrl, pool);
  const keysAt = async (url: string) => {
    const { status, body } = await sendRaw(url, {});
    assert.equal(status, 200);
    return body["keys"] as ReadonlyArray<Record<string, unknown>>;
  };
  const kidsOf = async (pool: SigningPool) =>
    (await keysAt(`${addressOf(pool)}/jwks.json`)).map(({ kid }) => kid);
  const end = (agentId: string, compromised: boolean) => {
    const deps = { ...running.service, baseUrl: running.baseUrl };
    return deactivateAgent(deps, { orgId: org.organisation.id, actor: "test" }, { agentId, compromised });
  };
  const clientOf = (pool: SigningPool) =>
    makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: [],
      signingPoolId: pool.id,
    });
  /** As an agent signs it. */
  const tokenOf = (
    pool: SigningPool,
    key: TestAgentKey,
    client: TestClient,
    more: object = {},
    head = {},
  ) => {
    const iat = Math.floor(clock() / 1000);
    const iss = signingPoolIssuer(running.baseUrl, pool);
    const id = client.application.id;
    const claims = { iss, sub: id, aud: iss, exp: iat + 600, iat, jti: randomUUID(), client_id: id };
    const header = { alg: key.alg, kid: key.kid, typ: "at+jwt", ...head };
    const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString("base64url");
    return signedWith(key, `${encode(header)}.${encode({ ...claims, ...more })}`);
  };
  const isActive = async (token: string, client: TestClient) =>
    (await postForm(`${org.issuer}/introspect`, { token, ...credentials(client) })).body["active"];
  const algs = agentAlgs;

  test("the discovery document has the pool's issuer and the organisation's endpoints", async () => {
    const pool = await makePool(running.service, org, { algs: ["ES384"] });
    const { body, status, headers } = await sendRaw(
      `${addressOf(pool)}/.well-known/openid-configuration`,
      {},
    );
    assert.equal(status, 200);
    assert.equal(body["issuer"], addressOf(pool));
    assert.equal(body["jwks_uri"], `${addressOf(pool)}/jwks.json`);
    assert.equal(body["token_endpoint"], `${org.issuer}/token`);
    assert.equal(body["authorization_endpoint"], `${org.issuer}/authorize`);
    assert.deepEqual(body["id_token_signing_alg_values_supported"], ["ES384"]);
    assert.equal(body["backchannel_logout_supported"], false, "nobody would sign it");
    assert.match(headers.get("cache-control") ?? "", /max-age=300/);
    const mode = await makePool(running.service, org, { issuerMode: "organisation" });
    const own = await sendRaw(`${addressOf(mode)}/.well-known/openid-configuration`, {});
    assert.equal(own.body["issuer"], org.issuer);
    assert.equal(own.body["jwks_uri"], `${addressOf(mode)}/jwks.json`);
  });

  test("the JWKS has public members only and verifies agents' tokens", async () => {
    const pool = await makePool(running.service, org, { algs });
    const agent = await makeAgent(running.service, org, pool, { algs });
    const client = await clientOf(pool);
    const url = `${addressOf(pool)}/jwks.json`;
    const keys = await keysAt(url);
    assert.deepEqual(
      keys.map(({ kid, use, alg }) => [kid, use, alg]),
      agent.keys.map(({ kid, alg }) => [kid, "sig", alg]).sort(([a = ""], [b = ""]) => (a < b ? -1 : 1)),
    );
    for (const key of keys)
      for (const member of ["d", "p", "q", "dp", "dq", "qi", "k", "priv"])
        assert.ok(!(member in key), member);
    const set = createLocalJWKSet({ keys: [...keys] } as unknown as JSONWebKeySet);
    for (const key of agent.keys) {
      const token = tokenOf(pool, key, client);
      const options = { issuer: addressOf(pool), typ: "at+jwt", currentDate: new Date(clock()) };
      const { payload } = await jwtVerify(token, set, options);
      assert.equal(payload["client_id"], client.application.id);
      assert.equal(await isActive(token, client), true, key.alg);
      assert.equal(await isActive(token, client), true, "from the cache");
    }
    const { headers } = await sendRaw(url, {});
    const again = await fetch(url, { headers: { "if-none-match": headers.get("etag") ?? "" } });
    assert.equal(again.status, 304);
    assert.match(headers.get("cache-control") ?? "", /max-age=300/);
  });

  test("publishes the checked x5c chain and x5t#S256", async () => {
    const root = testCertificate({ subject: "Root", isCa: true });
    const pool = await makePool(running.service, org, { trustedRoots: [root.pem] });
    const key = newAgentKey("ES256");
    const { x5c } = testCertificate({
      subject: "Agent",
      issuer: root,
      privateKey: key.privateKey,
      uris: [addressOf(pool)],
    });
    const presented = { ...presentedKey(running.service, pool, key), x5c: [x5c] };
    const deps = { ...running.service, baseUrl: running.baseUrl };
    const by = { orgId: org.organisation.id, actor: "test" };
    await registerAgent(deps, by, { poolId: pool.id, name: "x", keys: [presented] });
    const [shown] = await keysAt(`${addressOf(pool)}/jwks.json`);
    assert.deepEqual(shown?.["x5c"], [x5c]);
    assert.match(String(shown?.["x5t#S256"]), /^[\w-]{43}$/);
  });

  test("the organisation's JWKS contains the keys of pools with its issuer only", async () => {
    const pool = await makePool(running.service, org);
    const mode = await makePool(running.service, org, { issuerMode: "organisation" });
    const [hidden, shown] = [
      await makeAgent(running.service, org, pool),
      await makeAgent(running.service, org, mode),
    ];
    const kids = (await keysAt(`${org.issuer}/.well-known/jwks.json`)).map(({ kid }) => kid);
    assert.ok(kids.includes(shown.keys[0]?.kid));
    assert.ok(!kids.includes(hidden.keys[0]?.kid));
    // Never one of the organisation's own.
    assert.deepEqual(await kidsOf(mode), [shown.keys[0]?.kid]);
    const client = await clientOf(mode);
    const [key] = shown.keys;
    assert.ok(key);
    assert.equal(await isActive(tokenOf(mode, key, client), client), true);
  });

  test("rotates a key: published, active, and the old one removed after its last token", async () => {
    const pool = await makePool(running.service, org, { keyPublishDelaySeconds: 600 });
    const agent = await makeAgent(running.service, org, pool);
    const [old] = agent.keys;
    assert.ok(old);
    const next = newAgentKey("ES256");
    await addKey(running.service, org, { pool, agentId: agent.agentId }, next);
    assert.deepEqual(new Set(await kidsOf(pool)), new Set([old.kid, next.kid]));
    const exp = clock() + 1_200_000;
    await recordTokenExp(running.service.database.query, { orgId: org.organisation.id, kid: old.kid, exp });
    clock.advance(600_000);
    assert.deepEqual(new Set(await kidsOf(pool)), new Set([old.kid, next.kid]), "retiring");
    clock.advance(600_000 + RETIRED_AFTER_MS - 1);
    assert.deepEqual(new Set(await kidsOf(pool)), new Set([old.kid, next.kid]), "its last token just ended");
    clock.advance(1);
    assert.deepEqual(await kidsOf(pool), [next.kid]);
  });

  test("deactivation keeps tokens valid; a compromise invalidates them immediately", async () => {
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const client = await clientOf(pool);
    const [key] = agent.keys;
    assert.ok(key);
    const token = tokenOf(pool, key, client);
    const exp = clock() + 600_000;
    await recordTokenExp(running.service.database.query, { orgId: org.organisation.id, kid: key.kid, exp });
    assert.equal(await isActive(token, client), true);
    await end(agent.agentId, false);
    assert.equal(await isActive(token, client), true);
    assert.deepEqual(await kidsOf(pool), [key.kid]);
    await end(agent.agentId, true);
    assert.equal(await isActive(token, client), false);
    assert.deepEqual(await kidsOf(pool), []);
  });

  test("introspection accepts an agent's access token for applications of its pool", async () => {
    const [pool, another] = [await makePool(running.service, org), await makePool(running.service, org)];
    const agent = await makeAgent(running.service, org, pool);
    const [client, foreign] = [await clientOf(pool), await clientOf(another)];
    const [key] = agent.keys;
    assert.ok(key);
    assert.equal(await isActive(tokenOf(pool, key, client), client), true);
    const cases: ReadonlyArray<readonly [string, string, TestClient]> = [
      ["another pool's application", tokenOf(pool, key, foreign), foreign],
      ["an application without a pool", tokenOf(pool, key, org.batch), org.batch],
      ["the organisation's name", tokenOf(pool, key, client, { iss: org.issuer }), client],
      ["the other pool's name", tokenOf(another, key, client), client],
      ["an ID token", tokenOf(pool, key, client, {}, { typ: "JWT" }), client],
      ["an unknown header", tokenOf(pool, key, client, {}, { crit: ["x"], x: 1 }), client],
      ["an embedded key", tokenOf(pool, key, client, {}, { jwk: key.publicJwk }), client],
      ["another algorithm", tokenOf(pool, key, client, {}, { alg: "HS256" }), client],
      ["no algorithm", tokenOf(pool, key, client, {}, { alg: "none" }), client],
      ["a stranger's key", tokenOf(pool, newAgentKey("ES256"), client), client],
      ["a stranger's signature", tokenOf(pool, { ...newAgentKey("ES256"), kid: key.kid }, client), client],
      ["an end that has come", tokenOf(pool, key, client, { exp: Math.floor(clock() / 1000) }), client],
      ["another spelling", `${tokenOf(pool, key, client)}=`, client],
    ];
    for (const [what, token, asking] of cases) assert.equal(await isActive(token, asking), false, what);
    // The application moves on: what another pool's agents sign for it counts no more.
    const token = tokenOf(pool, key, client);
    const moved = { orgId: org.organisation.id, id: client.application.id, actor: "test" };
    await changeApplication(running.service, moved, ({ name, settings }) => ({
      name,
      settings: { ...settings, signingPoolId: another.id },
      disabled: false,
    }));
    assert.equal(await isActive(token, client), false);
  });

  test("tokens with invented claims are inactive", async () => {
    const pool = await makePool(running.service, org);
    const { keys } = await makeAgent(running.service, org, pool);
    const client = await clientOf(pool);
    const [key] = keys;
    assert.ok(key);
    const now = Math.floor(clock() / 1000);
    const madeUp: readonly object[] = [
      { exp: String(now + 600) },
      { exp: "never" },
      { exp: undefined },
      { exp: 1e300 },
      { exp: now + 600.5 },
      { exp: now + 3601 },
      { iat: now + 61, exp: now + 661 },
      { iat: undefined },
      { jti: 5 },
      { jti: undefined },
      { sub: undefined },
      { sub: org.user.id },
      { aud: { api: true } },
      { aud: [client.application.id, 1] },
      { scope: ["openid"] },
      { client_id: [client.application.id] },
    ];
    for (const claims of madeUp) {
      const token = tokenOf(pool, key, client, claims);
      assert.equal(await isActive(token, client), false, JSON.stringify(claims));
      const form = { token, ...credentials(client) };
      assert.equal((await postForm(`${org.issuer}/revoke`, form)).status, 200, JSON.stringify(claims));
      const { status } = await sendRaw(`${org.issuer}/userinfo`, {
        headers: { authorization: `Bearer ${token}` },
      });
      assert.equal(status, 401, JSON.stringify(claims));
    }
  });

  test("an agent can't sign for a user without a session at the application", async () => {
    const pool = await makePool(running.service, org);
    const { keys } = await makeAgent(running.service, org, pool);
    const settings = { redirectUris: [REDIRECT_URI], signingPoolId: pool.id };
    const client = await makeClient(running.service, org.organisation, settings);
    const [key] = keys;
    assert.ok(key);
    const source = codeSource(org);
    const elsewhere = payloadOf((await source.tokens()).accessToken)["jti"];
    const other = await withUser(running.service, org, "other@acme.example");
    const userinfo = async (claims: object) => {
      const token = tokenOf(pool, key, client, { scope: "openid email", ...claims });
      const headers = { authorization: `Bearer ${token}` };
      return (await sendRaw(`${org.issuer}/userinfo`, { headers })).status;
    };
    assert.equal(await userinfo({ sub: org.user.id, jti: elsewhere }), 401, "another application's sign-in");
    const { id: applicationId } = client.application;
    const { database } = running.service;
    // As if the agent had signed for this one before.
    await sql`update token_family set application_id = ${applicationId}`.execute(database.query);
    assert.equal(await userinfo({ sub: org.user.id, jti: elsewhere }), 200);
    assert.equal(await userinfo({ sub: other.user.id, jti: elsewhere }), 401, "another person's sign-in");
  });

  test("an agent can't widen the scope beyond what was granted", async () => {
    const pool = await makePool(running.service, org);
    const agent = await makeAgent(running.service, org, pool);
    const client = await makeClient(running.service, org.organisation, {
      ...{ redirectUris: [REDIRECT_URI], signingPoolId: pool.id },
      allowedScopes: ["openid", "email", "phone"],
    });
    const [key] = agent.keys;
    assert.ok(key);
    const serving = agent.serve();
    const source = codeSource(org);
    const granted = await source.tokens({ scope: "openid" }, client).finally(() => serving.stop());
    const { jti } = payloadOf(granted.accessToken);
    const widened = (scope: string) => tokenOf(pool, key, client, { sub: org.user.id, jti, scope });
    const token = widened("openid email phone profile");
    const userinfo = (bearer: string) =>
      sendRaw(`${org.issuer}/userinfo`, { headers: { authorization: `Bearer ${bearer}` } });
    const { status, body } = await userinfo(token);
    assert.deepEqual([status, body], [200, { sub: org.user.id }]);
    assert.equal((await userinfo(widened("email phone"))).status, 403, "nothing of it was granted");
    const { body: described } = await postForm(`${org.issuer}/introspect`, { token, ...credentials(client) });
    assert.deepEqual([described["active"], described["scope"]], [true, "openid"]);
    const own = tokenOf(pool, key, client, { scope: "email offline_access" });
    const { body: ofClient } = await postForm(`${org.issuer}/introspect`, {
      ...{ token: own, ...credentials(client) },
    });
    assert.deepEqual([ofClient["active"], ofClient["scope"]], [true, "email"], "what the client may have");
  });

  test("returns 404 for an unknown pool or another organisation's", async () => {
    const other = await makeOrganisation(running.service, `Other${randomUUID().slice(0, 4)}`);
    const pool = await makePool(running.service, other);
    for (const id of [pool.id, randomUUID(), "x"])
      for (const path of ["jwks.json", ".well-known/openid-configuration"])
        assert.equal((await sendRaw(`${org.issuer}/sovereign/pools/${id}/${path}`, {})).status, 404);
  });
});
