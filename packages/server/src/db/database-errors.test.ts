/** Real errors of real databases, and what they mean for the answer: 503 when trying again may help, else 500. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { postgresServer } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { createDatabase, dropDatabase } from "../testing/postgres.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import { type Database, type Db, openDatabase } from "./open.ts";
import { openSqliteFile } from "./sqlite/node-sqlite.ts";
import { asAnotherRequest } from "./transaction-scope.ts";

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    return error;
  }
  return assert.fail("nothing was thrown");
}

const run = (db: Db, statement: string) => sql.raw(statement).execute(db);

describe("postgres", () => {
  let url: string;
  let database: Database & { kind: "postgres" };
  before(async () => {
    const made = new URL(await createDatabase(await postgresServer()));
    made.search = "";
    url = made.href;
    const opened = openDatabase(url, 2);
    assert.ok(opened.kind === "postgres");
    database = opened;
    await run(database.query, "create table things (id integer primary key)");
  });
  after(async () => {
    await database.close();
    await dropDatabase(await postgresServer(), url);
  });
  const isUnavailable = async (work: () => unknown) => isDatabaseUnavailable(await errorOf(work));

  test("reports an unreachable server", async () => {
    const nowhere = new URL(url);
    nowhere.port = "1";
    const gone = openDatabase(nowhere.href, 1);
    assert.equal(await isUnavailable(() => gone.ping()), true);
    await gone.close();
    assert.equal(await isUnavailable(() => gone.ping()), true, "a pool that was closed under a late request");
  });

  test("reports a closed connection: idle, busy or within a transaction", async () => {
    const own = "select pg_terminate_backend(pg_backend_pid())";
    assert.equal(await isUnavailable(() => run(database.query, own)), true);
    const between = () =>
      database.transaction(async (tx) => {
        const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx);
        await asAnotherRequest(() =>
          sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.query),
        );
        await new Promise((resolve) => setTimeout(resolve, 50));
        await run(tx, "insert into things values (1)");
      });
    assert.equal(await isUnavailable(between), true);
    await database.ping();
  });

  test("reports an exhausted pool after two seconds, and a statement timeout", async () => {
    const { promise: refused, resolve: letGo } = Promise.withResolvers<void>();
    const hold = () => database.transaction(() => refused);
    const held = Promise.all([hold(), hold()]);
    assert.equal(await isUnavailable(() => database.ping()), true);
    letGo();
    await held;
    const slow = () =>
      database.transaction(async (tx) => {
        await run(tx, "set local statement_timeout = 20");
        await run(tx, "select pg_sleep(1)");
      });
    assert.equal(await isUnavailable(slow), true);
  });

  test("connect_timeout of the URL sets the connection timeout", async () => {
    for (const [query, milliseconds] of [
      ["", 2_000],
      ["?connect_timeout=7", 7_000],
      ["?connect_timeout=0", 2_000],
      ["?connect_timeout=soon", 2_000],
      ["?connect_timeout=9999999", 3_600_000],
    ] as const) {
      const named = openDatabase(`${url}${query}`, 1);
      assert.equal(named.kind === "postgres" && named.pool.options.connectionTimeoutMillis, milliseconds);
      await named.ping();
      await named.close();
    }
  });

  test("reports a deadlock", async () => {
    await run(database.query, "insert into things values (10), (11)");
    let begun = 0;
    const cross = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await run(tx, "set local deadlock_timeout = '20ms'");
        await run(tx, `update things set id = id where id = ${first}`);
        begun += 1;
        await eventually("both hold a row", () => begun === 2);
        await run(tx, `update things set id = id where id = ${second}`);
      });
    const results = await Promise.allSettled([cross(10, 11), cross(11, 10)]);
    const [failed] = results.filter((result) => result.status === "rejected");
    assert.equal(isDatabaseUnavailable(failed?.reason), true);
  });

  test("reports a read-only server, and leaves its connections for those of the server that the address leads to", async () => {
    const connection = async () =>
      (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.query)).rows[0]?.pid;
    const name = new URL(url).pathname.slice(1);
    const setReadOnly = async (value: "on" | "off") => {
      const admin = openDatabase(url, 1);
      await admin.transaction(async (tx) => {
        await run(tx, "set transaction read write");
        await run(tx, `alter database "${name}" set default_transaction_read_only = ${value}`);
      });
      await admin.close();
    };
    await database.ping();
    const first = await connection();
    await setReadOnly("on");
    const error = await errorOf(() =>
      database.transaction(async (tx) => {
        await run(tx, "set transaction read only");
        await run(tx, "insert into things values (20)");
      }),
    );
    assert.equal((error as { code?: string }).code, "25006");
    assert.equal(isDatabaseUnavailable(error), true);
    const second = await connection();
    assert.notEqual(second, first, "a new connection");
    assert.equal(await isUnavailable(() => database.ping()), true, "which is read-only from its beginning");
    assert.notEqual(await connection(), second, "the health check leaves it as well");
    assert.equal(await isUnavailable(() => run(database.query, "insert into things values (20)")), true);
    await setReadOnly("off");
    await eventually("the pool moves on", () =>
      run(database.query, "insert into things values (20)").then(
        () => true,
        () => false,
      ),
    );
    await database.ping();
  });

  test("reports a server that starts, stops or can't be reached", () => {
    for (const code of ["57P01", "57P03", "EHOSTUNREACH", "ENETUNREACH", "ECONNREFUSED", "EADDRNOTAVAIL"])
      assert.equal(isDatabaseUnavailable(Object.assign(new Error("x"), { code })), true, code);
  });

  test("doesn't report a faulty statement on PostgreSQL", async () => {
    for (const statement of [
      "select * from nowhere",
      "insert into things values (10)",
      "selec",
      "select 1/0",
      "select 'x'::integer",
    ]) {
      assert.equal(await isUnavailable(() => run(database.query, statement)), false, statement);
    }
    for (const error of [
      new TypeError("x"),
      new Error("ECONNREFUSED"),
      "57P01",
      undefined,
      { code: "57P01" },
    ])
      assert.equal(isDatabaseUnavailable(error), false);
  });
});

describe("sqlite", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "signet-unavailable-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const openFile = async (name: string) => {
    const path = join(folder, name);
    const database = openDatabase(`sqlite:${path}`);
    assert.ok(database.kind === "sqlite");
    await run(database.query, "create table things (id integer primary key, text text)");
    return { database, path };
  };

  test("reports a locked file, and recovers", async () => {
    const { database, path } = await openFile("busy.db");
    const other = openSqliteFile(path);
    other.exec("begin immediate");
    const insert = (db: Db) => run(db, "insert into things values (1, 'x')");
    const writes = [() => insert(database.query), () => database.transaction(insert)].map(errorOf);
    // Meanwhile reads go on.
    await run(database.query, "select * from things");
    for (const error of await Promise.all(writes)) assert.equal(isDatabaseUnavailable(error), true);
    other.exec("rollback");
    other.close();
    await database.transaction((tx) => run(tx, "insert into things values (1, 'x')"));
    await database.close();
  });

  test("a full disk fails writes, allows reads, and recovers", async () => {
    const { database } = await openFile("full.db");
    const limit = (pages: number) => database.file.exec(`pragma max_page_count = ${pages}`);
    limit(5);
    const fill = (id: number) =>
      run(database.query, `insert into things values (${id}, '${"x".repeat(50_000)}')`);
    const fillInTransaction = () =>
      database.transaction(async (tx) => {
        await run(tx, "insert into things values (100, 'small')");
        await run(tx, `insert into things values (101, '${"x".repeat(50_000)}')`);
      });
    for (const work of [() => fill(1), fillInTransaction, () => fill(2), fillInTransaction])
      assert.equal(isDatabaseUnavailable(await errorOf(work)), true);
    const count = async () => (await run(database.query, "select id from things")).rows.length;
    assert.equal(await count(), 0);
    limit(10_000);
    await fillInTransaction();
    assert.equal(await count(), 2);
    await database.close();
  });

  test("doesn't report a faulty statement on SQLite", async () => {
    const { database } = await openFile("wrong.db");
    await run(database.query, "insert into things values (1, 'x')");
    for (const statement of ["select * from nowhere", "insert into things values (1, 'x')", "selec"])
      assert.equal(
        isDatabaseUnavailable(await errorOf(() => run(database.query, statement))),
        false,
        statement,
      );
    await database.close();
  });
});
