import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../../testing/fakes/fake-clock.ts";
import { withoutPolls } from "../../../testing/fakes/without-polls.ts";
import {
  openSigningStage,
  type SigningStage,
  type SoftAgent,
} from "../../../testing/fixtures/signing-harness.ts";
import {
  SECOND,
  type SigningSteps,
  signingSteps,
  withBrowser,
} from "../../../testing/fixtures/signing-steps.ts";
import type { SovereignRequests } from "../requests/sovereign-requests.ts";
import { safetyPoll } from "./safety-poll.ts";
import { openWakeUp, poolTopic, type WakeUp } from "./wake-up.ts";

const LONG_MS = 120_000;
const inTime = { timeout: 60_000 };

test("of those who wait to take, each news wakes one, who passes on what it cannot use", inTime, async () => {
  const wakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
  const topic = poolTopic("org", "pool");
  const stock: string[] = [];
  let looks = 0;
  const waiting = (isAble: boolean, signal?: AbortSignal) =>
    wakeUp.until({ topics: [topic], taking: true, ms: LONG_MS, signal }, async () => {
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
  wakeUp.wake(topic);
  await turn();
  assert.equal(looks, 24, "the first in line, and the one it passed it to");
  assert.equal(await waiters[1], "first");
  stock.push("second", "third");
  wakeUp.wake(topic);
  leaving.abort();
  wakeUp.wake(topic);
  assert.equal(await waiters[0], undefined);
  assert.deepEqual((await Promise.all([waiters[2], waiters[3]])).toSorted(), ["second", "third"]);
  await wakeUp.close();
  assert.deepEqual(await Promise.all(waiters.slice(4)), Array(18).fill(undefined));
  assert.deepEqual(wakeUp.topics(), []);
});

test(
  "news that comes while somebody looks is not lost, and nobody looks for a caller that has gone",
  inTime,
  async () => {
    const wakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
    const topic = poolTopic("org", "pool");
    let found: string | undefined;
    const looking = wakeUp.until({ topics: [topic], taking: true, ms: LONG_MS }, async () => {
      const before = found;
      if (found === undefined) {
        found = "it";
        wakeUp.wake(topic);
        await turn();
      }
      return before;
    });
    assert.equal(await looking, "it");
    const gone = wakeUp.until(
      { topics: [topic], taking: true, ms: LONG_MS, signal: AbortSignal.abort() },
      async () => assert.fail("it looked"),
    );
    assert.equal(await gone, undefined);
    await wakeUp.close();
  },
);

forEachDatabase(({ name, fresh }) => {
  let clock: FakeClock;
  let stage: SigningStage;
  let agent: SoftAgent;
  let steps: SigningSteps;
  /** On PostgreSQL another node; SQLite has one. */
  let node: SovereignRequests;
  before(async () => {
    clock = fakeClock();
    const databaseUrl = await fresh();
    stage = await withoutPolls(() => openSigningStage({ databaseUrl, clock }));
    agent = await stage.addAgent();
    steps = signingSteps(stage, agent);
    node = name === "postgres" ? await withoutPolls(() => stage.addNode()) : stage.requests;
  });
  after(() => stage.close());

  const waitFor = (requestId: string, seq: number) => node.waitFor(stage.orgId, requestId, seq, LONG_MS);

  test("who waits for a request hears of every step of it, on another node too", inTime, async () => {
    const requestId = await steps.create(withBrowser);
    const claimed = waitFor(requestId, 1);
    const held = await steps.claimed(requestId);
    assert.equal((await claimed)?.state, "claimed");
    const asked = waitFor(requestId, 2);
    const challenge = { challengeId: "c", type: "confirm", prompt: "?", ttl: 60 } as const;
    await stage.requests.challenge(agent.caller, held, challenge);
    assert.equal((await asked)?.state, "challenge");
    const answered = node.waitForAgent(
      agent.caller,
      async () => (await node.agentQueue(agent.caller, 0)).responses[0],
      { ms: LONG_MS, withPool: false },
    );
    await stage.requests.respond(stage.orgId, requestId, { challengeId: "c", answer: 1 });
    assert.equal((await answered)?.requestId, requestId);
    const signed = waitFor(requestId, 4);
    await steps.sign(held);
    assert.equal((await signed)?.state, "signed");
  });

  test("an agent that waits gets a new request, on another node too", inTime, async () => {
    clock.advance(301 * SECOND);
    const waiting = [1, 2, 3].map(() =>
      node.waitForPool(
        agent.caller,
        async () => {
          const claim = await node.claim(agent.caller, { kids: [agent.kid] });
          return claim.outcome === "nothing" ? undefined : claim;
        },
        LONG_MS,
      ),
    );
    const ids = [await steps.create(), await steps.create(), await steps.create()];
    const got = (await Promise.all(waiting)).map((claim) => claim?.outcome === "claimed" && claim.requestId);
    assert.deepEqual(got.toSorted(), ids.toSorted());
  });

  test(
    "at the end of the time, and when the caller goes, who waited has the last status",
    inTime,
    async () => {
      const requestId = await steps.create();
      const over = await node.waitFor(stage.orgId, requestId, 1, 1);
      assert.equal(over?.state, "pending");
      const aborted = await node.waitFor(stage.orgId, requestId, 1, LONG_MS, AbortSignal.abort());
      assert.equal(aborted?.state, "pending");
      assert.equal(await node.waitFor(stage.orgId, "unknown", 0, LONG_MS), undefined);
    },
  );

  test("what nobody calls out is found by the safety poll: a lost call, a lapsed lease", inTime, async () => {
    const { database, orgId, pool } = stage;
    const deaf: WakeUp = await openWakeUp(openDatabase("sqlite::memory:"));
    const poll = safetyPoll({ database, clock, wakeUp: deaf, count: () => {} });
    const requestId = await steps.create(withBrowser);
    let looks = 0;
    const stateOf = async () => (await steps.rowOf(requestId))["state"];
    const wait = (topic: Parameters<WakeUp["wakeHere"]>[0], state: string) =>
      deaf.until({ topics: [topic], taking: false, ms: LONG_MS }, async () => {
        looks++;
        return (await stateOf()) === state ? state : undefined;
      });
    const lost = wait(`request:${orgId}:${requestId}`, "claimed");
    await poll.look();
    await steps.claimed(requestId);
    await poll.look();
    assert.equal(await lost, "claimed");
    const lapsed = wait(poolTopic(orgId, pool.id), "pending");
    clock.advance(30 * SECOND);
    await poll.look();
    assert.equal(await lapsed, "pending");
    assert.ok(looks <= 8, `${looks} looks`);
    await poll.stop();
    await deaf.close();
  });

  test("a node that stops lets everybody go at once", inTime, async () => {
    const requestId = await steps.create();
    const stopping = await stage.addNode();
    const waiting = stopping.waitFor(stage.orgId, requestId, 1, LONG_MS);
    await stopping.close();
    assert.equal((await waiting)?.state, "pending");
  });
});
