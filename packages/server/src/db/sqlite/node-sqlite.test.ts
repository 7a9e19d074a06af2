import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { sql } from "kysely";
import { type Database, type Db, openDatabase } from "../open.ts";
import { openSqliteFile } from "./node-sqlite.ts";

let folder: string;
let path: string;
let database: Database & { kind: "sqlite" };
let count = 0;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signet-node-sqlite-"));
});
beforeEach(async () => {
  path = join(folder, `${count++}.db`);
  const opened = openDatabase(`sqlite:${path}`);
  assert.ok(opened.kind === "sqlite");
  database = opened;
  await run(database.query, "create table things (id integer primary key, parent integer references things)");
});
after(() => rm(folder, { recursive: true, force: true }));

const run = (db: Db, statement: string) => sql.raw(statement).execute(db);
const insert = (db: Db, id: number) => run(db, `insert into things values (${id}, null)`);
const ids = async (db: Db = database.query) => {
  const { rows } = await sql<{ id: number }>`select id from things order by id`.execute(db);
  return rows.map(({ id }) => id);
};
/** What another process sees, and so what is on the disk. */
const kept = () => {
  const other = openSqliteFile(path);
  const rows = other.prepare("select id from things order by id").all();
  other.close();
  return rows.map(({ id }) => Number(id));
};
const later = () => new Promise((resolve) => setTimeout(resolve, 5));

test("syncs each commit, enforces foreign keys and waits for other processes", async () => {
  const fresh = openSqliteFile(path);
  const pragma = (name: string) => Object.values(fresh.prepare(`pragma ${name}`).get() ?? {})[0];
  assert.equal(pragma("journal_mode"), "wal");
  assert.equal(pragma("synchronous"), 2);
  assert.equal(pragma("foreign_keys"), 1);
  assert.equal(pragma("busy_timeout"), 5_000);
  fresh.close();
  await assert.rejects(run(database.query, "insert into things values (1, 99)"), /FOREIGN KEY/);
});

test("acknowledged writes are on disk, single and grouped", async () => {
  await insert(database.query, 1);
  assert.deepEqual(kept(), [1]);
  const writes = Array.from({ length: 200 }, async (_, index) => {
    await database.transaction(async (tx) => {
      await insert(tx, index + 10);
      await later();
    });
    assert.ok(kept().includes(index + 10));
  });
  await Promise.all(writes);
  assert.equal((await ids()).length, 201);
});

test("a transaction is atomic and doesn't affect others in its group", async () => {
  const good = (id: number) => database.transaction((tx) => insert(tx, id));
  const bad = (id: number) =>
    database.transaction(async (tx) => {
      await insert(tx, id);
      await insert(tx, id);
    });
  const results = await Promise.allSettled([
    good(1),
    bad(2),
    good(3),
    bad(4),
    insert(database.query, 5),
    good(6),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status === "fulfilled"),
    [true, false, true, false, true, true],
  );
  assert.deepEqual(kept(), [1, 3, 5, 6]);
});

test("uncommitted changes are invisible, and transactions don't interleave", async () => {
  const seen: number[][] = [];
  const slow = database.transaction(async (tx) => {
    await insert(tx, 1);
    await later();
    assert.deepEqual(await ids(tx), [1]);
    await insert(tx, 2);
    await later();
  });
  const reads = [ids().then((read) => seen.push(read)), later().then(async () => seen.push(await ids()))];
  const next = database.transaction(async (tx) => {
    assert.deepEqual(await ids(tx), [1, 2]);
    await insert(tx, 3);
  });
  await Promise.all([slow, next, ...reads]);
  for (const read of seen) assert.ok(![1].includes(read.length), `half of it was seen: ${read}`);
});

test("a transaction that can't begin doesn't block others", async () => {
  const other = openSqliteFile(path);
  other.exec("begin immediate");
  const attempts = [1, 2, 3].map((id) => database.transaction((tx) => insert(tx, id)));
  const results = await Promise.allSettled([...attempts, insert(database.query, 4), ids()]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected", "rejected", "rejected", "fulfilled"],
  );
  other.exec("rollback");
  other.close();
  await database.transaction((tx) => insert(tx, 5));
  assert.deepEqual(await ids(), [5]);
});

test("another process's lock is waited for without stopping this one", async () => {
  const other = openSqliteFile(path);
  other.exec("begin immediate");
  const done: string[] = [];
  const writes = [
    insert(database.query, 1).then(() => done.push("statement")),
    database.transaction((tx) => insert(tx, 2)).then(() => done.push("transaction")),
  ];
  for (let turns = 0; turns < 5; turns++) {
    await later();
    assert.deepEqual(await ids(), []);
  }
  assert.deepEqual(done, []);
  other.exec("commit");
  other.close();
  await Promise.all(writes);
  assert.deepEqual(await ids(), [1, 2]);
});

test("closing rolls back an open transaction", async () => {
  await insert(database.query, 1);
  const open = database.transaction(async (tx) => {
    await insert(tx, 2);
    await later();
    await insert(tx, 3);
  });
  const failed = assert.rejects(open);
  await new Promise((resolve) => setImmediate(resolve));
  await database.close();
  await failed;
  assert.deepEqual(kept(), [1]);
});

test("an error that ends the group rolls back its transaction, even if that continues", async () => {
  database.file.exec("pragma max_page_count = 4");
  await run(database.query, "create table texts (text text)").catch(() => {});
  const big = "x".repeat(100_000);
  const stubborn = database.transaction(async (tx) => {
    await insert(tx, 1);
    await run(tx, `insert into texts values ('${big}')`).catch(() => {});
    await insert(tx, 2);
  });
  await assert.rejects(stubborn);
  assert.deepEqual(await ids(), []);
  assert.deepEqual(kept(), []);
});
