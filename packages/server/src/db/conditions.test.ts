import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { allOf } from "./conditions.ts";
import { migrate } from "./migrate.ts";
import { type Database, openDatabase } from "./open.ts";

forEachDatabase(({ fresh }) => {
  let database: Database;
  before(async () => {
    database = openDatabase(await fresh(), 1);
    await migrate(database);
    const lease = { holder: "x", expires_at: 0 };
    for (const name of ["one", "other"])
      await database.query
        .insertInto("background_lease")
        .values({ name, ...lease })
        .execute();
  });
  after(() => database.close());

  const names = async (values: { name?: string; holder?: string }) => {
    const rows = await database.query
      .selectFrom("background_lease")
      .select("name")
      .where((eb) => allOf(eb, values))
      .orderBy("name")
      .execute();
    return rows.map(({ name }) => name);
  };

  test("finds the rows that have every value", async () => {
    assert.deepEqual(await names({ name: "one", holder: "x" }), ["one"]);
    assert.deepEqual(await names({ name: "one", holder: "y" }), []);
  });

  test("throws where a value is missing, and reaches no other rows", async () => {
    // As untyped callers could.
    const values = { name: undefined, holder: "x" } as unknown as { holder: string };
    await assert.rejects(names(values), /no value for name/);
  });
});
