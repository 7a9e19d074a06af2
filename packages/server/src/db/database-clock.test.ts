import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../testing/databases.ts";
import { databaseClock } from "./database-clock.ts";
import { type Database, openDatabase } from "./open.ts";

const HOUR_MS = 3_600_000;

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  before(async () => {
    database = openDatabase(await fresh(), 2);
  });
  after(() => database.close());

  test("returns the database's time, whatever the machine's clock does", async (t) => {
    const clock = await databaseClock(database);
    const real = Date.now();
    if (name === "postgres") {
      t.mock.timers.enable({ apis: ["Date"], now: real + HOUR_MS });
      const { rows } = await sql<{ at: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::bigint as at`.execute(database.query);
      assert.ok(Math.abs(clock.now() - (rows[0]?.at ?? 0)) < HOUR_MS / 2);
      const skewed = await databaseClock(database);
      assert.ok(Math.abs(skewed.now() - real) < HOUR_MS / 2, "also a node that starts with a wrong clock");
      skewed.close();
    }
    assert.ok(Math.abs(clock.now() - real) < HOUR_MS / 2);
    assert.ok(Number.isInteger(clock.now()));
    await clock.measure();
    clock.close();
  });
});
