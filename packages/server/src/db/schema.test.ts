import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../testing/databases.ts";
import { migrate } from "./migrate.ts";
import { type Database, openDatabase } from "./open.ts";

/** What belongs to no organisation: the organisations themselves, and what the nodes keep for each other. */
const GLOBAL = [
  "background_lease",
  "installation_key",
  "operators_organisation",
  "organisation",
  "schema_migration",
];

/** A signing agent's public key belongs to one agent in the whole service (sovereign-signing.md §5, `duplicate_key`). */
const SERVICE_WIDE = ["agent_key_thumbprint", "agent_key_claim_pkey", "sqlite_autoindex_agent_key_claim_1"];

forEachDatabase(({ empty }) => {
  let database: Database;
  before(async () => {
    database = openDatabase(await empty(), 2);
    await migrate(database);
  });
  after(() => database.close());

  /** Each table's columns by position, and the columns of its keys in their order. */
  const catalogue = async (): Promise<Array<{ table: string; key: string; columns: string[] }>> => {
    const { rows } =
      database.kind === "postgres"
        ? await sql<{ table: string; key: string; columns: string }>`
            select t.relname as "table", i.relname as key,
              string_agg(a.attname, ',' order by k.position) as columns
            from pg_index x
            join pg_class i on i.oid = x.indexrelid join pg_class t on t.oid = x.indrelid
            join pg_namespace n on n.oid = t.relnamespace and n.nspname = 'public'
            cross join lateral unnest(x.indkey) with ordinality as k(column_number, position)
            join pg_attribute a on a.attrelid = t.oid and a.attnum = k.column_number
            where x.indisunique group by 1, 2`.execute(database.query)
        : await sql<{ table: string; key: string; columns: string }>`
            select t.name as "table", i.name as key,
              (select group_concat(c.name) from (select name from pragma_index_info(i.name) order by seqno) c) as columns
            from sqlite_schema t join pragma_index_list(t.name) i on i."unique" = 1
            where t.type = 'table'`.execute(database.query);
    return rows.map((row) => ({ ...row, columns: row.columns.split(",") }));
  };

  test("every unique key starts with the organisation", async () => {
    const keys = await catalogue();
    const tables = new Set(keys.map(({ table }) => table));
    assert.equal(tables.size, 117);
    for (const { table, key, columns } of keys) {
      if (!GLOBAL.includes(table) && !SERVICE_WIDE.includes(key))
        assert.equal(columns[0], "org_id", `${table}: ${key}`);
    }
  });

  test("only the organisation is found without its id", async () => {
    const keys = await catalogue();
    const withoutOrganisation = keys
      .filter(({ key, columns }) => columns[0] !== "org_id" && !SERVICE_WIDE.includes(key))
      .map(({ table }) => table);
    assert.deepEqual([...new Set(withoutOrganisation)].sort(), GLOBAL);
  });
});
