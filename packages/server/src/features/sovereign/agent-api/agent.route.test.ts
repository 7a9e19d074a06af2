/** The agent endpoints over HTTP: who may call them, what they refuse, and what they answer (sovereign-signing.md §5). */
import assert from "node:assert/strict";
import { createHmac, createPublicKey } from "node:crypto";
import { after, before, test } from "node:test";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import {
  type Claimed,
  makeAgent,
  makePool,
  newAgentKey,
  setTokenWait,
  signedWith,
  type TestAgent,
  testAgent,
} from "../../../testing/fixtures/agent.ts";
import { type Answer, credentials, postForm } from "../../../testing/fixtures/client.ts";
import { makeDirectory } from "../../../testing/fixtures/directory.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { deactivateAgent } from "../admin-api/agents.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let pool: SigningPool;
  let agent: TestAgent;
  let batch: TestClient;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({
      databaseUrl: await fresh(),
      clock,
      env: { SIGNET_RATE_LIMITS: "agent-key-address=6/60" },
    });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org, { tokenWaitSeconds: 0, algs: ["ES256", "EdDSA"] });
    agent = await makeAgent(running.service, org, pool);
    await agent.call("queue");
    batch = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      signingPoolId: pool.id,
    });
  });
  after(() => running.close());
  const refused = ({ status, body, headers }: Answer, expected: number, error: string) => {
    assert.deepEqual([status, body["error"]], [expected, error], JSON.stringify(body));
    assert.equal(typeof body["error_description"], "string");
    assert.equal(headers.get("cache-control"), "no-store");
  };
  const ask = () =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(batch) });
  /** A request that nobody waits for any more. */
  const claimed = async (): Promise<Claimed> => {
    assert.equal((await ask()).status, 503);
    return (await agent.claim()) ?? assert.fail("nothing to claim");
  };
  const lease = ({ requestId, leaseToken }: Claimed) => ({ requestId, leaseToken });
  const submit = (one: Claimed, token: string, by = agent) =>
    by.call("sign", { ...lease(one), jwts: { access_token: token } });
  const inputOf = ({ tokens: [token] }: Claimed) => `${token?.protected}.${token?.payload}`;

  test("an agent sees the roles and permissions in what it signs", async () => {
    const directory = await makeDirectory(running.service, org.organisation.id);
    const robot = await makeClient(running.service, org.organisation, {
      grantTypes: ["client_credentials"],
      allowedScopes: ["roles", "permissions"],
      signingPoolId: pool.id,
    });
    const role = await directory.role(robot.application.id, "robot", ["meter:read"]);
    await directory.assign(role, "application", robot.application.id);
    const form = { grant_type: "client_credentials", ...credentials(robot) };
    assert.equal((await postForm(`${org.issuer}/token`, form)).status, 503);
    const request = (await agent.claim()) ?? assert.fail("nothing to claim");
    const [token] = request.tokens;
    const claims = JSON.parse(Buffer.from(token?.payload ?? "", "base64url").toString());
    assert.deepEqual([claims.roles, claims.permissions], [["robot"], ["meter:read"]]);
    await agent.call("reject", { ...lease(request), reason: "only looked at" });
  });

  test("the queue poll returns pending requests immediately, or waits", async () => {
    const started = performance.now();
    const empty = await agent.call("queue?wait=1");
    assert.ok(performance.now() - started > 900);
    const { serverTime, ...lists } = empty.body;
    assert.equal(serverTime, clock());
    assert.deepEqual(lists, { pending: [], responses: [], renewed: [], lost: [] });
    const waiting = agent.call("queue?wait=25");
    await ask();
    const [pending] = (await waiting).body["pending"] as Array<Record<string, unknown>>;
    const { requestId, expiresIn, ...told } = pending ?? {};
    assert.deepEqual(told, {
      grantType: "client_credentials",
      clientId: batch.application.id,
      interactive: false,
      attempts: 0,
    });
    assert.ok(typeof expiresIn === "number" && expiresIn > 55 && expiresIn <= 60);
    const none = await agent.call("queue?max=0");
    assert.deepEqual(none.body["pending"], []);
    const one = await agent.claim({ requestId: String(requestId) });
    const renewing = await agent.call(`queue?max=0&renew=${requestId},gone`);
    assert.deepEqual(renewing.body["renewed"], [{ requestId, leaseSeconds: 30 }]);
    assert.deepEqual(renewing.body["lost"], ["gone"]);
    await agent.reject(one ?? assert.fail(), "policy_denied");
  });

  test("a claim includes the policy context, and a held claim gets the next request", async () => {
    const holding = agent.claim({ wait: 25 });
    await ask();
    const one = (await holding) ?? assert.fail("nothing came");
    assert.deepEqual(one.context, {
      issuer: `${org.issuer}/sovereign/pools/${pool.id}`,
      clientId: batch.application.id,
      clientName: "Web",
      grantType: "client_credentials",
      scope: ["jobs:run"],
      sub: batch.application.id,
      ip: "127.0.0.1",
      ...{ securityProfile: "none", binding: null, resources: [], authorizationDetails: [] },
      ...{ actor: null, workload: null, clientSource: "registered", requestSigned: null },
      ...{ authTime: null, amr: [], parentRequestId: null },
    });
    assert.deepEqual(
      one.tokens.map(({ use, kid, alg }) => ({ use, kid, alg })),
      [{ use: "access_token", kid: agent.keys[0]?.kid, alg: "ES256" }],
    );
    const header = JSON.parse(Buffer.from(one.tokens[0]?.protected ?? "", "base64url").toString());
    assert.deepEqual(header, { alg: "ES256", typ: "at+jwt", kid: agent.keys[0]?.kid });
    assert.deepEqual((await agent.sign(one)).body, { requestId: one.requestId, status: "signed" });
    assert.equal((await agent.sign(one)).status, 200, "its answer may have been lost");
    assert.equal((await ask()).status, 200);
    refused(await agent.reject(one, "policy_denied"), 409, "already_final");
    assert.equal((await agent.call("claim", { kids: [agent.keys[0]?.kid] })).status, 204);
  });

  test("rejects unknown API keys, and rate-limits failures", async () => {
    const by = { orgId: org.organisation.id, actor: "test" };
    const gone = await makeAgent(running.service, org, pool);
    await deactivateAgent({ ...running.service, baseUrl: running.baseUrl }, by, {
      agentId: gone.agentId,
      compromised: false,
    });
    const other = await makeOrganisation(running.service, "Other");
    const elsewhere = testAgent(agent, other.issuer);
    const without = await agent.call("queue", undefined, { authorization: "" });
    refused(without, 401, "invalid_token");
    assert.match(without.headers.get("www-authenticate") ?? "", /^Bearer/);
    refused(
      await agent.call("queue", undefined, { authorization: `Basic ${agent.apiKey}` }),
      401,
      "invalid_token",
    );
    refused(
      await agent.call("claim", {}, { authorization: `Bearer ${agent.apiKey}x` }),
      401,
      "invalid_token",
    );
    refused(await gone.call("queue"), 401, "invalid_token");
    refused(await elsewhere.call("queue"), 401, "invalid_token");
    const guess = () => agent.call("sign", {}, { authorization: "Bearer sgn_ak_x" });
    for (let more = 0; more < 4; more++) refused(await guess(), 401, "invalid_token");
    const limited = await guess();
    refused(limited, 429, "temporarily_unavailable");
    assert.ok(Number(limited.headers.get("retry-after")) > 0);
    refused(await agent.call("queue", undefined, { authorization: "" }), 401, "invalid_token");
    assert.equal((await agent.call("queue")).status, 200, "the right key still works");
    clock.advance(61_000);
    await agent.call("queue");
  });

  test("malformed calls get a client error", async () => {
    const bad: Array<[string, unknown]> = [
      ["claim", "{"],
      ["claim", "[]"],
      ["claim", {}],
      ["claim", { kids: [] }],
      ["claim", { kids: [7] }],
      ["claim", { kids: ["k"], wait: 26 }],
      ["claim", { kids: ["k"], wait: "1" }],
      ["sign", { leaseToken: "x" }],
      ["challenge", { requestId: "r", leaseToken: "l", challengeId: "c", type: "sms", prompt: "p", ttl: 5 }],
      [
        "challenge",
        { requestId: "r", leaseToken: "l", challengeId: "c", type: "pin", prompt: "p".repeat(201), ttl: 5 },
      ],
      ["challenge", { requestId: "r", leaseToken: "l", challengeId: "c", type: "pin", prompt: "p", ttl: 0 }],
      [
        "challenge",
        { requestId: "r", leaseToken: "l", challengeId: "c", type: "number_match", prompt: "p", ttl: 5 },
      ],
      [
        "challenge",
        { requestId: "r", leaseToken: "l", challengeId: "c", type: "webauthn", prompt: "p", ttl: 5 },
      ],
      ["reject", { requestId: "r", leaseToken: "l", reason: "tired" }],
      ["reject", { requestId: "r\u0000", leaseToken: "l", reason: "policy_denied" }],
    ];
    for (const [name, body] of bad) refused(await agent.call(name, body), 400, "invalid_request");
    const many = `renew=${Array.from({ length: 51 }, (_, one) => `r-${one}`)}`;
    const tooMany = [many, many.replace("renew", "known")];
    for (const query of ["wait=26", "wait=x", "max=51", "max=-1", "wait=1&wait=1", ...tooMany])
      refused(await agent.call(`queue?${query}`), 400, "invalid_request");
    refused(await agent.call("claim", "x".repeat(65 * 1024)), 413, "invalid_request");
    refused(await agent.call("claim", "kids=k", { "content-type": "text/plain" }), 415, "invalid_request");
    refused(await agent.call("sign", { requestId: "r", leaseToken: "l" }), 404, "not_found");
    refused(await agent.call("claim", { kids: ["another"] }), 422, "no_usable_key");
    refused(await agent.call("claim", { kids: [agent.keys[0]?.kid], requestId: "r" }), 404, "not_found");
  });

  const wrong: Array<[string, string, (one: Claimed) => string]> = [
    ["an altered byte", "bytes_mismatch", (one) => `A${agent.signatures(one)["access_token"]?.slice(1)}`],
    ["alg none", "bad_encoding", (one) => `${encoded({ alg: "none" })}.${one.tokens[0]?.payload}.`],
    ["no signature", "bad_encoding", (one) => `${inputOf(one)}.`],
    ["four parts", "bad_encoding", (one) => `${agent.signatures(one)["access_token"]}.x`],
    ["another key", "bad_signature", (one) => signedWith(newAgentKey("ES256"), inputOf(one))],
    [
      "HMAC with the public key",
      "bad_signature",
      (one) =>
        `${inputOf(one)}.${createHmac("sha256", publicPem(agent)).update(inputOf(one)).digest("base64url")}`,
    ],
    ["padding", "bad_encoding", (one) => `${agent.signatures(one)["access_token"]}=`],
    ["another spelling", "bad_encoding", (one) => otherSpelling(agent.signatures(one)["access_token"] ?? "")],
  ];
  for (const [what, reason, make] of wrong)
    test(`rejects ${what} as ${reason}`, async () => {
      const one = await claimed();
      const answer = await submit(one, make(one));
      await agent.sign(one);
      assert.equal((await ask()).status, 200);
      refused(answer, 422, "invalid_signed_jwt");
      assert.equal(answer.body["reason"], reason);
    });

  test("rejects a missing token, a foreign lease, an expired lease and the third bad submission", async () => {
    const one = await claimed();
    const missing = await agent.call("sign", lease(one));
    assert.deepEqual([missing.status, missing.body["reason"]], [422, "missing_token"]);
    const second = await makeAgent(running.service, org, pool);
    refused(
      await submit(one, signedWith(agent.keys[0] ?? assert.fail(), inputOf(one)), second),
      409,
      "lease_lost",
    );
    refused(
      await agent.call("claim", { kids: [agent.keys[0]?.kid], requestId: one.requestId }),
      409,
      "not_claimable",
    );
    clock.advance(31_000);
    refused(await agent.sign(one), 409, "lease_lost");
    const again = (await agent.claim()) ?? assert.fail("it was not given back");
    assert.equal(again.requestId, one.requestId);
    assert.notEqual(again.tokens[0]?.payload, one.tokens[0]?.payload, "made anew");
    for (const token of ["x", ""]) await submit(again, token);
    refused(await agent.sign(again), 409, "already_final");
  });

  test("hides the requests of other pools", async () => {
    const otherPool = await makePool(running.service, org, { name: "Other" });
    const stranger = await makeAgent(running.service, org, otherPool);
    const one = await claimed();
    refused(await stranger.call("sign", { ...lease(one), jwts: {} }), 404, "not_found");
    refused(await stranger.call("reject", { ...lease(one), reason: "policy_denied" }), 404, "not_found");
    const kids = stranger.keys.map(({ kid }) => kid);
    refused(await stranger.call("claim", { kids, requestId: one.requestId }), 404, "not_found");
    assert.equal(await stranger.claim(), undefined);
    await agent.reject(one, "policy_denied");
  });

  test("a shutdown ends held calls", async () => {
    const node = await startTestService({ databaseUrl: await fresh() });
    const there = await makeOrganisation(node.service);
    const waiting = await makeAgent(node.service, there, await makePool(node.service, there));
    await setTokenWait(node.service, pool, 1);
    await waiting.call("queue");
    let calls = 0;
    const arrived = new Promise<void>((resolve) =>
      node.app.server.on("request", () => {
        calls += 1;
        if (calls === 2) resolve();
      }),
    );
    const held = Promise.all([waiting.call("queue?wait=25"), waiting.claim({ wait: 25 })]);
    await arrived;
    const started = performance.now();
    await node.close();
    const [queue, claim] = await held;
    assert.deepEqual([queue.status, claim], [200, undefined]);
    assert.ok(performance.now() - started < 20_000, "long before their time is over");
  });
});

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

const publicPem = ({ keys: [key] }: TestAgent) =>
  createPublicKey(key?.privateKey ?? assert.fail()).export({ type: "spki", format: "pem" });

/** The same bytes, as Node's decoder reads them: the last character's unused bits are set. */
function otherSpelling(token: string): string {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const last = letters.indexOf(token.at(-1) ?? "A");
  return `${token.slice(0, -1)}${letters[last + 1] ?? "B"}`;
}
