import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../../testing/databases.ts";
import { type FakeClock, fakeClock } from "../../testing/fakes/fake-clock.ts";
import { makeOrganisation, startTestService, type TestService } from "../../testing/test-service.ts";
import { hitPortions } from "./hit-portions.ts";

const WINDOW = 60;
const limitOf = (count: number) => ({ name: "api-client", count, windowSeconds: WINDOW }) as const;

forEachDatabase(({ fresh }) => {
  let running: TestService;
  let clock: FakeClock;
  let orgId: string;
  before(async () => {
    clock = fakeClock();
    running = await startTestService({ databaseUrl: await fresh(), clock });
    orgId = (await makeOrganisation(running.service)).organisation.id;
  });
  after(() => running.close());

  /** A node's counting of one subject, with the number of rows that it wrote. */
  const node = (subject: string, count: number) => {
    const portions = hitPortions();
    const counted = { limit: limitOf(count), subject };
    const hit = async () => (await portions.count({ ...running.service, clock }, orgId, counted)).hits;
    return { hit, isAllowed: async () => (await hit()) <= count };
  };
  const stored = async () => {
    const rows = await running.service.database.query.selectFrom("rate_limit").selectAll().execute();
    return rows.map((row) => row.hits).sort((one, other) => one - other);
  };

  test("a hundredth of the limit is written at once, and every call is counted one by one", async () => {
    const { hit } = node("one", 1_000);
    const hits: number[] = [];
    for (let count = 0; count < 21; count++) hits.push(await hit());
    assert.deepEqual(
      hits,
      Array.from({ length: 21 }, (_, at) => at + 1),
    );
    assert.deepEqual((await stored()).at(-1), 30);
  });

  test("nodes together never allow more than the limit, however their calls mix, and each takes a portion at most", async () => {
    const [one, other] = [node("shared", 250), node("shared", 250)];
    let allowed = 0;
    for (let count = 0; count < 200; count++)
      for (const each of [one, other, one]) if (await each.isAllowed()) allowed++;
    assert.ok(allowed <= 250 && allowed >= 248, `${allowed}`);
    const late = node("shared", 250);
    assert.equal(await late.isAllowed(), false);
  });

  test("calls at once share the portions, and not one more is allowed", async () => {
    const { isAllowed } = node("at once", 300);
    const answers = await Promise.all(Array.from({ length: 400 }, isAllowed));
    assert.equal(answers.filter(Boolean).length, 300);
  });

  test("a limit below a hundred is counted one by one; a refused one asks nothing, and the next window begins anew", async () => {
    const { isAllowed, hit } = node("small", 3);
    const answers: boolean[] = [];
    for (let count = 0; count < 5; count++) answers.push(await isAllowed());
    assert.deepEqual(answers, [true, true, true, false, false]);
    const before = await stored();
    await hit();
    assert.deepEqual(await stored(), before);
    clock.advance(WINDOW * 1_000);
    assert.equal(await hit(), 1);
  });

  test("a portion ends with its window", async () => {
    const { hit } = node("ending", 1_000);
    await hit();
    clock.advance(WINDOW * 1_000);
    assert.equal(await hit(), 1);
    assert.equal(await hit(), 2);
  });

  test("who is dropped from memory loses the rest of a portion and nothing else; a fault reaches every caller, and is forgotten", async () => {
    const small = hitPortions(1);
    const deps = { ...running.service, clock };
    const count = async (subject: string) =>
      (await small.count(deps, orgId, { limit: limitOf(1_000), subject })).hits;
    assert.deepEqual([await count("x"), await count("y"), await count("x")], [1, 1, 11]);
    const fault = new Error("away");
    const away = {
      clock,
      database: new Proxy(running.service.database, {
        get: () => {
          throw fault;
        },
      }),
    };
    const portions = hitPortions();
    const counted = { limit: limitOf(1_000), subject: "fault" };
    const ask = () => portions.count(away, orgId, counted);
    for (const { status } of await Promise.allSettled([ask(), ask()])) assert.equal(status, "rejected");
    assert.equal((await portions.count(deps, orgId, counted)).hits, 1);
  });
});
