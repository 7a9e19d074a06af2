import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { sql } from "kysely";
import { isDatabaseUnavailable } from "../database-errors.ts";
import { openDatabase } from "../open.ts";
import { TurnTimeout, turns } from "./turns.ts";

test("turns are given in order", async () => {
  const turn = turns();
  const got: number[] = [];
  await turn.take();
  const waiting = [1, 2, 3].map((one) => turn.take().then(() => got.push(one)));
  for (let given = 0; given < 3; given++) {
    turn.give();
    await turnOfTheLoop();
    assert.equal(got.length, given + 1);
    assert.equal(turn.isTaken(), true);
  }
  await Promise.all(waiting);
  assert.deepEqual(got, [1, 2, 3]);
  turn.give();
  assert.deepEqual([turn.isTaken(), turn.takenFor()], [false, 0]);
});

test("who waits too long is told, and the next ones keep their order", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turn = turns(1_000);
  await turn.take();
  const late = assert.rejects(turn.take(), TurnTimeout);
  t.mock.timers.tick(600);
  const patient = turn.take();
  t.mock.timers.tick(400);
  await late;
  turn.give();
  await patient;
  turn.give();
  assert.equal(turn.isTaken(), false);
});

test("a transaction that never ends costs the others a 503, and says how long it has been", async (t) => {
  const database = openDatabase("sqlite::memory:");
  const { promise: never, resolve: end } = Promise.withResolvers<void>();
  const stuck = database.transaction(() => never);
  await turnOfTheLoop();
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const refused = [sql`select 1`.execute(database.query), database.transaction(async () => {})];
  await turnOfTheLoop();
  t.mock.timers.tick(5_000);
  for (const one of await Promise.allSettled(refused)) {
    assert.equal(one.status, "rejected");
    assert.equal(isDatabaseUnavailable(one.status === "rejected" && one.reason), true);
  }
  assert.ok(database.stuckFor() > 0);
  end();
  await stuck;
  await sql`select 1`.execute(database.query);
  assert.equal(database.stuckFor(), 0);
  await database.close();
});
