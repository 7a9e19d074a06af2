import assert from "node:assert/strict";
import fs from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, type TestContext, test } from "node:test";
import { setImmediate as turn } from "node:timers/promises";
import { sql } from "kysely";
import { type Database, openDatabase } from "../open.ts";
import { shared, takeOverSync } from "./disk-sync.ts";
import { groupCommit } from "./group-commit.ts";
import { openSqliteFile } from "./node-sqlite.ts";

describe("disk sync", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "signet-sync-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  /** A file whose disk answers when it is told to. */
  function slowDisk(t: TestContext, name: string) {
    const file = openSqliteFile(join(folder, name));
    file.exec("create table note (text text)");
    const syncs: PromiseWithResolvers<void>[] = [];
    const sync = () => {
      const one = Promise.withResolvers<void>();
      syncs.push(one);
      return one.promise;
    };
    const group = groupCommit(file, shared(sync));
    t.after(async () => {
      for (const { resolve } of syncs) resolve();
      await group.close();
    });
    const insert = () => group.statement("write", () => file.exec("insert into note values ('x')"));
    const count = () =>
      group.statement("read", () => file.prepare("select count(*) as n from note").get()?.["n"]);
    const insertUnsynced = () =>
      group.statement("unsynced", () => file.exec("insert into note values ('u')"));
    return { file, syncs, group, insert, insertUnsynced, count };
  }

  test("a write that needs no sync is committed without one, and keeps nobody waiting", async (t) => {
    const { file, syncs, insert, insertUnsynced, count } = slowDisk(t, "unsynced");
    await insertUnsynced();
    assert.equal(file.isTransaction, false, "it is committed");
    assert.equal(await count(), 1);
    assert.equal(syncs.length, 0);
    // Beside one that does, it is told with the commit; whoever reads both waits for the disk.
    const told: string[] = [];
    const synced = insert().then(() => told.push("synced"));
    const reading = count().then((n) => told.push(`read ${n}`));
    await insertUnsynced().then(() => told.push("unsynced"));
    assert.deepEqual(told, ["unsynced"]);
    assert.equal(syncs.length, 1);
    syncs[0]?.resolve();
    await Promise.all([synced, reading]);
    assert.deepEqual(told, ["unsynced", "synced", "read 2"]);
  });

  test("acknowledges a commit once it is on disk, without blocking the process", async (t) => {
    const { syncs, insert } = slowDisk(t, "slow");
    let isTold = false;
    const writing = insert().then(() => {
      isTold = true;
    });
    await turn();
    await turn();
    assert.deepEqual([syncs.length, isTold], [1, false]);
    syncs[0]?.resolve();
    await writing;
  });

  test("commits during a sync share the next one", async (t) => {
    const { syncs, insert } = slowDisk(t, "busy");
    const first = insert();
    await turn();
    await turn();
    const later = [insert(), insert()];
    await turn();
    await turn();
    later.push(insert());
    await turn();
    await turn();
    assert.equal(syncs.length, 1);
    syncs[0]?.resolve();
    await first;
    await turn();
    assert.equal(syncs.length, 2);
    syncs[1]?.resolve();
    await Promise.all(later);
    assert.equal(syncs.length, 2);
  });

  test("answers a read of unsynced data once it is on disk", async (t) => {
    const { syncs, insert, count } = slowDisk(t, "read");
    const writing = insert();
    await turn();
    await turn();
    const order: unknown[] = [];
    const reading = count().then((n) => order.push(n));
    await turn();
    await turn();
    order.push("synced");
    syncs[0]?.resolve();
    await Promise.all([writing, reading]);
    assert.deepEqual(order, ["synced", 1]);
    assert.equal(await count(), 1, "nothing is on its way: no wait");
  });

  test("after a sync failure nothing is acknowledged or written any more", async (t) => {
    const { syncs, insert, count } = slowDisk(t, "broken");
    const writing = assert.rejects(insert(), /input\/output/);
    await turn();
    await turn();
    const reading = assert.rejects(count(), /input\/output/);
    syncs[0]?.reject(new Error("input/output error"));
    await Promise.all([writing, reading]);
    await assert.rejects(insert(), /restart/);
    await assert.rejects(count(), /restart/);
  });

  test("syncs by a thread once per group instead of SQLite", async (t) => {
    const synced = t.mock.method(fs, "fdatasync");
    const database: Database = openDatabase(`sqlite:${join(folder, "own")}`);
    t.after(() => database.close());
    await sql`create table note (text text)`.execute(database.query);
    assert.ok(database.kind === "sqlite");
    assert.equal(database.file.prepare("pragma synchronous").get()?.["synchronous"], 1, "normal");
    const before = synced.mock.callCount();
    await Promise.all(
      Array.from({ length: 10 }, () => sql`insert into note values ('x')`.execute(database.query)),
    );
    assert.equal(synced.mock.callCount() - before, 1);
  });

  test("leaves syncing to SQLite without a write-ahead log", async () => {
    const file = openSqliteFile(join(folder, "rollback-journal"));
    file.exec("pragma journal_mode = delete");
    await takeOverSync(file).sync();
    assert.equal(file.prepare("pragma synchronous").get()?.["synchronous"], 2, "full");
    file.close();
    const memory = openSqliteFile(":memory:");
    await takeOverSync(memory).sync();
    memory.close();
  });
});
