/** Writes that are not waited for until they are on disk: marked for SQLite, a setting of their own transaction on PostgreSQL. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../testing/databases.ts";
import { type Database, openDatabase } from "./open.ts";
import { isUnsynced } from "./sqlite/unsynced-mark.ts";
import { unsynced } from "./unsynced.ts";

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  before(async () => {
    // One connection: what a statement leaves behind meets the next one.
    database = openDatabase(await fresh(), 1);
    await sql`create table note (text text)`.execute(database.query);
  });
  after(() => database.close());

  test("the statement does its work and says that it needs no sync", async () => {
    const { query } = database;
    const insert = sql`insert into note select 'one' where ${unsynced(query)}`;
    assert.equal(isUnsynced(insert.compile(query).sql), name === "sqlite");
    await insert.execute(query);
    const { rows } = await sql<{ text: string }>`select text from note`.execute(query);
    assert.deepEqual(
      rows.map(({ text }) => text),
      ["one"],
    );
  });

  if (name === "postgres")
    test("the commit of the statement waits for no disk, and the next one does again", async () => {
      const { query } = database;
      // Servers of tests need not keep anything.
      await sql`set synchronous_commit = on`.execute(query);
      const setting = sql`current_setting('synchronous_commit')`;
      const { rows } = await sql`with w as materialized (select ${unsynced(query)} as is_set)
        select is_set, ${setting} as during from w`.execute(query);
      assert.deepEqual(rows, [{ is_set: true, during: "off" }]);
      const after = await sql`select ${setting} as later`.execute(query);
      assert.deepEqual(after.rows, [{ later: "on" }]);
    });
});
