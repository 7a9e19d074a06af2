/** A real streaming replica: what is read from it, and when not. */
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { sql } from "kysely";
import pg from "pg";
import { postgresServer } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { createDatabase, dropDatabase, startPostgres, type TestPostgres } from "../testing/postgres.ts";
import { startStandby } from "../testing/standby.ts";
import { oldReader, oldReaderOfNow } from "./old-reads.ts";
import { type Database, type Db, openDatabase } from "./open.ts";
import { openReplica } from "./open-replica.ts";
import { hasReached, readPosition } from "./postgres/write-ahead-log.ts";
import type { Replica, ReplicaState } from "./replica.ts";

const isStandby = async ({ query }: { query: Db }) => {
  const { rows } = await sql<{ is: boolean }>`select pg_is_in_recovery() as is`.execute(query);
  return rows[0]?.is ?? false;
};

/** Long enough for a machine that does much else. */
const PATIENCE_MS = 60_000;

describe("a streaming replica", () => {
  let primary: TestPostgres;
  let standby: TestPostgres;
  let database: Database;
  let replica: Replica;
  let states: ReplicaState[];
  const opened: Array<{ close(): Promise<void> }> = [];
  before(async () => {
    primary = await startPostgres({ hasStandby: true });
    standby = await startStandby(primary);
  });
  beforeEach(() => {
    states = [];
    const { database: one, replica: its } = open(primary.url, standby.url);
    database = { ...one, replica: its };
    replica = its;
  });
  after(async () => {
    await Promise.all(opened.map((one) => one.close()));
    await Promise.all([standby.stop(), primary.stop()]);
  });

  function open(url: string, replicaUrl: string) {
    const one = openDatabase(url, 3);
    assert.ok(one.kind === "postgres");
    const onState = (state: ReplicaState) => states.push(state);
    const its = openReplica({ url: replicaUrl, poolSize: 2, servers: one.servers, onState });
    opened.push(its, one);
    return { database: one, replica: its };
  }
  const onStandby = async (text: string) => {
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    try {
      return await client.query(text);
    } finally {
      await client.end();
    }
  };
  const becomes = (state: ReplicaState, of: Replica = replica) =>
    eventually(`the replica is ${state}`, () => of.state() === state, PATIENCE_MS);
  /** A busy machine may leave it behind at any moment: it is asked until it was not. */
  const isReadFrom = (seen?: Parameters<typeof oldReader>[1]) =>
    eventually("it is read from", () => oldReader(database, seen)(isStandby), PATIENCE_MS);

  test("is read from as soon as it has what the primary had, and tells so", async () => {
    assert.equal(await oldReader(database)(isStandby), false, "nothing is known yet");
    await isReadFrom();
    assert.ok(states.includes("ok"));
    assert.ok(replica.lagMs() < PATIENCE_MS);
    // A primary that nobody writes to leaves none behind.
    await becomes("ok");
  });

  test("has a reader's own changes, or is not asked", async () => {
    await isReadFrom();
    await onStandby("select pg_wal_replay_pause()");
    try {
      await sql`create table if not exists written (at int)`.execute(database.query);
      await sql`insert into written values (1)`.execute(database.query);
      const since = await replica.position();
      assert.equal(replica.upTo(since), undefined);
      assert.equal(await oldReader(database, since)(isStandby), false);
      assert.equal(await oldReader(database, "unknown")(isStandby), false);
      await becomes("behind");
      assert.equal(await oldReader(database)(isStandby), false, "behind for everybody");
      await onStandby("select pg_wal_replay_resume()");
      await isReadFrom(since);
    } finally {
      await onStandby("select pg_wal_replay_resume()");
    }
  });

  test("what fails there is read from the primary, and the rest of that answer too", async () => {
    await isReadFrom();
    await eventually(
      "a reader that begins at the replica",
      async () => {
        const read = oldReader(database);
        let from: boolean[] = [];
        const failing = async (one: { query: Db }) => {
          from.push(await isStandby(one));
          if (from.at(-1)) throw new Error("canceled");
          return "read";
        };
        assert.equal(await read(failing), "read");
        if (from.length === 1) return false;
        assert.deepEqual(from, [true, false]);
        from = [];
        assert.equal(await read(isStandby), false);
        return true;
      },
      PATIENCE_MS,
    );
  });

  test("a command waits until it has all that there is", async () => {
    await sql`create table if not exists exported (at int)`.execute(database.query);
    await sql`insert into exported values (1)`.execute(database.query);
    await eventually(
      "it is read from",
      async () => {
        const read = await oldReaderOfNow(database, PATIENCE_MS);
        const { rows } = await read(({ query }) => sql`select at from exported`.execute(query));
        assert.equal(rows.length, 1);
        return read(isStandby);
      },
      PATIENCE_MS,
    );
  });

  test("another server is none, whether it takes writes or follows another", async () => {
    const foreign = await createDatabase(await postgresServer());
    try {
      const writes = open(primary.url, foreign);
      await becomes("other", writes.replica);
      const follows = open(foreign, standby.url);
      await becomes("other", follows.replica);
      assert.equal(await oldReader({ ...follows.database, replica: follows.replica })(isStandby), false);
      await Promise.all(opened.splice(-4).map((one) => one.close()));
    } finally {
      await dropDatabase(await postgresServer(), foreign);
    }
  });

  test("nothing is read from one that was promoted, or has gone", async () => {
    await isReadFrom();
    await onStandby("select pg_promote()");
    await becomes("other");
    assert.equal(await oldReader(database)(isStandby), false);
    await standby.stop();
    await becomes("away");
    assert.equal(await oldReader(database)(isStandby), false);
  });
});

test("a primary's place behind a page's header is the replica's end of the page before", () => {
  assert.equal(readPosition("16/B374D848"), 0x16_b374d848n);
  const page = readPosition("1/4000");
  assert.ok(hasReached(page, page) && hasReached(page + 1n, page));
  assert.ok(hasReached(page, page + 24n) && hasReached(page, page + 40n));
  assert.ok(
    !hasReached(page, page + 25n) && !hasReached(page, page + 48n) && !hasReached(page + 8n, page + 32n),
  );
});
