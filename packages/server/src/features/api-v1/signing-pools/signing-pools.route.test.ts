import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { listAuditEvents } from "../../../core/audit/audit.store.ts";
import { findPool } from "../../../core/signing-pools/signing-pool.store.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { makeAgent, newAgentKey, presentedKey, testAgent } from "../../../testing/fixtures/agent.ts";
import { type ApiClient, makeApiClient } from "../../../testing/fixtures/api-client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let api: ApiClient;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    api = await makeApiClient(running.service, org, ["signet:pools:write"]);
  });
  after(async () => {
    assert.deepEqual(running.errors, []);
    await running.close();
  });

  const settings = { name: "Main", algs: ["ES256"], maxTokenLifetimeSeconds: 600, keyPublishDelaySeconds: 0 };
  const newPool = async (more: object = {}) => {
    const { status, body } = await api.call("POST", "/pools", { body: { ...settings, ...more } });
    assert.equal(status, 201, JSON.stringify(body));
    const pool = await findPool(running.service.database.query, org.organisation.id, String(body["id"]));
    assert.ok(pool);
    return { pool, body, path: `/pools/${pool.id}` };
  };
  const register = async (pool: SigningPool) => {
    const key = newAgentKey("ES256");
    const keys = [presentedKey(running.service, pool, key)];
    const { status, body } = await api.call("POST", "/agents", {
      body: { poolId: pool.id.toUpperCase(), name: "agent-1", keys },
    });
    assert.equal(status, 201, JSON.stringify(body));
    const identity = { agentId: String(body["id"]), poolId: pool.id, apiKey: String(body["apiKey"]) };
    const agent = testAgent({ ...identity, keys: [key] }, org.issuer);
    return { agent, body, key, path: `/agents/${body["id"]}` };
  };
  const stateOf = (body: Record<string, unknown>) =>
    (body["keys"] as Array<Record<string, unknown>>).map(({ id, state }) => [id, state]);
  const publishedKids = async ({ body }: { body: Record<string, unknown> }) => {
    const jwks = (await (await fetch(String(body["jwksUri"]))).json()) as { keys: Array<{ kid: string }> };
    return jwks.keys.map(({ kid }) => kid);
  };

  test("a pool is made, changed with its entity tag, disabled and deleted", async () => {
    const { body, path, pool } = await newPool({ issuerMode: "organisation", enabled: false });
    assert.deepEqual([body["issuer"], body["enabled"], body["maxPending"]], [org.issuer, false, 500]);
    assert.equal(body["jwksUri"], `${org.issuer}/sovereign/pools/${pool.id}/jwks.json`);
    const read = await api.call("GET", path);
    assert.deepEqual(read.body, body);
    const etag = String(read.headers.get("etag"));
    const change = (sent: object, tag?: string) =>
      api.call("PATCH", path, { body: sent, headers: tag === undefined ? {} : { "if-match": tag } });
    const changed = await change({ maxPending: 7, enabled: true, tokenWaitSeconds: 3 }, etag);
    assert.deepEqual(
      [changed.body["maxPending"], changed.body["enabled"], changed.body["tokenWaitSeconds"]],
      [7, true, 3],
    );
    assert.equal((await change({ name: "Other" }, etag)).status, 412);
    const reset = await change({ maxPending: null, tokenWaitSeconds: null });
    assert.deepEqual([reset.body["maxPending"], reset.body["tokenWaitSeconds"]], [500, 8]);
    const { updatedAt: _, ...same } = (await change({ name: "Main" })).body;
    assert.deepEqual(same, { ...same, name: "Main" });
    assert.equal((await api.call("DELETE", path, { headers: { "if-match": etag } })).status, 412);
    assert.equal((await api.call("DELETE", path)).status, 204);
    assert.equal((await api.call("GET", path)).status, 404);
    const told = await listAuditEvents(running.service.database.query, org.organisation.id, 50);
    assert.deepEqual(
      told
        .filter(({ target }) => target === pool.id)
        .map(({ action, actor }) => [action.replace("signing-pool.", ""), actor])
        .reverse(),
      ["created", "disabled", "changed", "enabled", "changed", "deleted"].map((action) => [
        action,
        `client:${api.application.id}`,
      ]),
    );
  });

  test("a fault names its member", async () => {
    const { pool, path } = await newPool();
    const keys = [presentedKey(running.service, pool, newAgentKey("ES384"))];
    const { agentId } = await makeAgent(running.service, org, pool);
    const agent = { poolId: pool.id, name: "a", keys };
    const [presented] = keys;
    const secret = { ...presented, jwk: { ...presented?.jwk, d: "x" } };
    const wrong = presentedKey(running.service, { ...pool, id: agentId }, newAgentKey("ES256"));
    for (const [method, at, body, fault] of [
      ["POST", "/pools", { ...settings, name: "" }, "/name"],
      ["POST", "/pools", { ...settings, algs: ["HS256"] }, "/algs"],
      ["POST", "/pools", { ...settings, tokenWaitSeconds: 60 }, "/tokenWaitSeconds"],
      ["POST", "/pools", { ...settings, trustedRoots: ["x"] }, "/trustedRoots/0"],
      ["PATCH", path, { requireX5c: true }, "/requireX5c"],
      ["PATCH", path, { algs: null }, "/algs"],
      ["POST", "/agents", agent, "/keys/0"],
      ["POST", "/agents", { ...agent, poolId: agentId }, "/poolId"],
      ["POST", "/agents", { ...agent, keys: [wrong] }, "/keys/0/pop"],
      ["POST", `/agents/${agentId}/keys`, wrong, "/pop"],
      ["POST", `/agents/${agentId}/keys`, secret, ""],
      ["POST", `/agents/${agentId}/keys`, { ...wrong, jwk: { kty: "oct" } }, "/jwk"],
    ] as const) {
      const { status, body: refusal } = await api.call(method, at, { body });
      const [first] = (refusal["errors"] ?? []) as Array<{ path: string }>;
      assert.deepEqual([status, first?.path], [422, fault], `${at} ${JSON.stringify(refusal)}`);
    }
  });

  test("nobody adds a key that could sign for a client with more scopes than the caller has", async () => {
    const { pool } = await newPool();
    const { path } = await register(pool);
    await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["signet:users:write"],
      signingPoolId: pool.id,
    });
    const more = await makeApiClient(running.service, org, ["signet:pools:write", "signet:users:write"]);
    for (const [by, agent, key] of [
      [api, 403, 403],
      [more, 201, 201],
    ] as const) {
      const presented = () => presentedKey(running.service, pool, newAgentKey("ES256"));
      const body = { poolId: pool.id, name: "agent-2", keys: [presented()] };
      const made = await by.call("POST", "/agents", { body });
      assert.equal(made.status, agent);
      if (agent === 403) assert.equal(made.body["type"], "urn:signet:error:exceeds-caller");
      assert.equal((await by.call("POST", `${path}/keys`, { body: presented() })).status, key);
    }
    const { pool: other } = await newPool();
    await register(other);
  });

  test("a pool that an application is assigned to stays", async () => {
    const { pool, path } = await newPool();
    await makeClient(running.service, org.organisation, { signingPoolId: pool.id });
    const { status, body } = await api.call("DELETE", path);
    assert.deepEqual([status, body["type"]], [409, "urn:signet:error:conflict"]);
  });

  test("an agent is registered, works by its API key, and is deactivated", async () => {
    const { pool, body: shown } = await newPool();
    const { agent, body, key, path } = await register(pool);
    assert.match(agent.apiKey, /^sgn_ak_[\w-]{43}$/);
    assert.deepEqual(stateOf(body), [[key.kid, "active"]]);
    assert.deepEqual(await publishedKids({ body: shown }), [key.kid]);
    const { apiKey: _, ...record } = body;
    const read = await api.call("GET", path);
    assert.deepEqual(read.body, record);
    assert.equal((await agent.call("queue?wait=0")).status, 200);
    const seen = await api.call("GET", path);
    assert.notEqual(seen.body["lastSeenAt"], null);
    assert.equal(seen.headers.get("etag"), read.headers.get("etag"), "being seen changes no tag");
    const stale = await api.call("POST", `${path}/deactivate`, { headers: { "if-match": '"other"' } });
    assert.equal(stale.status, 412);
    for (let time = 0; time < 2; time++) {
      const ended = await api.call("POST", `${path}/deactivate`);
      assert.deepEqual([ended.status, ended.body["state"]], [200, "deactivated"]);
    }
    assert.equal((await agent.call("queue?wait=0")).status, 401);
    assert.deepEqual(await publishedKids({ body: shown }), [key.kid], "its tokens stay valid");
    const lost = await api.call("POST", `${path}/compromise`);
    assert.deepEqual([lost.body["state"], stateOf(lost.body)], ["compromised", [[key.kid, "compromised"]]]);
    const again = presentedKey(running.service, pool, key);
    const other = await register(pool);
    const refused = await api.call("POST", `${other.path}/keys`, { body: again });
    assert.deepEqual([refused.status, refused.body["type"]], [409, "urn:signet:error:conflict"]);
  });

  test("a key that is added takes over from the one of its algorithm, and is retired alone", async () => {
    const { pool } = await newPool({ algs: ["ES256", "EdDSA"] });
    const { path, key } = await register(pool);
    const add = async (alg: "ES256" | "EdDSA") => {
      const added = newAgentKey(alg);
      const sent = { body: presentedKey(running.service, pool, added) };
      const { status, body, headers } = await api.call("POST", `${path}/keys`, sent);
      assert.deepEqual([status, body["id"], body["state"]], [201, added.kid, "active"]);
      assert.ok(headers.get("location")?.endsWith(`${path}/keys/${added.kid}`));
      return added.kid;
    };
    const [second, other] = [await add("ES256"), await add("EdDSA")];
    const states = async () =>
      new Map(stateOf((await api.call("GET", path)).body) as Array<[string, string]>);
    const before = await states();
    assert.deepEqual(
      [before.get(key.kid), before.get(second), before.get(other)],
      ["retiring", "active", "active"],
    );
    const retire = (headers: Record<string, string> = {}) =>
      api.call("DELETE", `${path}/keys/${second}`, { headers });
    assert.equal((await retire({ "if-match": '"other"' })).status, 412);
    for (let time = 0; time < 2; time++) assert.equal((await retire()).status, 204);
    const after = await states();
    assert.deepEqual([after.get(second), after.get(other)], ["retiring", "active"]);
    const neighbour = await register(pool);
    assert.equal((await api.call("DELETE", `${neighbour.path}/keys/${other}`)).status, 404);
    assert.equal((await states()).get(other), "active");
  });

  test("a repeated registration is one agent, and shows its API key once", async () => {
    const { pool } = await newPool();
    const keys = [presentedKey(running.service, pool, newAgentKey("ES256"))];
    const body = { poolId: pool.id, name: "Once", keys };
    const headers = { "idempotency-key": crypto.randomUUID() };
    const ask = () => api.call("POST", "/agents", { body, headers });
    const [first, again] = [await ask(), await ask()];
    assert.deepEqual([again.status, again.body["id"], again.body["apiKey"]], [201, first.body["id"], null]);
  });

  test("lists are filtered and hold the organisation's own alone", async () => {
    const other = await makeOrganisation(running.service, "Beta");
    const reader = await makeApiClient(running.service, other, ["signet:pools:read"]);
    const { pool } = await newPool({ name: "Listed" });
    const [one, two] = [await register(pool), await register(pool)];
    await api.call("POST", `${two.path}/deactivate`);
    const ids = async (path: string, filter: string, by = api) => {
      const { status, body } = await by.call("GET", `${path}?filter=${encodeURIComponent(filter)}`);
      assert.equal(status, 200, JSON.stringify(body));
      return (body["items"] as Array<{ id: string }>).map(({ id }) => id);
    };
    assert.deepEqual(await ids("/pools", 'name eq "listed" and maxPending gt 1'), [pool.id]);
    const ofPool = `poolId eq "${pool.id}"`;
    assert.deepEqual(await ids("/agents", ofPool), [one.body["id"], two.body["id"]]);
    assert.deepEqual(await ids("/agents", `${ofPool} and state eq "active"`), [one.body["id"]]);
    const [listed] = (
      await api.call("GET", `/agents?filter=${encodeURIComponent(`${ofPool} and not (deactivatedAt pr)`)}`)
    ).body["items"] as unknown[];
    assert.deepEqual(listed, (await api.call("GET", one.path)).body);
    for (const path of ["/pools", "/agents"]) assert.deepEqual(await ids(path, "id pr", reader), []);
  });
});
