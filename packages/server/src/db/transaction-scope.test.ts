import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import { boundTo, type Database, openDatabase } from "./open.ts";
import { asAnotherRequest, NestedConnection } from "./transaction-scope.ts";

forEachDatabase(({ name, fresh }) => {
  let database: Database;
  let url: string;
  before(async () => {
    url = await fresh();
    // Enough connections that a statement beside the transaction would get one.
    database = openDatabase(url, 4);
  });
  after(() => database.close());

  const ask = (one: Database = database) => sql`select 1`.execute(one.query);

  test("a connection asked for inside a transaction is an error at once, however deep", async () => {
    await database.transaction(async (tx) => {
      await assert.rejects(ask(), NestedConnection);
      await assert.rejects(database.ping(), NestedConnection);
      await assert.rejects(
        database.transaction(async () => assert.fail("a second transaction began")),
        NestedConnection,
      );
      const later = new Promise((resolve) => setImmediate(resolve)).then(() => ask());
      await assert.rejects(later, NestedConnection);
      // The transaction itself goes on.
      await ask(boundTo(database, tx));
      await boundTo(database, tx).transaction((inner) => sql`select 1`.execute(inner));
    });
    await ask();
  });

  test("it is a fault of ours, not of the database, and rolls the transaction back", async () => {
    await sql`create table if not exists kept (id integer)`.execute(database.query);
    const faulty = database.transaction(async (tx) => {
      await sql`insert into kept values (1)`.execute(tx);
      await ask();
    });
    const [{ reason }] = (await Promise.allSettled([faulty])) as [PromiseRejectedResult];
    assert.ok(reason instanceof NestedConnection);
    assert.equal(isDatabaseUnavailable(reason), false);
    assert.deepEqual((await sql`select id from kept`.execute(database.query)).rows, []);
  });

  test("what a transaction started and did not await may go on after it", async () => {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    let late: Promise<unknown> | undefined;
    await database.transaction(async () => {
      late = done.then(() => ask());
    });
    resolve();
    await late;
  });

  test("other requests and other databases are none of its business", async () => {
    const other = openDatabase(name === "sqlite" ? "sqlite::memory:" : url, 1);
    let waiting: Promise<unknown> = Promise.resolve();
    await database.transaction(async () => {
      await ask(other);
      waiting = asAnotherRequest(() => ask());
    });
    await waiting;
    await other.close();
  });

  test("concurrent transactions are told apart", async () => {
    let begun = 0;
    const one = () =>
      database.transaction(async (tx) => {
        begun += 1;
        if (name === "postgres") await eventually("all have begun", () => begun === 3);
        await assert.rejects(ask(), NestedConnection);
        await sql`select 1`.execute(tx);
      });
    await Promise.all([one(), one(), one()]);
  });
});
