/** Connections to PostgreSQL that die without a word: dropped packets, a firewall that forgot them, a frozen host. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import { postgresServer } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { type BreakableProxy, breakableProxy } from "../testing/fakes/breakable-proxy.ts";
import { createDatabase, dropDatabase } from "../testing/postgres.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import { type Database, openDatabase } from "./open.ts";
import { listenOnPostgres } from "./postgres/postgres-listener.ts";
import { chooseServers } from "./postgres/server-addresses.ts";

const BACK_MS = 5_000;

describe("silent loss", () => {
  let databaseUrl: string;
  let proxy: BreakableProxy;
  let database: Database;
  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    proxy = await breakableProxy(databaseUrl);
    database = openDatabase(proxy.url, 4);
  });
  after(async () => {
    await database.close();
    await proxy.close();
    await dropDatabase(await postgresServer(), databaseUrl);
  });

  const ask = () => sql`select 1`.execute(database.query);
  /** Fills the pool: each of the four transactions has a connection of its own. */
  const useAll = () =>
    Promise.all(
      Array.from({ length: 4 }, () =>
        database.transaction(async (tx) => void (await sql`select pg_sleep(0.05)`.execute(tx))),
      ),
    );
  /** As requests do: at most twenty at a time, each of them for as long as it takes. @returns until the first success */
  const firstSuccess = async (): Promise<number> => {
    const began = performance.now();
    let done: number | undefined;
    await eventually(
      "a statement succeeds",
      async () => {
        void ask().then(
          () => {
            done ??= performance.now() - began;
          },
          (error: unknown) => assert.equal(isDatabaseUnavailable(error), true),
        );
        await new Promise((resolve) => setTimeout(resolve, 100));
        return done !== undefined;
      },
      60_000,
    );
    return done ?? 0;
  };

  test("connections that were idle when they died are replaced", async () => {
    await useAll();
    proxy.freeze();
    proxy.thaw();
    assert.ok((await firstSuccess()) < BACK_MS);
    await useAll();
  });

  test("connections that died with a statement under way are replaced when the path is back", async () => {
    await useAll();
    const waiting = Array.from({ length: 4 }, () => sql`select pg_sleep(2)`.execute(database.query));
    await eventually("the statements run", async () => {
      const other = openDatabase(databaseUrl, 1);
      const { rows } = await sql`select 1 from pg_stat_activity where query like '%pg_sleep(2)'
        and state = 'active' and pid <> pg_backend_pid() and datname = current_database()`.execute(
        other.query,
      );
      await other.close();
      return rows.length === 4;
    });
    proxy.freeze();
    // More of them, who get no connection or one that never greets.
    const more = Array.from({ length: 8 }, ask);
    const ended = Promise.allSettled([...waiting, ...more]);
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    proxy.thaw();
    assert.ok((await firstSuccess()) < BACK_MS);
    for (const one of await ended)
      if (one.status === "rejected")
        assert.equal(isDatabaseUnavailable(one.reason), true, String(one.reason));
    await useAll();
  });

  test("a slow statement is left alone, and so is one that waits for a lock", async () => {
    await sql`create table if not exists things (id integer)`.execute(database.query);
    const slow = sql`select pg_sleep(4)`.execute(database.query);
    const holder = database.transaction(async (tx) => {
      await sql`lock table things`.execute(tx);
      await sql`select pg_sleep(3)`.execute(tx);
    });
    const waits = sql`select * from things`.execute(database.query);
    await Promise.all([slow, holder, waits]);
  });

  test("closing doesn't wait for a dead connection", async () => {
    const other = openDatabase(proxy.url, 2);
    await sql`select 1`.execute(other.query);
    const failed = assert.rejects(sql`select pg_sleep(1)`.execute(other.query));
    await new Promise((resolve) => setTimeout(resolve, 100));
    proxy.freeze();
    const began = performance.now();
    await other.close();
    await failed;
    assert.ok(performance.now() - began < BACK_MS);
    proxy.thaw();
  });

  test("a listener that died without a word listens again", async () => {
    const heard: string[] = [];
    let gaps = 0;
    const stop = await listenOnPostgres({
      servers: chooseServers(proxy.url),
      channel: "silent_loss",
      onMessage: (payload) => heard.push(payload),
      onGap: () => void gaps++,
    });
    proxy.freeze();
    proxy.thaw();
    await eventually("it listens again", () => gaps > 0, 30_000);
    await eventually(
      "statements work",
      () =>
        ask().then(
          () => true,
          () => false,
        ),
      30_000,
    );
    await sql`select pg_notify('silent_loss', 'news')`.execute(database.query);
    await eventually("it hears", () => heard.includes("news"));
    await stop();
  });
});
