import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { type Database, openDatabase } from "../open.ts";

let folder: string;
let database: Database;
let outside: DatabaseSync;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "signet-group-"));
  database = openDatabase(`sqlite:${join(folder, "signet.db")}`);
  await sql`create table note (id integer primary key, text text unique)`.execute(database.query);
  outside = new DatabaseSync(join(folder, "signet.db"));
});
after(async () => {
  outside.close();
  await database.close();
  await rm(folder, { recursive: true, force: true });
});

const insert = (text: string) => sql`insert into note (text) values (${text})`.execute(database.query);
const transaction = (...texts: string[]) =>
  database.transaction(async (tx) => {
    for (const text of texts) await sql`insert into note (text) values (${text})`.execute(tx);
  });
/** What another process would find now: the committed state only. */
const durable = (text: string) =>
  outside.prepare("select count(*) as n from note where text = ?").get(text)?.["n"] === 1;

test("acknowledges a write once other processes can see it", async () => {
  const writing = insert("one");
  assert.equal(durable("one"), false, "it is still in its group");
  await writing;
  assert.equal(durable("one"), true);
  const committing = transaction("two", "three");
  await committing;
  assert.equal(durable("two") && durable("three"), true);
});

test("answers a read of non-durable data once it is durable", async () => {
  const writing = insert("seen");
  const reading = sql`select 1 as found from note where text = 'seen'`
    .execute(database.query)
    .then(({ rows }) => {
      assert.equal(rows.length, 1);
      assert.equal(durable("seen"), true);
    });
  await Promise.all([writing, reading]);
});

test("transactions of a group commit and roll back independently", async () => {
  const results = await Promise.allSettled([
    transaction("a1", "a2"),
    transaction("b1", "a1"),
    insert("a2"),
    transaction("c1"),
    database.transaction(async (tx) => {
      await sql`insert into note (text) values ('d1')`.execute(tx);
      throw new Error("changed my mind");
    }),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled", "rejected"],
  );
  for (const text of ["a1", "a2", "c1"]) assert.equal(durable(text), true, text);
  for (const text of ["b1", "d1"]) assert.equal(durable(text), false, text);
});

test("a failing group rejects all its members, and the next one works", async () => {
  // A deferred constraint is checked at the commit: the one error that a test can bring about there.
  await sql`create table parent (id integer primary key)`.execute(database.query);
  await sql`create table child (parent integer references parent (id) deferrable initially deferred)`.execute(
    database.query,
  );
  const results = await Promise.allSettled([
    insert("lost"),
    sql`insert into child values (99)`.execute(database.query),
  ]);
  assert.deepEqual(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  assert.equal(durable("lost"), false);
  await insert("after");
  assert.equal(durable("after"), true);
});

test("runs five hundred concurrent operations in order", async () => {
  const work = Array.from({ length: 500 }, (_, index) =>
    index % 3 === 0 ? insert(`m${index}`) : transaction(`m${index}`, `n${index}`),
  );
  await Promise.all(work);
  const { rows } = await sql<{ n: number }>`select count(*) as n from note where text like 'm%'`.execute(
    database.query,
  );
  assert.equal(rows[0]?.n, 500);
});
