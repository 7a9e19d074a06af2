import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { disablePolling } from "../../../testing/fakes/without-polls.ts";
import {
  openSigningHarness,
  type SigningHarness,
  type SoftAgent,
} from "../../../testing/fixtures/signing-harness.ts";
import {
  SECOND,
  type SigningSteps,
  signingSteps,
  withBrowser,
} from "../../../testing/fixtures/signing-steps.ts";
import { readQueue } from "../agent-api/agent-queue.ts";
import { answerChallenge, challengeUser } from "../requests/challenge-user.ts";
import { claimRequest } from "../requests/claim-request.ts";
import type { OpenSigning } from "../requests/open-signing.ts";
import { waitForChange } from "../requests/request-status.ts";
import { safetyPoll } from "./safety-poll.ts";
import { agentTopic, openWakeUp, poolTopic, type WakeUp } from "./wake-up.ts";

const LONG_MS = 120_000;
const inTime = { timeout: 60_000 };

test("notifies one exclusive waiter, which passes on an unused notification", inTime, async () => {
  const wakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
  const topic = poolTopic("org", "pool");
  const stock: string[] = [];
  let looks = 0;
  const waiting = (isAble: boolean, signal?: AbortSignal) =>
    wakeUp.waitUntil({ topics: [topic], isExclusive: true, ms: LONG_MS, signal }, async () => {
      looks++;
      return isAble ? stock.shift() : undefined;
    });
  const leaving = new AbortController();
  const waiters = [
    waiting(false, leaving.signal),
    waiting(true, leaving.signal),
    ...Array.from({ length: 20 }, () => waiting(true)),
  ];
  await turn();
  assert.equal(looks, 22, "everybody looks once at first");
  stock.push("first");
  wakeUp.notify(topic);
  await turn();
  assert.equal(looks, 24, "the first in line, and the one it passed it to");
  assert.equal(await waiters[1], "first");
  stock.push("second", "third");
  wakeUp.notify(topic);
  leaving.abort();
  wakeUp.notify(topic);
  assert.equal(await waiters[0], undefined);
  assert.deepEqual((await Promise.all([waiters[2], waiters[3]])).toSorted(), ["second", "third"]);
  await wakeUp.close();
  assert.deepEqual(await Promise.all(waiters.slice(4)), Array(18).fill(undefined));
  assert.deepEqual(wakeUp.topics(), []);
});

test(
  "keeps a notification that comes during a read, and never reads for an aborted caller",
  inTime,
  async () => {
    const wakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
    const topic = poolTopic("org", "pool");
    let found: string | undefined;
    const looking = wakeUp.waitUntil({ topics: [topic], isExclusive: true, ms: LONG_MS }, async () => {
      const before = found;
      if (found === undefined) {
        found = "it";
        wakeUp.notify(topic);
        await turn();
      }
      return before;
    });
    assert.equal(await looking, "it");
    const gone = wakeUp.waitUntil(
      { topics: [topic], isExclusive: true, ms: LONG_MS, signal: AbortSignal.abort() },
      async () => assert.fail("it looked"),
    );
    assert.equal(await gone, undefined);
    await wakeUp.close();
  },
);

