/** Two nodes on one PostgreSQL: whatever one of them begins, the other one goes on with, and hears of without a poll. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { eventually } from "../../../testing/eventually.ts";
import { authorizationRequest, type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { disablePolling } from "../../../testing/fakes/without-polls.ts";
import {
  makeAgent,
  makePool,
  setTokenWait,
  type TestAgent,
  testAgent,
} from "../../../testing/fixtures/agent.ts";
import { credentials, postForm } from "../../../testing/fixtures/client.ts";
import { openSigningHarness } from "../../../testing/fixtures/signing-harness.ts";
import { releaseNow, signingSteps, withBrowser } from "../../../testing/fixtures/signing-steps.ts";
import {
  answerOf,
  decide,
  follow,
  logIn,
  showsConsent,
  showsLogin,
} from "../../../testing/fixtures/visit.ts";
import { freePort } from "../../../testing/free-port.ts";
import {
  makeClient,
  makeOrganisation,
  REDIRECT_URI,
  startTestService,
  type TestClient,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";
import { poolTopic } from "../notify/wake-up.ts";
import { claimRequest } from "../requests/claim-request.ts";
import { waitForChange } from "../requests/request-status.ts";
import { signRequest } from "../requests/sign-request.ts";

const LONG_MS = 120_000;
const inTime = { timeout: 60_000 };

forEachDatabase(({ name, fresh }) => {
  // SQLite has one serving process.
  if (name === "sqlite") return;

  let nodes: readonly [TestService, TestService];
  let org: TestOrganisation;
  let web: TestClient;
  let batch: TestClient;
  let agents: readonly [TestAgent, TestAgent];
  let pool: SigningPool;
  before(async () => {
    const databaseUrl = await fresh();
    const port = await freePort();
    const baseUrl = `http://127.0.0.1:${port}`;
    const start = () =>
      disablePolling(() => startTestService({ databaseUrl, baseUrl, passwords: quickPasswords }));
    nodes = [await start(), await start()];
    const [{ service }] = nodes;
    org = await makeOrganisation(service);
    pool = await makePool(service, org, { tokenWaitSeconds: 1 });
    const agent = await makeAgent(service, org, pool);
    const at = (node: number) => testAgent(agent, `${nodes[node]?.baseUrl}/oauth/${org.organisation.id}`);
    agents = [at(0), at(1)];
    const signed = { signingPoolId: pool.id, requireConsent: false };
    web = await makeClient(service, org.organisation, { ...signed, redirectUris: [REDIRECT_URI] });
    batch = await makeClient(service, org.organisation, {
      ...signed,
      grantTypes: ["client_credentials"],
      allowedScopes: ["jobs:run"],
    });
  });
  after(async () => {
    for (const node of nodes) {
      await node.close();
      assert.deepEqual(node.errors, []);
    }
  });

  /** The same path at the other node: a browser behind a balancer keeps its cookies. */
  const at = (node: number, url: string) => url.replace(new URL(url).origin, String(nodes[node]?.baseUrl));
  const through = (browser: TestBrowser, node: number): TestBrowser => ({
    ...browser,
    get: (url, headers) => browser.get(at(node, url), headers),
    post: (url, form, headers) => browser.post(at(node, url), form, headers),
  });
  const arrive = async () => {
    const browser = testBrowser();
    const first = through(browser, 0);
    const { query, verifier } = authorizationRequest(web.application.id, REDIRECT_URI);
    const asked = await first.get(`${org.issuer}/authorize?${query}`);
    let page = await follow(first, asked);
    if (showsLogin(page)) page = await logIn(first, org, page);
    if (showsConsent(page)) page = await decide(first, org, page);
    assert.match(page.url, /\/sovereign\/wait\/[\w-]{32}$/, page.body.slice(0, 300));
    return { browser, page, verifier, requestId: page.url.split("/").at(-1) ?? "" };
  };

  test("create, claim, sign and release work across nodes", inTime, async () => {
    for (const giving of [0, 1]) {
      const { browser, page, verifier, requestId } = await arrive();
      const claimed = await agents[1].claim({ requestId });
      assert.ok(claimed);
      assert.equal((await agents[0].sign(claimed)).status, 200);
      for (const node of [0, 1]) {
        const { body } = await browser.get(at(node, `${page.url}/status`));
        assert.equal((JSON.parse(body) as { status: string }).status, "signed");
      }
      const code = answerOf(await browser.get(at(giving, `${page.url}/continue`))).get("code") ?? "";
      assert.equal((await browser.get(at(1 - giving, `${page.url}/continue`))).location, undefined);
      const redeem = (node: number) =>
        postForm(at(node, `${org.issuer}/token`), {
          grant_type: "authorization_code",
          code,
          redirect_uri: REDIRECT_URI,
          code_verifier: verifier,
          ...credentials(web),
        });
      // Whoever reads the code a moment before it is used up, and its signature a moment after, asks for another in vain.
      const { stop } = agents[1].serve();
      const answers = await Promise.all([redeem(giving), redeem(1 - giving)]);
      await stop();
      assert.deepEqual(answers.map(({ status }) => status).toSorted(), [200, 400], "one of both at once");
    }
  });

  test("an agent waiting on one node gets a request of another node immediately", inTime, async (t) => {
    const [{ service }] = nodes;
    await setTokenWait(service, pool, 15);
    const { stop } = agents[1].serve();
    t.after(stop);
    const asked = { grant_type: "client_credentials", ...credentials(batch) };
    // No node polls here, and the agent's call waits longer than the token endpoint's: it is the calls between the nodes that wake.
    for (let time = 0; time < 5; time++) {
      const { status, body } = await postForm(at(0, `${org.issuer}/token`), asked);
      assert.equal(status, 200, JSON.stringify(body));
    }
  });

  test("a notified waiter reads once, and idle waiters don't poll", inTime, async (t) => {
    const harness = await disablePolling(async () =>
      openSigningHarness({ databaseUrl: await fresh(), clock: Date.now }),
    );
    t.after(() => harness.close());
    const agent = await harness.addAgent();
    const other = await disablePolling(() => harness.addNode());
    const { create } = signingSteps(harness, agent);
    await agent.seen();
    let looks = 0;
    const waiting = other.wakeUp.waitUntil(
      { topics: [poolTopic(harness.orgId, harness.pool.id)], isExclusive: true, ms: LONG_MS },
      async () => {
        const claim = await claimRequest(other, agent.caller, { kids: [agent.kid] });
        looks++;
        return claim.outcome === "claimed" ? claim : undefined;
      },
    );
    await eventually("the first look is over", async () => looks === 1);
    const requestId = await create(withBrowser);
    const claimed = await waiting;
    assert.deepEqual([claimed?.requestId, looks], [requestId, 2]);
    assert.ok(claimed);
    const heard = waitForChange(other, { orgId: harness.orgId, requestId }, { sinceSeq: 2, ms: LONG_MS });
    const { leaseToken, tokens } = claimed;
    await signRequest(harness.signing, agent.caller, { requestId, leaseToken, jwts: agent.signed(tokens) });
    assert.equal((await heard)?.state, "signed");
    const release = (node: typeof other) =>
      releaseNow(node, harness.database.query, { orgId: harness.orgId, requestId });
    const released = await Promise.all([release(other), release(harness.signing)]);
    assert.equal(released.filter((tokens) => tokens !== undefined).length, 1);
  });

  test("signing out on one node ends page, status, stream and code on the other", inTime, async () => {
    const { browser, page, requestId } = await arrive();
    const cookie = [...browser.cookies].map(([key, value]) => `${key}=${value}`).join("; ");
    const streams = await Promise.all(
      [0, 1].map((node) => fetch(at(node, `${page.url}/stream`), { headers: { cookie } })),
    );
    assert.deepEqual(
      streams.map(({ status }) => status),
      [200, 200],
    );
    const first = through(browser, 0);
    const question = await first.get(`${org.issuer}/end_session`);
    await first.post(`${org.issuer}/end_session`, question.hidden);
    const claimed = await agents[1].claim({ requestId });
    assert.ok(claimed);
    await agents[1].challenge(claimed, { type: "number_match", display: "4711" });
    assert.equal((await agents[0].sign(claimed)).status, 200);
    for (const stream of streams) {
      const told = await stream.text();
      assert.match(told, /event: pending/);
      assert.doesNotMatch(told, /4711|event: (?:challenge|signed)/);
    }
    for (const node of [0, 1])
      for (const end of ["", "/status", "/stream", "/continue"]) {
        const response = await fetch(at(node, page.url + end), { headers: { cookie }, redirect: "manual" });
        assert.equal(response.status, 404, `${node} ${end}`);
        await response.body?.cancel();
      }
  });
});
