/** Several requests in one call of an agent, beside agents that know of one at a time only. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { after, before, test } from "node:test";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import {
  type Claimed,
  makeAgent,
  makePool,
  setTokenWait,
  type TestAgent,
} from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import {
  makeClient,
  makeOrganisation,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let pool: SigningPool;
  let agent: TestAgent;
  /** Requests of several clients never join each other, however late one comes. */
  let batches: readonly TestClient[];
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org, { tokenWaitSeconds: 0 });
    agent = await makeAgent(running.service, org, pool);
    await agent.call("queue");
    const settings = {
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
      signingPoolId: pool.id,
    } as const;
    const made = Array.from({ length: 5 }, () => makeClient(running.service, org.organisation, settings));
    batches = await Promise.all(made);
  });
  after(() => running.close());
  const ask = (at = 0) => {
    const client = batches[at] ?? assert.fail("there are not so many clients");
    return postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(client) });
  };
  /** Of the first clients one request each. */
  const askEach = async (count: number) => {
    const answers = await Promise.all(Array.from({ length: count }, (_, at) => ask(at)));
    return answers.map(({ status }) => status);
  };
  /** Requests that nobody waits for. */
  const leave = async (count: number) =>
    assert.deepEqual(
      await askEach(count),
      Array.from({ length: count }, () => 503),
    );
  const pending = async () => ((await agent.call("queue?max=50")).body["pending"] as object[]).length;
  const results = (answer: { body: Record<string, unknown> }) =>
    answer.body["results"] as Array<Record<string, unknown>>;
  const next = (answer: { body: Record<string, unknown> }) => answer.body["requests"] as Claimed[];

  test("claims several, signs them in one call, and gets the next with the answer", async () => {
    await leave(5);
    assert.equal(await pending(), 5);
    const held = await agent.claimSeveral(1);
    assert.equal(held.length, 1);
    const first = await agent.signSeveral(held, 32);
    assert.equal(first.status, 200);
    assert.equal(first.headers.get("cache-control"), "no-store");
    assert.deepEqual(results(first), [{ requestId: held[0]?.requestId, status: "signed" }]);
    assert.equal(next(first).length, 4);
    assert.deepEqual(Object.keys(next(first)[0] ?? {}).toSorted(), Object.keys(held[0] ?? {}).toSorted());
    const second = await agent.signSeveral(next(first));
    assert.deepEqual([...new Set(results(second).map(({ status }) => status))], ["signed"]);
    assert.deepEqual(next(second), []);
    assert.deepEqual([await agent.claimSeveral(4), await agent.claim()], [[], undefined]);
    assert.deepEqual(await askEach(5), [200, 200, 200, 200, 200]);
  });

  test("an agent that knows of one at a time works beside one that takes several", async () => {
    const old = await makeAgent(running.service, org, pool);
    await setTokenWait(running.service, pool, 15);
    const stopped = new AbortController();
    const takesSeveral = async () => {
      let held: readonly Claimed[] = [];
      while (!stopped.signal.aborted) {
        if (held.length === 0) held = await agent.claimSeveral(4, { wait: 1 });
        if (held.length > 0) held = next(await agent.signSeveral(held, 4));
      }
    };
    const several = takesSeveral();
    const { stop } = old.serve();
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask()));
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
    assert.equal(new Set(answers.map(({ body }) => body["access_token"])).size, 40);
    stopped.abort();
    await Promise.all([several, stop(), setTokenWait(running.service, pool, 0)]);
  });

  test("says of each signature what is wrong with it", async () => {
    await leave(3);
    const held = await agent.claimSeveral(3);
    const [good, bad, foreign] = held;
    assert.ok(good && bad && foreign);
    const lease = ({ requestId, leaseToken }: Claimed) => ({ requestId, leaseToken });
    const answer = await agent.call("sign", {
      signatures: [
        { ...lease(good), jwt: agent.signatures(good)["access_token"] },
        { ...lease(bad), jwts: { access_token: "x.y.z" } },
        { ...lease(foreign), leaseToken: "another", jwts: agent.signatures(foreign) },
        { requestId: "none", leaseToken: "none", jwts: {} },
      ],
    });
    assert.equal(answer.status, 200);
    const told = results(answer).map(({ requestId, status, error, reason, error_description }) => {
      assert.equal(typeof error_description, error === undefined ? "undefined" : "string");
      return [requestId, status ?? error, reason];
    });
    assert.deepEqual(told, [
      [good.requestId, "signed", undefined],
      [bad.requestId, "invalid_signed_jwt", "bytes_mismatch"],
      [foreign.requestId, "lease_lost", undefined],
      ["none", "not_found", undefined],
    ]);
    const rest = await agent.signSeveral([good, bad, foreign]);
    assert.deepEqual([...new Set(results(rest).map(({ status }) => status))], ["signed"]);
    assert.deepEqual(await askEach(3), [200, 200, 200]);
  });

  test("a held claim of several gets what comes, and one that hangs up gets nothing", async () => {
    const holding = agent.claimSeveral(8, { wait: 25 });
    await leave(1);
    const held = await holding;
    assert.equal(held.length, 1);
    await agent.signSeveral(held);
    assert.equal((await ask()).status, 200);
    const kids = agent.keys.map(({ kid }) => kid);
    const gone = new AbortController();
    const arrived = once(running.app.server, "request");
    const heard = fetch(`${org.issuer}/sovereign/agent/claim?max=8`, {
      method: "POST",
      headers: { authorization: `Bearer ${agent.apiKey}`, "content-type": "application/json" },
      body: JSON.stringify({ kids, wait: 25 }),
      signal: gone.signal,
    }).catch(() => undefined);
    const [, response] = (await arrived) as [unknown, ServerResponse];
    const closed = once(response, "close");
    gone.abort();
    await Promise.all([heard, closed]);
    await leave(1);
    let claimed: readonly Claimed[] = [];
    await eventually("it is there for the next claim", async () => {
      claimed = await agent.claimSeveral(8);
      return claimed.length > 0;
    });
    const signed = results(await agent.signSeveral(claimed)).map(({ status }) => status);
    assert.deepEqual(signed, ["signed"]);
    assert.equal((await ask()).status, 200);
  });

  test("malformed batches get a client error", async () => {
    const kids = agent.keys.map(({ kid }) => kid);
    const signature = { requestId: "r", leaseToken: "l", jwts: {} };
    const bad: Array<[string, unknown]> = [
      ["claim?max=0", { kids }],
      ["claim?max=33", { kids }],
      ["claim?max=x", { kids }],
      ["claim?max=1&max=2", { kids }],
      ["claim?max=2", { kids, requestId: "r" }],
      ["claim", { kids, max: 2 }],
      ["sign", { signatures: [] }],
      ["sign", { signatures: {} }],
      ["sign", { signatures: Array.from({ length: 33 }, () => signature) }],
      ["sign", { signatures: [{ ...signature, requestId: 7 }] }],
      ["sign", { signatures: [{ ...signature, more: 1 }] }],
      ["sign", { signatures: [signature], requestId: "r" }],
      ["sign", { signatures: [signature], claim: { kids } }],
      ["sign", { signatures: [signature], claim: { kids: [], max: 1 } }],
      ["sign", { signatures: [signature], claim: { kids, max: 33 } }],
      ["sign", { signatures: [signature], claim: { kids, max: 1, wait: 1 } }],
    ];
    for (const [name, body] of bad) {
      const { status, body: told } = await agent.call(name, body);
      assert.deepEqual([status, told["error"]], [400, "invalid_request"], `${name} ${JSON.stringify(body)}`);
    }
    assert.equal((await agent.call("claim?max=2", { kids: ["another"] })).status, 422);
    // Without a key that may sign, the signatures still count.
    const answer = await agent.call("sign", {
      signatures: [signature],
      claim: { kids: ["another"], max: 1 },
    });
    assert.deepEqual([answer.status, next(answer)], [200, []]);
  });
});
