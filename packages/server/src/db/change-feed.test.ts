import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { forEachDatabase } from "../testing/databases.ts";
import { eventually } from "../testing/eventually.ts";
import { type Change, type ChangeFeed, openChangeFeed } from "./change-feed.ts";
import { migrate } from "./migrate.ts";
import { type Database, openDatabase } from "./open.ts";

type Heard = Change | "everything";

forEachDatabase(({ name, fresh }) => {
  let here: { database: Database; feed: ChangeFeed; heard: Heard[] };
  let there: typeof here;
  let url: string;
  before(async () => {
    url = await fresh();
    here = await openNode(url);
    there = await openNode(url);
  });
  after(async () => {
    for (const { feed, database } of [here, there]) {
      await feed.close();
      await database.close();
    }
  });

  const CHANGE: Change = { orgId: "0197b0a0-0000-7000-8000-000000000000", topic: "application" };
  const forget = () => {
    here.heard.length = 0;
    there.heard.length = 0;
  };
  /** What a change looks like from another process: SQLite tells only that there was one. */
  const NEWS = name === "postgres" ? CHANGE : "everything";

  let leases = 0;
  const changeHere = (work: () => void = () => {}) =>
    here.database.transaction(async (tx) => {
      await sql`insert into background_lease (name, holder, expires_at) values (${`lease ${leases++}`}, 'x', 0)`.execute(
        tx,
      );
      await here.feed.publish(tx, CHANGE);
      work();
    });

  test("notifies this node immediately and others soon", async () => {
    forget();
    await changeHere();
    assert.deepEqual(here.heard[0], CHANGE);
    await eventually("heard there", () => there.heard.length > 0);
    assert.deepEqual(there.heard, [NEWS]);
  });

  /** Notifications arrive in order: what came before this one is there when it is. SQLite has one writer, so it takes time. */
  const whateverIsOnItsWay = async () => {
    if (name === "sqlite") return delay(250);
    await sql`select pg_notify('signet_changes', 'marker')`.execute(here.database.query);
    await eventually("the marker is heard", () => there.heard.at(-1) === "everything");
    there.heard.pop();
  };

  test("notifies other nodes at the commit, not before", async () => {
    forget();
    const { promise: waits, resolve: release } = Promise.withResolvers<void>();
    const done = here.database.transaction(async (tx) => {
      await sql`insert into background_lease (name, holder, expires_at) values (${`lease ${leases++}`}, 'x', 0)`.execute(
        tx,
      );
      await here.feed.publish(tx, CHANGE);
      await waits;
    });
    await whateverIsOnItsWay();
    assert.deepEqual(there.heard, []);
    release();
    await done;
    await eventually("heard there", () => there.heard.length > 0);
  });

  if (name === "postgres") {
    test("doesn't notify others of a rolled-back change", async () => {
      forget();
      const taken = changeHere(() => {
        throw new Error("taken back");
      });
      await assert.rejects(taken, /taken back/);
      await whateverIsOnItsWay();
      assert.deepEqual(there.heard, []);
    });

    test("an unknown message means that anything may have changed", async () => {
      for (const payload of ["", "nonsense", "application", "a-newer-topic 1", "application  x"]) {
        forget();
        await sql`select pg_notify('signet_changes', ${payload})`.execute(here.database.query);
        await eventually("heard there", () => there.heard.length > 0);
        assert.deepEqual(there.heard, ["everything"], payload);
      }
    });
  } else
    test("a process is notified of its own published changes only", async () => {
      forget();
      await sql`update background_lease set holder = 'y'`.execute(here.database.query);
      await eventually("heard there", () => there.heard.length > 0);
      assert.deepEqual(here.heard, []);
    });

  test("a closed feed notifies nobody", async () => {
    forget();
    await there.feed.close();
    const witness = await openNode(url);
    await changeHere();
    await eventually("another node heard of it", () => witness.heard.length > 0);
    assert.deepEqual(there.heard, []);
    await witness.feed.close();
    await witness.database.close();
  });
});

async function openNode(url: string) {
  const database = openDatabase(url, 2);
  await migrate(database);
  const feed = await openChangeFeed(database);
  const heard: Heard[] = [];
  feed.subscribe((change) => heard.push(change));
  return { database, feed, heard };
}
