/** Statements that a connection prepares once, and where it must not. */
import assert from "node:assert/strict";
import { connect, createServer, type Server } from "node:net";
import { after, before, describe, test } from "node:test";
import { CompiledQuery, sql } from "kysely";
import { findCode } from "../../core/codes/codes.store.ts";
import { findByCertificate, findDevice } from "../../core/devices/devices.store.ts";
import { findTokenFamily, isAccessTokenRevoked } from "../../core/tokens/tokens.store.ts";
import { findUser } from "../../core/users/users.store.ts";
import { postgresServer } from "../../testing/databases.ts";
import { freePort } from "../../testing/free-port.ts";
import { createDatabase, dropDatabase } from "../../testing/postgres.ts";
import { migrate } from "../migrate.ts";
import { type Database, type Db, openDatabase } from "../open.ts";
import { nameStatement, statementName } from "./statement-names.ts";

/** What the hot path reads, of nobody. */
const hotReads: ReadonlyArray<(db: Db) => Promise<unknown>> = [
  (db) => findUser(db, "o", "u"),
  (db) => findTokenFamily(db, "o", "f"),
  (db) => isAccessTokenRevoked(db, "o", "j"),
  (db) => findCode(db, "o", "c"),
  (db) => findDevice(db, "o", "d"),
  (db) => findByCertificate(db, "o", "c"),
];

const preparedOn = async ({ query }: Database): Promise<number> =>
  Number(
    (await sql<{ n: number }>`select count(*) as n from pg_prepared_statements`.execute(query)).rows[0]?.n,
  );

const timeoutOn = async ({ query }: Database): Promise<string | undefined> =>
  (await sql<{ timeout: string }>`select current_setting('statement_timeout') as timeout`.execute(query))
    .rows[0]?.timeout;

describe("statements with a name", () => {
  let databaseUrl: string;
  before(async () => {
    databaseUrl = await createDatabase(await postgresServer());
    const database = openDatabase(databaseUrl, 1);
    await migrate(database, "test");
    await database.close();
  });
  after(async () => dropDatabase(await postgresServer(), databaseUrl));

  /** On one connection. */
  const withDatabase = async (url: string, work: (database: Database) => Promise<void>) => {
    const database = openDatabase(url, 1);
    try {
      await work(database);
    } finally {
      await database.close();
    }
  };

  test("each of the hot reads is prepared once by a connection, in a transaction as outside", () =>
    withDatabase(databaseUrl, async (database) => {
      for (const read of hotReads) await read(database.query);
      assert.equal(await preparedOn(database), hotReads.length);
      await database.transaction(async (tx) => {
        for (const read of hotReads) await read(tx);
      });
      assert.equal(await preparedOn(database), hotReads.length);
    }));

  test("a statement that is built for one request is not kept", () =>
    withDatabase(databaseUrl, async (database) => {
      await database.query.selectFrom("organisation").select("id").where("id", "=", "x").execute();
      assert.equal(await preparedOn(database), 0);
    }));

  test("a statement with every column of a table has no name: its plan fails once a migration adds one", () => {
    for (const sql of [
      'select * from "a"',
      'select "b"."c", "a".* from "a"',
      'update "a" set "b" = $1 returning *',
    ]) {
      nameStatement(sql);
      assert.equal(statementName(sql), undefined, sql);
    }
    nameStatement('select count(*) as "n" from "a"');
    assert.match(statementName('select count(*) as "n" from "a"') ?? "", /^signet_\d+$/);
  });

  test("the version before goes on while a migration adds columns", () =>
    withDatabase(databaseUrl, async (database) => {
      // PostgreSQL keeps a plan after five uses.
      for (const read of hotReads) for (let time = 0; time < 7; time++) await read(database.query);
      for (const table of ["user_account", "membership", "token_family", "authorization_code", "device"])
        await sql`alter table ${sql.table(table)} add column added_later text`.execute(database.query);
      await sql`alter table device_certificate add column added_later text`.execute(database.query);
      for (const read of hotReads) assert.equal(await read(database.query).then(Boolean), false);
    }));

  test("a migration that changes a column's type costs a connection one statement, not all that follow", () =>
    withDatabase(databaseUrl, async (database) => {
      await sql`create table if not exists retyped (a int)`.execute(database.query);
      const text = 'select "a" from "retyped"';
      nameStatement(text);
      const read = () => database.query.executeQuery(CompiledQuery.raw(text));
      for (let time = 0; time < 7; time++) await read();
      await sql`alter table retyped alter column a type bigint`.execute(database.query);
      await assert.rejects(read, /cached plan/);
      assert.deepEqual((await read()).rows, []);
    }));

  test("statements that the server has forgotten are prepared again", () =>
    withDatabase(databaseUrl, async (database) => {
      const [read] = hotReads;
      await read?.(database.query);
      await sql`deallocate all`.execute(database.query);
      await assert.rejects(async () => read?.(database.query), /does not exist/);
      assert.equal(await read?.(database.query), undefined);
    }));

  test("a pooler, behind which each transaction may have another process, gets none", async () => {
    const pooler = await poolerInFront(databaseUrl);
    try {
      await withDatabase(pooler.url, async (database) => {
        for (const read of hotReads) await read(database.query);
        assert.equal(await preparedOn(database), 0);
        assert.equal(await timeoutOn(database), "0", "its connections are everybody's");
      });
    } finally {
      pooler.server.close();
    }
  });

  test("a server ends a statement after 15 seconds, whatever timeout the database has", async () => {
    await withDatabase(databaseUrl, async (database) => {
      assert.equal(await timeoutOn(database), "15s");
      const name = new URL(databaseUrl).pathname.slice(1);
      await sql`alter database ${sql.id(name)} set statement_timeout = '1h'`.execute(database.query);
    });
    await withDatabase(databaseUrl, async (database) => assert.equal(await timeoutOn(database), "15s"));
  });
});

const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 12]);

/** As poolers do, it greets with a process id that it has made up (BackendKeyData). */
async function poolerInFront(databaseUrl: string): Promise<{ url: string; server: Server }> {
  const target = new URL(databaseUrl);
  const server = createServer((inside) => {
    const outside = connect(Number(target.port), target.hostname);
    inside.on("data", (bytes) => outside.write(bytes));
    outside.on("data", (bytes: Buffer) => {
      const at = bytes.indexOf(KEY_DATA);
      if (at !== -1) bytes.writeInt32BE(2_000_000_000, at + KEY_DATA.length);
      inside.write(bytes);
    });
    for (const [one, other] of [
      [inside, outside],
      [outside, inside],
    ] as const)
      one.on("error", () => {}).on("close", () => other.destroy());
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  return { url: url.href, server };
}
