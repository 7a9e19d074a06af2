/** The token endpoint of an application with a pool: client credentials and refresh tokens, which no browser waits for. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { createLocalJWKSet, jwtVerify } from "jose";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { startTracing } from "../../../telemetry/tracing.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type CodeSource, codeSource } from "../../../testing/fakes/code-source.ts";
import { makeAgent, makePool, setTokenWait, type TestAgent } from "../../../testing/fixtures/agent.ts";
import { type Answer, credentials, postForm, refresh } from "../../../testing/fixtures/client.ts";
import { assertOAuthError } from "../../../testing/probes/answers.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { disablePool } from "../admin-api/pools.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let pool: SigningPool;
  let agent: TestAgent;
  let batch: TestClient;
  let web: TestClient;
  let source: CodeSource;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org);
    agent = await makeAgent(running.service, org, pool);
    const settings = { signingPoolId: pool.id, allowedScopes: ["jobs:run", "jobs:read"] };
    const { organisation } = org;
    batch = await makeClient(running.service, organisation, {
      ...settings,
      grantTypes: ["client_credentials"],
    });
    web = await makeClient(running.service, organisation, {
      redirectUris: [REDIRECT_URI],
      refreshTokenGraceSeconds: 0,
      signingPoolId: pool.id,
    });
    source = codeSource(org);
  });
  after(() => running.close());
  beforeEach(() => setTokenWait(running.service, pool, 8));
  const issuer = () => `${org.issuer}/sovereign/pools/${pool.id}`;
  const askToken = (more: Record<string, string> = {}, client = batch) =>
    postForm(`${org.issuer}/token`, { grant_type: "client_credentials", ...credentials(client), ...more });
  const served = async <T>(work: () => Promise<T>): Promise<T> => {
    const serving = agent.serve();
    const done = await work().finally(() => serving.stop());
    return done;
  };
  const verified = async (token: unknown) => {
    const keys = agent.keys.map(({ publicJwk, kid }) => ({ ...publicJwk, kid }));
    return (await jwtVerify(String(token), createLocalJWKSet({ keys }), { issuer: issuer() })).payload;
  };
  const assertUnavailable = ({ status, body, headers }: Answer, retryAfter: string) =>
    assert.deepEqual(
      [status, body["error"], headers.get("retry-after"), body["access_token"]],
      [503, "temporarily_unavailable", retryAfter, undefined],
    );
  /** What the agent finds when it asks, without waiting. */
  const nextClaim = async () => {
    const claimed = await agent.claim({ wait: 2 });
    assert.ok(claimed, "nothing to claim");
    return claimed;
  };

  test("queues nothing while no agent is online, and sends Retry-After", async () => {
    assertUnavailable(await askToken(), "30");
    const queue = await agent.call("queue?max=10");
    assert.deepEqual([queue.status, queue.body["pending"]], [200, []]);
  });

  test("client credentials are signed by the agent with the pool's issuer", async () => {
    const { status, body } = await served(() => askToken({ scope: "jobs:run" }));
    assert.equal(status, 200, JSON.stringify(body));
    const payload = await verified(body["access_token"]);
    assert.deepEqual([payload["client_id"], payload["aud"]], [batch.application.id, issuer()]);
    assert.ok(Number(body["expires_in"]) > 3590 && Number(body["expires_in"]) <= 3600);
    assert.equal(body["scope"], "jobs:run");
    assert.equal(body["refresh_token"], undefined);
  });

  test("a repeated token request gets the tokens of a request that was not signed in time", async () => {
    await setTokenWait(running.service, pool, 0);
    assertUnavailable(await askToken(), "3");
    const claimed = await nextClaim();
    assert.equal((await agent.sign(claimed)).status, 200);
    assert.equal((await askToken({ scope: "jobs:read" })).status, 503, "another scope is another request");
    const { status, body } = await askToken();
    assert.equal(status, 200);
    const [head, payload] = String(body["access_token"]).split(".");
    assert.deepEqual([head, payload], [claimed.tokens[0]?.protected, claimed.tokens[0]?.payload]);
    const other = await nextClaim();
    await agent.reject(other, "policy_denied");
    assertUnavailable(await askToken(), "3");
    await agent.reject(await nextClaim(), "policy_denied");
  });

  test("two simultaneous callers get one token each", async () => {
    const both = Promise.all([askToken(), askToken()]);
    const claims = [await nextClaim(), await nextClaim()];
    for (const claimed of claims) await agent.sign(claimed);
    const tokens = (await both).map(({ body }) => String(body["access_token"]));
    assert.equal(new Set(tokens).size, 2);
    for (const token of tokens) await verified(token);
  });

  const refusals = [
    ["policy_denied", 400, "access_denied"],
    ["challenge_failed", 400, "access_denied"],
    ["user_denied", 400, "access_denied"],
    ["step_up_required", 400, "interaction_required"],
    ["key_unavailable", 503, "temporarily_unavailable"],
  ] as const;
  for (const [reason, status, code] of refusals)
    test(`a rejection with ${reason} is returned to the client as ${code}`, async () => {
      const asking = askToken();
      assert.deepEqual((await agent.reject(await nextClaim(), reason)).body, { status: "failed" });
      assertOAuthError(await asking, status, code);
    });

  test("returns a retryable rejection to the queue, and refuses a challenge without a browser", async () => {
    const asking = askToken();
    const claimed = await nextClaim();
    const challenge = await agent.challenge(claimed);
    assert.deepEqual([challenge.status, challenge.body["error"]], [409, "not_interactive"]);
    assert.deepEqual((await agent.reject(claimed, "key_unavailable", true)).body, { status: "pending" });
    assert.equal(await agent.claim(), undefined, "never to the one that gave it back");
    const second = await makeAgent(running.service, org, pool);
    const again = await second.claim({ wait: 2 });
    assert.ok(again);
    await second.sign(again);
    assert.equal((await asking).status, 200);
  });

  test("rotates the refresh token in the transaction that releases the tokens", async () => {
    const first = await served(() => source.tokens({ scope: "openid offline_access" }, web));
    await verified(first.idToken);
    await setTokenWait(running.service, pool, 0);
    const again = () => refresh(org, first.refreshToken, {}, web);
    assertUnavailable(await again(), "3");
    assertUnavailable(await again(), "3");
    const claimed = await nextClaim();
    assert.deepEqual(
      claimed.tokens.map(({ use }) => use),
      ["access_token", "id_token"],
    );
    await agent.sign(claimed);
    const { status, body } = await again();
    assert.equal(status, 200, JSON.stringify(body));
    assert.equal((await verified(body["access_token"]))["sub"], org.user.id);
    assert.equal((await verified(body["id_token"]))["at_hash"], undefined);
    assert.notEqual(body["refresh_token"], first.refreshToken);
    await setTokenWait(running.service, pool, 8);
    const next = await served(() => refresh(org, String(body["refresh_token"]), {}, web));
    assert.equal(next.status, 200);
    const introspection = { token: String(next.body["access_token"]), ...credentials(web) };
    assert.equal((await postForm(`${org.issuer}/introspect`, introspection)).body["active"], true);
    assertOAuthError(await served(() => again()), 400, "invalid_grant");
    assert.equal(
      (await postForm(`${org.issuer}/introspect`, introspection)).body["active"],
      false,
      "replayed",
    );
  });

  test("a step-up rejection leaves the refresh token unchanged", async () => {
    const first = await served(() => source.tokens({}, web));
    const asking = refresh(org, first.refreshToken, {}, web);
    await agent.reject(await nextClaim(), "step_up_required");
    assertOAuthError(await asking, 400, "interaction_required");
    const { status } = await served(() => refresh(org, first.refreshToken, {}, web));
    assert.equal(status, 200);
  });

  test("of two simultaneous refreshes without a grace period, one rotates and the other fails", async () => {
    const first = await served(() => source.tokens({}, web));
    const answers = await served(() =>
      Promise.all([1, 2].map(() => refresh(org, first.refreshToken, {}, web))),
    );
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 400]);
  });

  test("a disabled pool signs nothing, and no other key signs instead", async () => {
    const by = { orgId: org.organisation.id, actor: "test" };
    const admin = { ...running.service, baseUrl: running.baseUrl };
    const first = await served(() => source.tokens({}, web));
    await disablePool(admin, by, { id: pool.id, disabled: true });
    assertUnavailable(await askToken(), "30");
    assertUnavailable(await refresh(org, first.refreshToken, {}, web), "30");
    await disablePool(admin, by, { id: pool.id, disabled: false });
    const { status } = await served(() => refresh(org, first.refreshToken, {}, web));
    assert.equal(status, 200, "the refresh token is as it was");
  });

  test("the wait for a signature has a span of its own", async () => {
    const spans: string[] = [];
    const end = startTracing({
      span: (name, _, work) => {
        spans.push(name);
        return work();
      },
      request: (_, work) => work(),
      parent: () => undefined,
      past: () => {},
    });
    try {
      assert.equal((await served(() => askToken())).status, 200);
    } finally {
      end();
    }
    assert.ok(spans.includes("signing queue wait"), spans.join());
  });
});
