/** What `signet doctor` says of the replica, against a real one. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import pg from "pg";
import { openDatabase } from "../../db/open.ts";
import { operatorSettings, runForJson, runInProcess } from "../../testing/command-line.ts";
import { postgresServer } from "../../testing/databases.ts";
import { eventually } from "../../testing/eventually.ts";
import { startPostgres, type TestPostgres } from "../../testing/postgres.ts";
import { startStandby } from "../../testing/standby.ts";
import type { Check } from "./check-configuration.ts";

describe("signet doctor and a replica", () => {
  let primary: TestPostgres;
  let standby: TestPostgres;
  let env: Readonly<Record<string, string>>;
  let remove: () => Promise<void>;
  before(async () => {
    primary = await startPostgres({ hasStandby: true });
    standby = await startStandby(primary);
    ({ env, remove } = await operatorSettings(primary.url));
    await runForJson(["org", "create", "--name", "Acme"], env);
  });
  after(async () => {
    await Promise.all([standby.stop(), primary.stop()]);
    await remove();
  });

  /** It is never a failure: what the replica should serve, the primary does. */
  const said = async (url: string) => {
    const { code, out } = await runInProcess(["doctor", "--json"], {
      ...env,
      SIGNET_DATABASE_REPLICA_URL: url,
    });
    const { checks } = JSON.parse(out) as { checks: Check[] };
    const found = checks.find(({ subject }) => subject === "database replica");
    assert.ok(found, out);
    return { code, ...found };
  };
  const onStandby = async (text: string) => {
    const client = new pg.Client({ connectionString: standby.url });
    await client.connect();
    await client.query(text).finally(() => client.end());
  };

  test("that follows is in order", async () => {
    // A busy machine may leave it behind at any moment.
    await eventually("it is in order", async () => (await said(standby.url)).level === "ok", 60_000);
    const { message } = await said(standby.url);
    assert.match(message, /replays what the primary writes$|more than a second behind/);
  });

  test("that is behind, gone or no replica of this database is named, with what to do, and without its password", async () => {
    await onStandby("select pg_wal_replay_pause()");
    const database = openDatabase(primary.url);
    // Something that it has not got.
    await database.query.updateTable("organisation").set({ name: "Moved" }).execute();
    await database.close();
    const behind = await said(standby.url);
    await onStandby("select pg_wal_replay_resume()");
    const away = await said("postgres://signet:hunter2@127.0.0.1:9/signet");
    const other = await said(await postgresServer());
    const all = [behind, away, other];
    assert.deepEqual(
      all.map(({ code, level }) => [code, level]),
      all.map(() => [0, "warn"]),
    );
    assert.match(behind.message, /is more than a second behind: everything is read from the primary$/);
    assert.match(behind.remedy ?? "", /pg_stat_replication/);
    assert.match(away.message, /127\.0\.0\.1:9\/signet does not answer/);
    assert.match(other.message, /is no replica of the database in DATABASE_URL/);
    assert.doesNotMatch(JSON.stringify(all), /hunter2/);
  });

  test("that is not set is not spoken of", async () => {
    const { out } = await runInProcess(["doctor", "--json"], env);
    assert.doesNotMatch(out, /replica/);
  });
});
