import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, test } from "node:test";
import { promisify } from "node:util";
import { sql } from "kysely";
import pg from "pg";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { MIGRATION_LOCK, migrate, schemaState } from "./migrate.ts";
import { timeline } from "./migrations/timeline.ts";
import { type Database, openDatabase } from "./open.ts";

forEachDatabase(({ name, empty }) => {
  const opened: Database[] = [];
  const isMigrated = async (database: Database) => (await schemaState(database)).missing.length === 0;
  const open = (url: string) => {
    const database = openDatabase(url, 2);
    opened.push(database);
    return database;
  };
  after(() => Promise.all(opened.map((database) => database.close())));

  const applied = async ({ query }: Database) =>
    (
      await sql<{ name: string }>`select name from schema_migration order by applied_at, name`.execute(query)
    ).rows.map(({ name: one }) => one);
  const all = timeline.map(({ name: one }) => one);

  test("migrates an empty database in order, and nothing the second time", async () => {
    const database = open(await empty());
    assert.equal(await isMigrated(database), false);
    assert.deepEqual(await migrate(database), all);
    assert.equal(await isMigrated(database), true);
    assert.deepEqual(await migrate(database), []);
    assert.deepEqual(await applied(database), all);
  });

  test("concurrent processes apply each migration once", async () => {
    const url = await empty();
    const results = await Promise.all([1, 2, 3].map(() => migrateElsewhere(url)));
    assert.deepEqual(
      results.filter(({ length }) => length > 0),
      [all],
    );
    assert.equal(await isMigrated(open(url)), true);
  });

  test("refuses a database of a newer version, and says which to install", async () => {
    const database = open(await empty());
    assert.deepEqual(await migrate(database, "1.2.0"), all);
    const add = (migration: string, version: string | null) =>
      sql`insert into schema_migration (name, applied_at, version) values (${migration}, ${Date.now()}, ${version})`.execute(
        database.query,
      );
    await add("9998-later", null);
    await assert.rejects(migrate(database, "1.2.0"), {
      name: "NewerSchema",
      message: /newer version.*1\.2\.0.*install the version that applied 9998-later/,
    });
    await add("9999-latest", "1.3.1");
    await assert.rejects(migrate(database, "1.2.0"), /install version 1\.3\.1 or newer/);
    const { missing, unknown } = await schemaState(database);
    assert.deepEqual([missing, unknown], [[], ["9998-later", "9999-latest"]]);
  });

  test("records which version has applied each migration", async () => {
    const database = open(await empty());
    await migrate(database, "1.2.0");
    const { rows } = await sql<{ version: string }>`select distinct version from schema_migration`.execute(
      database.query,
    );
    assert.deepEqual(
      rows.map(({ version }) => version),
      ["1.2.0"],
    );
  });

  test("a failing migration is rolled back", async () => {
    const database = open(await empty());
    // A table in the way of one of the last statements.
    await sql`create table background_lease (other text)`.execute(database.query);
    await assert.rejects(migrate(database), /background_lease/);
    assert.equal(await isMigrated(database), false);
    await assert.rejects(sql`select 1 from organisation`.execute(database.query));
    await sql`drop table background_lease`.execute(database.query);
    assert.deepEqual(await migrate(database), all);
  });

  if (name === "postgres")
    test("waits for another node's migration longer than a request would", async () => {
      const url = await empty();
      const holder = new pg.Client({ connectionString: url });
      await holder.connect();
      await holder.query(`alter database "${new URL(url).pathname.slice(1)}" set statement_timeout = '50ms'`);
      await holder.query(`select pg_advisory_lock(${MIGRATION_LOCK})`);
      const migrated = migrate(open(url));
      const tooLong = `select 1 from pg_stat_activity where datname = current_database()
        and wait_event_type = 'Lock' and now() - query_start > interval '100 ms'`;
      await eventually("it waits", async () => (await holder.query(tooLong)).rowCount === 1);
      await holder.end();
      assert.deepEqual(await migrated, all);
    });
});

/** In a process of its own: SQLite's locks keep processes apart, and its calls block the one that they are made in. */
async function migrateElsewhere(url: string): Promise<string[]> {
  const module = (name: string) => JSON.stringify(import.meta.resolve(name));
  const script = `
    const { openDatabase } = await import(${module("./open.ts")});
    const { migrate } = await import(${module("./migrate.ts")});
    const database = openDatabase(${JSON.stringify(url)}, 1);
    console.log(JSON.stringify(await migrate(database)));
    await database.close();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", script]);
  return JSON.parse(stdout) as string[];
}
