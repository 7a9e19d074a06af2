/**
 * The schema can be distributed by organisation, and what can't be is named. There is no Citus among the packages that the tests may
 * install: its two functions are stood in for, and the catalogue is PostgreSQL's own.
 */
import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import { runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase, postgresServer } from "../../testing/databases.ts";
import { createDatabase, dropDatabase } from "../../testing/postgres.ts";
import { migrate } from "../migrate.ts";
import { type Database, openDatabase } from "../open.ts";
import { readCatalogue } from "./catalogue.ts";
import { CannotDistribute, distribute, distributionStatements, release, releasing } from "./distribute.ts";
import { faultsOf } from "./faults.ts";
import { referenceTables, tablesByOrganisation } from "./tables.ts";

interface Distributed {
  readonly statements: readonly string[];
  readonly applied: boolean;
}

describe("distribution by organisation", () => {
  let server: string;
  let template: string;
  let url: string;
  let database: Database;
  before(async () => {
    server = await postgresServer();
    template = await createDatabase(server);
    const made = openDatabase(template, 1);
    await migrate(made, "test");
    await made.close();
  });
  after(() => dropDatabase(server, template));
  beforeEach(async () => {
    url = await createDatabase(server, decodeURIComponent(new URL(template).pathname.slice(1)));
    database = openDatabase(url, 2);
  });
  afterEach(async () => {
    await database.close();
    await dropDatabase(server, url);
  });

  const run = (text: string) => sql.raw(text).execute(database.query);
  const refusal = async (): Promise<string> => {
    const refused = await distributionStatements(database).then(
      () => undefined,
      (error: unknown) => error,
    );
    assert.ok(refused instanceof CannotDistribute);
    return refused.message;
  };

  test("every table has a place, and every key and reference begins with the organisation", async () => {
    await release(database.query);
    const catalogue = await readCatalogue(database.query);
    assert.ok(
      catalogue.tables.size > 70 && catalogue.uniqueKeys.length > 90 && catalogue.references.length > 50,
    );
    assert.deepEqual(faultsOf(catalogue), []);
    assert.deepEqual(
      [...catalogue.tables.keys()].toSorted(),
      [...tablesByOrganisation.map(([table]) => table), ...referenceTables].toSorted(),
    );
  });

  test("what one server keeps besides is one key and one reference", async () => {
    const before = faultsOf(await readCatalogue(database.query));
    assert.equal(before.length, 2, before.join());
    assert.match(
      before.join("; "),
      /unique key agent_key_thumbprint .* reference membership_home_org_id_user_id_fkey/,
    );
  });

  for (const [name, statement, fault] of [
    [
      "a table of no organisation",
      "create table note (id text primary key)",
      /the table note belongs neither/,
    ],
    [
      "a unique key over all organisations",
      "create unique index user_phone on user_account (phone)",
      /the unique key user_phone of user_account doesn't begin/,
    ],
    [
      "a key that ends with the organisation",
      "create unique index user_phone on user_account (phone, org_id)",
      /the unique key user_phone of user_account doesn't begin/,
    ],
    [
      "a unique expression",
      "create unique index user_phone on user_account (lower(phone), org_id)",
      /the unique key user_phone of user_account doesn't begin/,
    ],
    [
      "a reference to another organisation",
      `alter table consent add column giver_org text, add constraint given_by foreign key (giver_org, user_id)
        references user_account (org_id, id)`,
      /the reference given_by \(consent to user_account\) leaves the organisation/,
    ],
    ["a table that is gone", "drop table audit_filter", /the table audit_filter is missing/],
  ] as const)
    test(`refuses ${name}`, async () => {
      await run(statement);
      assert.match(await refusal(), fault);
      const { code, err } = await runInProcess(["distribute"], { DATABASE_URL: url });
      assert.equal(code, 1);
      assert.match(err, fault);
    });

  test("prints statements for every table, those that are referred to first, and changes nothing", async () => {
    const before = await readCatalogue(database.query);
    const { statements, applied } = await runForJson<Distributed>(["distribute"], { DATABASE_URL: url });
    assert.equal(applied, false);
    assert.deepEqual(await readCatalogue(database.query), before);
    assert.deepEqual(statements.slice(0, releasing.length), releasing);
    const at = (table: string) => statements.findIndex((one) => one.includes(`table('${table}'`));
    for (const table of [...before.tables.keys()]) assert.ok(at(table) >= releasing.length, table);
    for (const { name, from, to } of before.references)
      if (name !== "membership_home_org_id_user_id_fkey" && from !== to) assert.ok(at(to) < at(from), name);
    assert.equal(
      statements[at("membership")],
      "select create_distributed_table('membership', 'org_id', colocate_with => 'organisation')",
    );
    assert.equal(
      statements[at("organisation")],
      "select create_distributed_table('organisation', 'id', colocate_with => 'none')",
    );
    const { out } = await runInProcess(["distribute"], { DATABASE_URL: url });
    assert.deepEqual(
      out.trimEnd().split("\n"),
      statements.map((one) => `${one};`),
    );
  });

  test("without Citus nothing is applied", async () => {
    const { code, err } = await runInProcess(["distribute", "--apply"], { DATABASE_URL: url });
    assert.equal(code, 1);
    assert.match(err, /create extension citus/);
    assert.equal(faultsOf(await readCatalogue(database.query)).length, 2);
  });

  test("applies what is left, also after an interruption, and then nothing", async () => {
    await standInForCitus(run);
    await database.close();
    database = openDatabase(url, 2);
    await run("insert into stand_in.refused values ('membership')");
    await assert.rejects(
      distribute(database, () => {}),
      /refused: membership/,
    );
    const left = await distributionStatements(database);
    assert.ok(left.length > releasing.length && left.some((one) => one.includes("'membership'")));
    assert.ok(!left.some((one) => one.includes("table('organisation'")), "it is done already");
    await run("delete from stand_in.refused");
    const { out, code } = await runInProcess(["distribute", "--apply"], { DATABASE_URL: url });
    assert.equal(code, 0);
    assert.match(out, /create_distributed_table\('membership'/);
    const { rows } = await sql<{ n: number }>`select count(*) as n from pg_dist_partition`.execute(
      database.query,
    );
    assert.equal(Number(rows[0]?.n), tablesByOrganisation.length + referenceTables.length);
    assert.deepEqual(faultsOf(await readCatalogue(database.query)), []);
    const again = await runInProcess(["distribute", "--apply"], { DATABASE_URL: url });
    assert.match(again.out, /Everything is distributed/);
  });
});

forEachDatabase(({ name, fresh }) => {
  if (name === "sqlite")
    test("an SQLite file is refused", async () => {
      const { code, err } = await runInProcess(["distribute"], { DATABASE_URL: await fresh() });
      assert.equal(code, 1);
      assert.match(err, /SQLite/);
    });
});

/** Its functions and its table of what is distributed, in a schema that is searched last. */
async function standInForCitus(run: (text: string) => Promise<unknown>): Promise<void> {
  const note = `begin
    if exists (select 1 from stand_in.refused r where r.name = t::text) then
      raise exception 'refused: %', t;
    end if;
    insert into stand_in.pg_dist_partition values (t);
  end`;
  await run("create schema stand_in");
  await run("create table stand_in.refused (name text)");
  await run("create table stand_in.pg_dist_partition (logicalrelid regclass primary key)");
  await run(
    `create function stand_in.create_reference_table(t regclass) returns void language plpgsql as $$${note}$$`,
  );
  await run(`create function stand_in.create_distributed_table(t regclass, key text, colocate_with text default 'default')
    returns void language plpgsql as $$${note}$$`);
  const { rows } = (await run("select current_database() as name")) as { rows: Array<{ name: string }> };
  await run(`alter database "${rows[0]?.name}" set search_path to public, stand_in`);
}
