/**
 * Signing agents that die at random while a crowd of clients asks for tokens: nobody is left without, and nothing is signed
 * or handed out twice. SIGNET_TEST_WHOLE=1 runs the whole of it: 20 agents, 5,000 requests, and leases that lapse.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose";
import type { Service } from "../../packages/server/src/modules/open-service.ts";
import { forJourneyDatabases } from "../../packages/server/src/testing/databases.ts";
import { credentials, postForm } from "../../packages/server/src/testing/fixtures/client.ts";
import { makeClient, type TestClient } from "../../packages/server/src/testing/test-service.ts";
import { type AgentFleet, crashingAgent, crashingProcess } from "./killed-agents.ts";
import { compileAgent } from "./signing-agent-process.ts";
import { type SovereignFixture, setUpFixture } from "./sovereign-fixture.ts";

const isWhole = process.env["SIGNET_TEST_WHOLE"] === "1";
const size = isWhole
  ? { requests: 5_000, agents: 16, processes: 4, callers: 40, meanLife: 20, kills: 8, lifeMs: 3_000 }
  : { requests: 160, agents: 4, processes: 1, callers: 30, meanLife: 8, kills: 1, lifeMs: 500 };
const limitMs = isWhole ? 540_000 : 240_000;
const clientCount = 4;

forJourneyDatabases(({ name, fresh }) => {
  const title = `${size.requests} requests and ${size.agents + size.processes} agents that die: each has its token, once`;
  test(title, { timeout: limitMs }, async (t) => {
    const databaseUrl = name === "postgres" ? await fresh() : undefined;
    const fixture = await setUpFixture(t, { databaseUrl, tokenWaitSeconds: 1 });
    const operator = await fixture.operator();
    t.after(() => operator.close());
    const server = await fixture.start({ LOG_LEVEL: "warn" });
    const clients = await makeClients(operator, fixture);
    if (isWhole) await compileAgent(fixture.folder);
    const stopped = new AbortController();
    const pack = packOf({ fixture, operator, clients, stopped: stopped.signal });
    const { agents, processes } = size;
    const living = [
      ...Array.from({ length: agents }, () => crashingAgent(pack)),
      ...Array.from({ length: processes }, (_, index) => crashingProcess(pack, `agent-${index}`, size)),
    ];
    const began = performance.now();
    const given = await Promise.race([askAll(fixture, clients), failureOf(living)]).finally(() =>
      stopped.abort(),
    );
    const seconds = (performance.now() - began) / 1000;
    await Promise.all(living);
    await checkTokens(fixture, given.tokens);
    await server.stop();
    await checkRecords(t, operator, given.tokens);
    const faults = server.logLines().filter(({ level }) => level === "error");
    assert.deepEqual(faults, []);
    const dead = Object.values(pack.deaths).reduce((sum, count) => sum + count, 0);
    assert.ok(dead >= size.agents, `${dead} died`);
    t.diagnostic(
      `${given.tokens.length} tokens in ${seconds.toFixed(1)} s, ${given.repeats} answers were 503`,
    );
    t.diagnostic(`${dead} agents died: ${JSON.stringify(pack.deaths)}`);
  });
});

const makeClients = (operator: Service, { org, pool }: SovereignFixture): Promise<TestClient[]> =>
  Promise.all(
    Array.from({ length: clientCount }, () =>
      makeClient(operator, org.organisation, {
        signingPoolId: pool.id,
        allowedScopes: ["jobs:run"],
        grantTypes: ["client_credentials"],
      }),
    ),
  );

type Made = {
  fixture: SovereignFixture;
  operator: Service;
  clients: readonly TestClient[];
  stopped: AbortSignal;
};

function packOf({ fixture, operator, clients, stopped }: Made): AgentFleet {
  const allowed = `{ aud: [], scopes: ["jobs:run"], maxLifetime: 3600, grants: [client_credentials] }`;
  return {
    fixture,
    operator,
    stopped,
    meanLife: size.meanLife,
    leavesLapsing: isWhole,
    clients: Object.fromEntries(clients.map(({ application }) => [application.id, allowed])),
    deaths: {},
  };
}

/** An agent's fault ends the test at once, its regular end does not. */
async function failureOf(living: ReadonlyArray<Promise<void>>): Promise<never> {
  await Promise.all(living);
  throw new Error("the agents have ended before the clients");
}