forEachDatabase(({ name, fresh }) => {
  let clock: FakeClock;
  let harness: SigningHarness;
  let agent: SoftAgent;
  let steps: SigningSteps;
  /** On PostgreSQL another node; SQLite has one. */
  let node: OpenSigning;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    harness = await disablePolling(() => openSigningHarness({ databaseUrl, clock }));
    agent = await harness.addAgent();
    steps = signingSteps(harness, agent);
    node = name === "postgres" ? await disablePolling(() => harness.addNode()) : harness.signing;
  });
  after(() => harness.close());

  const waitFor = (requestId: string, seq: number) =>
    waitForChange(node, { orgId: harness.orgId, requestId }, { sinceSeq: seq, ms: LONG_MS });

  test("a waiter is notified of every step, also on another node", inTime, async () => {
    const requestId = await steps.create(withBrowser);
    const claimed = waitFor(requestId, 1);
    const held = await steps.claimed(requestId);
    assert.equal((await claimed)?.state, "claimed");
    const asked = waitFor(requestId, 2);
    const challenge = { challengeId: "c", type: "confirm", prompt: "?", ttl: 60 } as const;
    await challengeUser(harness.signing, agent.caller, held, challenge);
    assert.equal((await asked)?.state, "challenge");
    const answered = node.wakeUp.waitUntil(
      { topics: [agentTopic(harness.orgId, agent.caller.agentId)], isExclusive: false, ms: LONG_MS },
      async () => (await readQueue(node, agent.caller, 0)).responses[0],
    );
    await answerChallenge(
      harness.signing,
      { orgId: harness.orgId, requestId },
      { challengeId: "c", answer: 1 },
    );
    assert.equal((await answered)?.requestId, requestId);
    const signed = waitFor(requestId, 4);
    await steps.sign(held);
    assert.equal((await signed)?.state, "signed");
  });

  test("a waiting agent gets a new request, also on another node", inTime, async () => {
    clock.advance(301 * SECOND);
    const waiting = [1, 2, 3].map(() =>
      node.wakeUp.waitUntil(
        { topics: [poolTopic(harness.orgId, harness.pool.id)], isExclusive: true, ms: LONG_MS },
        async () => {
          const claim = await claimRequest(node, agent.caller, { kids: [agent.kid] });
          return claim.outcome === "nothing" ? undefined : claim;
        },
      ),
    );
    const ids = [await steps.create(), await steps.create(), await steps.create()];
    const got = (await Promise.all(waiting)).map((claim) => claim?.outcome === "claimed" && claim.requestId);
    assert.deepEqual(got.toSorted(), ids.toSorted());
  });

  test("a wait that times out or is aborted returns the last status", inTime, async () => {
    const requestId = await steps.create();
    const over = await waitForChange(node, { orgId: harness.orgId, requestId }, { sinceSeq: 1, ms: 1 });
    assert.equal(over?.state, "pending");
    const aborted = await waitForChange(
      node,
      { orgId: harness.orgId, requestId },
      { sinceSeq: 1, ms: LONG_MS, signal: AbortSignal.abort() },
    );
    assert.equal(aborted?.state, "pending");
    assert.equal(
      await waitForChange(node, { orgId: harness.orgId, requestId: "unknown" }, { sinceSeq: 0, ms: LONG_MS }),
      undefined,
    );
  });

  test("the safety poll finds lost notifications and expired leases", inTime, async () => {
    const { database, orgId, pool } = harness;
    const deaf: WakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
    const poll = safetyPoll({ database, clock, wakeUp: deaf, count: () => {} });
    const requestId = await steps.create(withBrowser);
    let looks = 0;
    const stateOf = async () => (await steps.rowOf(requestId))["state"];
    const wait = (topic: Parameters<WakeUp["notifyLocal"]>[0], state: string) =>
      deaf.waitUntil({ topics: [topic], isExclusive: false, ms: LONG_MS }, async () => {
        looks++;
        return (await stateOf()) === state ? state : undefined;
      });
    const lost = wait(`request:${orgId}:${requestId}`, "claimed");
    await poll.poll();
    await steps.claimed(requestId);
    await poll.poll();
    assert.equal(await lost, "claimed");
    const lapsed = wait(poolTopic(orgId, pool.id), "pending");
    clock.advance(30 * SECOND);
    await poll.poll();
    assert.equal(await lapsed, "pending");
    assert.ok(looks <= 8, `${looks} looks`);
    await poll.stop();
    await deaf.close();
  });

  test("a shutdown ends every wait", inTime, async () => {
    const requestId = await steps.create();
    const stopping = await harness.addNode();
    const waiting = waitForChange(
      stopping,
      { orgId: harness.orgId, requestId },
      { sinceSeq: 1, ms: LONG_MS },
    );
    await stopping.close();
    assert.equal((await waiting)?.state, "pending");
  });
});
