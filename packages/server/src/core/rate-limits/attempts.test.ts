// Guesses: only wrong ones count, and however many come at once, to whichever node, no more are checked than the limit allows.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { createAttemptQueue } from "./attempt-queue.ts";
import { type CountedGuess, checkGuess, type GuessDeps } from "./attempts.ts";
import { RateLimited } from "./rate-limits.ts";

const ORG = "0190a1b2-0000-7000-8000-000000000001";
const limit = { name: "account", count: 3, windowSeconds: 900 };
const wide = { name: "network", count: 10, windowSeconds: 3_600 };

forEachDatabase(({ fresh, name }) => {
  let databases: Database[];
  let clock: FakeClock;
  /** Two nodes: each has its own queue, and on PostgreSQL its own connections; SQLite has one process. */
  let nodes: GuessDeps[];
  let subject = 0;
  before(async () => {
    clock = fakeClock();
    const url = await fresh();
    const first = openDatabase(url);
    databases = name === "sqlite" ? [first] : [first, openDatabase(url)];
    await migrate(first);
    nodes = [first, databases[1] ?? first].map((database) => ({
      ...{ database, clock },
      attempts: createAttemptQueue({ pollMs: 5 }),
    }));
  });
  after(() => Promise.all(databases.map((database) => database.close())));
  beforeEach(() => {
    subject++;
  });

  const node = (at = 0) => nodes[at] as GuessDeps;
  const account = (more: Partial<CountedGuess> = {}) => ({ limit, subject: `a${subject}`, ...more });
  const network = () => ({ limit: wide, subject: `n${subject}` });
  const guess = (
    isRight: boolean,
    { at = 0, counted = [account()] as CountedGuess[], check = async () => isRight } = {},
  ) => checkGuess(node(at), ORG, counted, check, (right) => right);
  const refusedFor = (seconds: number) => (error: unknown) =>
    error instanceof RateLimited && !error.isTemporary && error.retryAfterSeconds === seconds;

  /** Takes its time, and counts how many are under way. */
  function slowCheck(isRight: boolean) {
    const seen = { checked: 0, atOnce: 0, most: 0 };
    const check = async () => {
      seen.checked++;
      seen.most = Math.max(seen.most, ++seen.atOnce);
      await new Promise((resolve) => setTimeout(resolve, 5));
      seen.atOnce--;
      return isRight;
    };
    return { seen, check };
  }

  test("right guesses never count, however many come at once to two nodes", async () => {
    const { seen, check } = slowCheck(true);
    const all = Array.from({ length: 40 }, (_, at) => guess(true, { at: at % 2, check }));
    assert.ok((await Promise.all(all)).every((right) => right));
    assert.ok(seen.most <= limit.count, `${seen.most} at once`);
    for (let time = 0; time < 3; time++) await guess(false);
  });

  test("of wrong guesses sent at once to two nodes, no more are checked than the limit allows", async () => {
    const { seen, check } = slowCheck(false);
    const all = Array.from({ length: 60 }, (_, at) => guess(false, { at: at % 2, check }));
    const refused = (await Promise.allSettled(all)).filter(({ status }) => status === "rejected");
    assert.equal(seen.checked, limit.count);
    assert.equal(refused.length, 60 - limit.count);
    await assert.rejects(guess(true), refusedFor(900));
  });

  test("right ones among wrong ones sent at once are checked while the limit has something left", async () => {
    const wrong = Array.from({ length: limit.count - 1 }, () => guess(false));
    const right = Array.from({ length: 20 }, (_, at) => guess(true, { at: at % 2 }));
    assert.ok((await Promise.all(right)).every((one) => one));
    await Promise.all(wrong);
  });

  test("a refusal counts nowhere, under no limit", async () => {
    const both = () => [account(), network()];
    for (let time = 0; time < 3; time++) await guess(false, { counted: both() });
    for (let time = 0; time < 30; time++)
      await assert.rejects(guess(false, { counted: both() }), refusedFor(900));
    for (let time = 0; time < 7; time++)
      await guess(false, { counted: [account({ subject: `other${subject}-${time}` }), network()] });
    await assert.rejects(guess(false, { counted: [network()] }), refusedFor(3_600));
  });

  test("a success forgets the failures that are its own, and no others", async () => {
    const own = () => [account({ clearedBySuccess: true }), network()];
    for (let round = 0; round < 3; round++) {
      for (let time = 0; time < 2; time++) await guess(false, { counted: own() });
      assert.ok(await guess(true, { counted: own() }));
    }
    for (let time = 0; time < 3; time++) await guess(false, { counted: own() });
    await assert.rejects(guess(true, { counted: own() }), refusedFor(900));
    await guess(false, { counted: [network()] });
    await assert.rejects(guess(true, { counted: [network()] }), refusedFor(3_600));
  });

  test("the window begins with the first failure and not with a success", async () => {
    await guess(true);
    clock.advance(899_000);
    for (let time = 0; time < 3; time++) await guess(false);
    clock.advance(2_000);
    await assert.rejects(guess(true), refusedFor(898));
    clock.advance(898_000);
    assert.ok(await guess(true));
  });

  test("a check that fails for another reason counts nothing and frees its place", async () => {
    for (let time = 0; time < 10; time++)
      await assert.rejects(guess(true, { check: () => Promise.reject(new Error("down")) }), /down/);
    assert.ok(await guess(true));
  });

  test("the places of a node that died are free again, and count as no failure", async () => {
    for (let time = 0; time < 3; time++) {
      const begun = Promise.withResolvers<void>();
      const check = () => {
        begun.resolve();
        return Promise.withResolvers<boolean>().promise;
      };
      void guess(true, { check });
      await begun.promise;
    }
    const impatient = { ...node(1), attempts: createAttemptQueue({ maxWaitMs: 30, pollMs: 5 }) };
    const late = () => checkGuess(impatient, ORG, [account()], async () => true, Boolean);
    await assert.rejects(late(), (error) => error instanceof RateLimited && error.isTemporary);
    clock.advance(120_000);
    assert.ok(await late());
    for (let time = 0; time < 3; time++) await guess(false);
  });

  test("a result that comes after its place was given away isn't told", async () => {
    const check = async () => {
      clock.advance(61_000);
      return true;
    };
    await assert.rejects(
      guess(true, { check }),
      (error) => error instanceof RateLimited && error.isTemporary,
    );
  });

  test("more than can wait are turned away, and count nothing", async () => {
    const tight = { ...node(), attempts: createAttemptQueue({ maxWaitingPerKey: 2, pollMs: 5 }) };
    const { check } = slowCheck(true);
    const all = Array.from({ length: 20 }, () => checkGuess(tight, ORG, [account()], check, Boolean));
    const results = await Promise.allSettled(all);
    const away = results.filter(({ status }) => status === "rejected");
    assert.ok(away.length > 0 && away.length <= 15, `${away.length}`);
    for (let time = 0; time < 3; time++) await guess(false);
  });

  test("guesses that wait for one limit hold no place of another", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const counted = [account(), network()];
    const all = Array.from({ length: 30 }, () => guess(true, { counted, check: () => promise }));
    const other = [account({ subject: `other${subject}` }), network()];
    assert.ok(await guess(true, { counted: other }), "somebody else of the network");
    resolve(true);
    await Promise.all(all);
  });
});
