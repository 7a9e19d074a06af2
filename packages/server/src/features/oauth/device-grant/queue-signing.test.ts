/** Devices of applications whose tokens an agent signs: the person's browser waits, and the device polls until then. */
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import type { Application } from "../../../core/applications/application.ts";
import type { SigningPool } from "../../../core/signing-pools/signing-pool.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type TestBrowser, testBrowser } from "../../../testing/fakes/browser.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { quickPasswords } from "../../../testing/fakes/quick-passwords.ts";
import { makeAgent, makePool, setTokenWait, type TestAgent } from "../../../testing/fixtures/agent.ts";
import {
  askForCodes,
  decideDeviceCode,
  makeDeviceApp,
  poll,
  showsDone,
} from "../../../testing/fixtures/device.ts";
import { assertOAuthError, payloadOf } from "../../../testing/probes/answers.ts";
import {
  makeOrganisation,
  startTestService,
  type TestOrganisation,
  type TestService,
} from "../../../testing/test-service.ts";

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let org: TestOrganisation;
  let clock: FakeClock;
  let pool: SigningPool;
  let agent: TestAgent;
  let tv: Application;
  let browser: TestBrowser;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock, passwords: quickPasswords });
    org = await makeOrganisation(running.service);
    pool = await makePool(running.service, org);
    agent = await makeAgent(running.service, org, pool);
    tv = await makeDeviceApp(running.service, org, { signingPoolId: pool.id });
    browser = testBrowser();
  });
  after(() => running.close());
  beforeEach(() => setTokenWait(running.service, pool, 8));
  const nextClaim = async () => (await agent.claim({ wait: 2 })) ?? assert.fail("nothing to claim");
  /** A device that somebody has allowed; the browser waits for the agent. */
  const allowed = async () => {
    const codes = await askForCodes(org, tv);
    const page = await decideDeviceCode(browser, org, codes);
    assert.equal(page.status, 303);
    assert.match(page.location ?? "", /\/sovereign\/wait\/[A-Za-z0-9_-]{32}$/);
    return { codes, wait: page.location ?? "" };
  };

  test("completes at the next poll when the agent signs quickly", async () => {
    const codes = await askForCodes(org, tv);
    const serving = agent.serve();
    const page = await decideDeviceCode(browser, org, codes).finally(() => serving.stop());
    assert.ok(showsDone(page));
    const { status, body } = await poll(org, codes);
    assert.equal(status, 200);
    assert.equal(payloadOf(body["id_token"])["sub"], org.user.id);
    assertOAuthError(await poll(org, codes), 400, "invalid_grant", "one use");
  });

  test("responds with authorization_pending while the agent has not signed", async () => {
    const { codes, wait } = await allowed();
    assertOAuthError(await poll(org, codes), 400, "authorization_pending");
    assertOAuthError(await poll(org, codes), 400, "slow_down");
    await agent.sign(await nextClaim());
    const shown = JSON.parse((await browser.get(`${wait}/status`)).body) as Record<string, unknown>;
    assert.deepEqual([shown["status"], shown["continueUrl"]], ["signed", undefined]);
    const { status, body } = await poll(org, codes);
    assert.equal(status, 200);
    assert.equal(payloadOf(body["access_token"])["iss"], `${org.issuer}/sovereign/pools/${pool.id}`);
  });

  test("passes the agent's refusal on to the polling client", async () => {
    const { codes } = await allowed();
    await agent.reject(await nextClaim(), "policy_denied");
    assertOAuthError(await poll(org, codes), 400, "access_denied");
  });

  test("queues a new signing request at a later poll when no agent was available", async () => {
    const { codes } = await allowed();
    clock.advance(301_000);
    const away = await poll(org, codes);
    assert.deepEqual([away.status, away.headers.get("retry-after")], [503, "30"]);
    await agent.call("queue");
    const serving = agent.serve();
    const { status } = await poll(org, codes).finally(() => serving.stop());
    assert.equal(status, 200);
  });
});
