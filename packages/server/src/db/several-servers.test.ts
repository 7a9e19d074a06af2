/** Several servers in DATABASE_URL: one that is dead, silent or read-only costs its time-out once, and no request more. */
import assert from "node:assert/strict";
import { createServer } from "node:net";
import { after, before, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { postgresServer } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { type BreakableProxy, breakableProxy } from "../testing/fakes/breakable-proxy.ts";
import { freePort } from "../testing/free-port.ts";
import { createDatabase, dropDatabase, startPostgres, type TestPostgres } from "../testing/postgres.ts";
import { openChangeFeed } from "./change-feed.ts";
import { isDatabaseUnavailable } from "./database-errors.ts";
import { type Database, openDatabase } from "./open.ts";

/** Lets everybody in, and hangs up at the first statement. */
async function greetingServer(): Promise<{ url: string; close(): Promise<void> }> {
  // AuthenticationOk and ReadyForQuery (PostgreSQL, "Message Formats").
  const greeting = Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, 0x5a, 0, 0, 0, 5, 0x49]);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => {
      socket.write(greeting);
      socket.once("data", () => socket.destroy());
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

describe("several PostgreSQL servers", () => {
  let databaseUrl: string;
  let standby: TestPostgres;
  let first: BreakableProxy;
  let second: BreakableProxy;
  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    [first, second] = [await breakableProxy(databaseUrl), await breakableProxy(databaseUrl)];
    standby = await startPostgres();
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    await client.query(`create database ${pg.escapeIdentifier(new URL(databaseUrl).pathname.slice(1))}`);
    await client.query("alter system set default_transaction_read_only = on");
    await client.query("select pg_reload_conf()");
    await client.end();
  });
  after(async () => {
    await Promise.all([first.close(), second.close(), standby.stop()]);
    await dropDatabase(await postgresServer(), databaseUrl);
  });

  const through = (...urls: string[]): string => {
    const [one = ""] = urls;
    const url = new URL(one);
    const hosts = urls.map((each) => new URL(each).host).join(",");
    return `postgres://${url.username}@${hosts}${new URL(databaseUrl).pathname}?connect_timeout=2`;
  };
  const withDatabase = async (url: string, work: (database: Database) => Promise<void>) => {
    const database = openDatabase(url, 3);
    try {
      await work(database);
    } finally {
      await database.close();
    }
  };
  const write = async ({ query }: Database) => {
    await sql`create table if not exists written (at int)`.execute(query);
    await sql`insert into written values (1)`.execute(query);
  };

  test("the first that answers is used, by requests and by those who listen, without an error", async () => {
    const dead = `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await withDatabase(through(dead, first.url), async (database) => {
      await write(database);
      const feed = await openChangeFeed(database);
      const heard: unknown[] = [];
      feed.subscribe((change) => heard.push(change));
      await sql`select pg_notify('signet_changes', 'organisation elsewhere')`.execute(database.query);
      await eventually("hears the other node", async () => heard.length > 0);
      assert.deepEqual(heard, [{ topic: "organisation", orgId: "elsewhere" }]);
      await feed.close();
    });
  });

  test("notifications are heard at an address of their own, where the other is a pooler's", async () => {
    const database = openDatabase(first.url, 3, undefined, second.url);
    try {
      const feed = await openChangeFeed(database);
      const heard: unknown[] = [];
      feed.subscribe((change) => heard.push(change));
      await second.cut();
      await write(database);
      await second.restore();
      await eventually("the gap is noticed", async () => heard.includes("everything"));
      await feed.close();
    } finally {
      await database.close();
    }
  });

  test("whoever listens goes where the requests have gone, though the server before still answers", async () => {
    await withDatabase(through(first.url, second.url), async (database) => {
      assert.ok(database.kind === "postgres");
      const feed = await openChangeFeed(database);
      const heard: unknown[] = [];
      feed.subscribe((change) => heard.push(change));
      database.servers.moveOn(database.servers.current());
      await eventually("the gap is noticed", async () => heard.includes("everything"));
      await first.cut();
      await sql`select pg_notify('signet_changes', 'organisation elsewhere')`.execute(database.query);
      await eventually("hears the other node", async () => heard.length > 1);
      assert.deepEqual(heard, ["everything", { topic: "organisation", orgId: "elsewhere" }]);
      await feed.close();
      await first.restore();
    });
  });

  test("none of them answers: the error is that of an unreachable database", async () => {
    const dead = async () => `postgres://postgres@127.0.0.1:${await freePort()}/postgres`;
    await withDatabase(through(await dead(), await dead()), async (database) => {
      await assert.rejects(write(database), isDatabaseUnavailable);
    });
  });

  test("moves to the other when the one in use goes, and stays there when it is back", async () => {
    await withDatabase(through(first.url, second.url), async (database) => {
      await write(database);
      await first.cut();
      await eventually("the other answers", () =>
        write(database).then(
          () => true,
          () => false,
        ),
      );
      assert.equal(
        database.kind === "postgres" && new URL(database.servers.current()).host,
        new URL(second.url).host,
      );
      await first.restore();
      await write(database);
      assert.equal(
        database.kind === "postgres" && new URL(database.servers.current()).host,
        new URL(second.url).host,
      );
    });
  });

  test("a silent one costs its time-out", async () => {
    first.freeze();
    try {
      await withDatabase(through(first.url, second.url), async (database) => {
        await eventually(
          "the other answers",
          () =>
            write(database).then(
              () => true,
              () => false,
            ),
          20_000,
        );
      });
    } finally {
      first.thaw();
    }
  });

  test("one that takes no writes is passed over, and alone it is away", async () => {
    await withDatabase(through(standby.url, second.url), async (database) => {
      await write(database);
      await database.ping();
    });
    await withDatabase(through(standby.url), async (database) => {
      await sql`select 1`.execute(database.query);
      await assert.rejects(database.ping(), isDatabaseUnavailable);
    });
    const both = new URL(standby.url).host;
    const alone = through(standby.url).replace(both, `${both},${both}`);
    await withDatabase(alone, async (database) => {
      await assert.rejects(write(database), isDatabaseUnavailable);
    });
  });

  test("one that greets and answers no statement is passed over, and alone it is away", async () => {
    const greeter = await greetingServer();
    try {
      await withDatabase(through(greeter.url, second.url), write);
      await withDatabase(through(greeter.url), async (database) => {
        await assert.rejects(write(database), isDatabaseUnavailable);
      });
    } finally {
      await greeter.close();
    }
  });

  test("a long statement goes on while another server is used for new connections", async () => {
    await withDatabase(through(first.url, standby.url), async (database) => {
      await write(database);
      const long = sql`select pg_sleep(3)`.execute(database.query);
      await eventually("the statement runs", async () => {
        const { rows } = await sql<{ count: number }>`
          select count(*) from pg_stat_activity where query = 'select pg_sleep(3)'`.execute(database.query);
        return rows[0]?.count === 1;
      });
      assert.ok(database.kind === "postgres");
      database.servers.moveOn(database.servers.current());
      await long;
    });
  });

  test("a server that becomes read-only under way is left", async () => {
    const name = new URL(databaseUrl).pathname.slice(1);
    await withDatabase(through(first.url, standby.url), async (database) => {
      await write(database);
      const admin = new pg.Client({ connectionString: standby.url });
      await admin.connect();
      await admin.query("alter system set default_transaction_read_only = off");
      await admin.query("select pg_reload_conf()");
      await admin.end();
      await sql`alter database ${sql.id(name)} set default_transaction_read_only = on`.execute(
        database.query,
      );
      try {
        await sql`set default_transaction_read_only = on`.execute(database.query);
        await eventually(
          "the promoted one takes writes",
          () =>
            write(database).then(
              () => true,
              () => false,
            ),
          20_000,
        );
        const { rows } = await sql<{ n: string }>`select count(*) as n from written`.execute(database.query);
        assert.equal(Number(rows[0]?.n), 1);
      } finally {
        await withDatabase(first.url, async (direct) => {
          await sql`set default_transaction_read_only = off`.execute(direct.query);
          await direct.transaction(async (tx) => {
            await sql`set transaction read write`.execute(tx);
            await sql`alter database ${sql.id(name)} reset default_transaction_read_only`.execute(tx);
          });
        });
      }
    });
  });
});
