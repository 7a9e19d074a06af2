/**
 * A commit that no synchronous standby has: who cancels the wait for one makes PostgreSQL answer with success, and a warning
 * beside it. A failover would undo what a client was told.
 */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { eventually } from "../testing/eventually.ts";
import { startPostgres, type TestPostgres } from "../testing/postgres.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import { type Database, openDatabase } from "./open.ts";

describe("a synchronous standby that is away", () => {
  let server: TestPostgres;
  let database: Database;
  let operator: Database;
  before(async () => {
    server = await startPostgres({ hasStandby: true });
    [database, operator] = [openDatabase(server.url, 1), openDatabase(server.url, 1)];
    await sql`create table written (number integer)`.execute(operator.query);
    await sql`alter system set synchronous_standby_names = 'nobody'`.execute(operator.query);
    await sql`select pg_reload_conf()`.execute(operator.query);
    await sql`set synchronous_commit = on`.execute(database.query);
  });
  after(async () => {
    await Promise.all([database.close(), operator.close()]);
    await server.stop();
  });

  const cancelWait = () =>
    eventually("the wait is cancelled", async () => {
      const { rows } =
        await sql`select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'`.execute(
          operator.query,
        );
      return rows.length === 1;
    });
  const written = async () => (await sql`select number from written`.execute(database.query)).rows;

  test("a statement of its own counts as not acknowledged, though it was done", async () => {
    const insert = sql`insert into written values (1)`.execute(database.query);
    await Promise.all([assert.rejects(insert, isDatabaseUnavailable), cancelWait()]);
    assert.deepEqual(await written(), [{ number: 1 }]);
  });

  test("so does a transaction", async () => {
    const insert = database.transaction(
      async (tx) => void (await sql`insert into written values (2)`.execute(tx)),
    );
    await Promise.all([assert.rejects(insert, isDatabaseUnavailable), cancelWait()]);
    assert.deepEqual(await written(), [{ number: 1 }, { number: 2 }]);
  });
});