/** Callers beside each other: each asks again, with the same request, until it has its token. */
async function askAll(
  { org }: SovereignFixture,
  clients: readonly TestClient[],
): Promise<{ tokens: string[]; repeats: number }> {
  const tokens: string[] = [];
  let left = size.requests;
  let repeats = 0;
  const callers = Array.from({ length: size.callers }, async (_, index) => {
    const client = clients[index % clients.length];
    assert.ok(client);
    const form = { grant_type: "client_credentials", scope: "jobs:run", ...credentials(client) };
    while (left-- > 0) {
      let answer = await postForm(`${org.issuer}/token`, form);
      for (; answer.status === 503; answer = await postForm(`${org.issuer}/token`, form)) {
        assert.equal(answer.body["error"], "temporarily_unavailable");
        assert.match(answer.headers.get("retry-after") ?? "", /^\d+$/);
        repeats += 1;
        await delay(200);
      }
      assert.equal(answer.status, 200, JSON.stringify(answer.body));
      tokens.push(String(answer.body["access_token"]));
    }
  });
  await Promise.all(callers);
  return { tokens, repeats };
}

/** Every one verifies with what the pool publishes, and is another one. */
async function checkTokens({ poolIssuer }: SovereignFixture, tokens: readonly string[]): Promise<void> {
  const published = (await (await fetch(`${poolIssuer}/jwks.json`)).json()) as JSONWebKeySet;
  const keys = createLocalJWKSet(published);
  const kids = new Set<string | undefined>();
  const ids = new Set<string | undefined>();
  for (const token of tokens) {
    const { payload, protectedHeader } = await jwtVerify(token, keys, { issuer: poolIssuer, typ: "at+jwt" });
    kids.add(protectedHeader.kid);
    ids.add(payload.jti);
  }
  assert.equal(tokens.length, size.requests);
  assert.equal(ids.size, tokens.length, "no token id twice");
  assert.ok(kids.size >= size.processes, `signed by ${kids.size} keys`);
}

/** What the service knows: each token released once and signed once, and nothing released that nobody has. */
async function checkRecords(
  t: TestContext,
  { database: { query } }: Service,
  tokens: readonly string[],
): Promise<void> {
  const given = tokens.map(jtiOf).toSorted();
  const requests = await query.selectFrom("signing_request").select(["state", "token_ids"]).execute();
  const released = requests.filter(({ state }) => state === "released");
  const releasedIds = released.map(
    ({ token_ids }) => JSON.parse(token_ids ?? "{}") as { access_token: string },
  );
  assert.deepEqual(releasedIds.map((ids) => ids.access_token).toSorted(), given);
  const events = query.selectFrom("audit_event").select("details");
  const signed = await events.where("action", "=", "signing-request.signed").execute();
  const times = new Map<unknown, number>();
  for (const { details } of signed) {
    const { jti } = JSON.parse(String(details)) as { jti: unknown };
    times.set(jti, (times.get(jti) ?? 0) + 1);
  }
  assert.deepEqual(
    new Set(given.map((jti) => times.get(jti))),
    new Set([1]),
    "signed once, by the audit log",
  );
  assert.deepEqual(new Set(times.values()), new Set([1]));
  const states = Object.groupBy(requests, ({ state }) => state);
  const counts = Object.entries(states).map(([state, rows]) => `${rows?.length} ${state}`);
  t.diagnostic(`requests: ${counts.join(", ")}`);
}

const jtiOf = (token: string): string =>
  (JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as { jti: string }).jti;
