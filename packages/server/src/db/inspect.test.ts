import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import { forEachDatabase } from "../testing/databases.ts";
import { inspectDatabase, postgresFaults } from "./inspect.ts";
import { migrate, schemaState } from "./migrate.ts";
import { type Database, openDatabase } from "./open.ts";

describe("inspecting a database", () => {
  forEachDatabase(({ name, empty }) => {
    const opened: Database[] = [];
    const open = async () => {
      const database = openDatabase(await empty());
      opened.push(database);
      return database;
    };
    after(() => Promise.all(opened.map((database) => database.close())));

    test("reports product, version and clock, and no faults", async () => {
      const { product, faults, clock } = await inspectDatabase(await open());
      assert.match(product, name === "sqlite" ? /^SQLite 3\.\d+/ : /^PostgreSQL 1[5-9]/);
      assert.deepEqual(faults, []);
      if (name === "sqlite") assert.equal(clock, undefined);
      else assert.ok(Math.abs((clock ?? 0) - Date.now()) < 60_000);
    });

    test("reports missing migrations without changing anything", async () => {
      const database = await open();
      const { missing, unknown } = await schemaState(database);
      assert.ok(missing.length > 0);
      assert.deepEqual(unknown, []);
      assert.deepEqual(await database.query.introspection.getTables(), []);
      assert.deepEqual(await migrate(database), missing);
      assert.deepEqual(await schemaState(database), { missing: [], unknown: [] });
    });
  });
});

test("reports an old PostgreSQL, a wrong encoding and a standby", () => {
  assert.deepEqual(postgresFaults({ number: 150_000, encoding: "UTF8", standby: false }), []);
  const faults = postgresFaults({ number: 149_999, encoding: "SQL_ASCII", standby: true });
  assert.equal(faults.length, 3);
  assert.match(faults.join(" "), /PostgreSQL 15 or newer.*SQL_ASCII.*standby/);
});
