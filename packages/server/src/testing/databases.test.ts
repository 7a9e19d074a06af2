import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, describe, test } from "node:test";
import pg from "pg";
import { forEachDatabase, postgresServer } from "./databases.ts";

const urls: string[] = [];
const names: string[] = [];

describe("a database for each test", () => {
  forEachDatabase(({ name, fresh, empty }) => {
    names.push(name);
    test("is new and empty every time", async () => {
      const [first, second] = [await fresh(), await empty()];
      assert.notEqual(first, second);
      urls.push(first, second);
      for (const url of [first, second]) assert.equal(await createTable(url), `created in ${name}`);
    });

    // The suite's own clean-up, which would close its connections: the databases must still be there.
    after(async () => {
      for (const url of urls.slice(-2)) await dropTable(url);
    });
  });

  test("is gone after its suite", async () => {
    assert.equal(urls.length, 2 * names.length);
    const wanted = process.env["SIGNET_TEST_DATABASES"]?.split(",") ?? ["sqlite", "postgres"];
    assert.deepEqual(names, wanted);
    for (const url of urls) {
      if (url.startsWith("sqlite:")) assert.ok(!existsSync(sqlitePath(url)));
      else await assert.rejects(query(url, "SELECT 1"), { code: "3D000" });
    }
  });
});

/** Fails when the table is there already. */
async function createTable(url: string): Promise<string> {
  if (!url.startsWith("sqlite:")) {
    await query(url, "CREATE TABLE things (id integer)");
    return "created in postgres";
  }
  const database = new DatabaseSync(sqlitePath(url));
  database.exec("CREATE TABLE things (id integer)");
  database.close();
  return "created in sqlite";
}

/** Fails when the database, and so the table, is gone. */
async function dropTable(url: string): Promise<void> {
  if (!url.startsWith("sqlite:")) return query(url, "DROP TABLE things");
  const database = new DatabaseSync(sqlitePath(url));
  database.exec("DROP TABLE things");
  database.close();
}

function sqlitePath(url: string): string {
  return url.slice("sqlite:".length);
}

async function query(url: string, statement: string): Promise<void> {
  assert.equal(new URL(url).host, new URL(await postgresServer()).host);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}
