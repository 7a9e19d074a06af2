import assert from "node:assert/strict";
import { test } from "node:test";
import { InvalidConfig, readConfig } from "./config.ts";
import { workerShare } from "./worker-share.ts";

const postgres = { DATABASE_URL: "postgres://u@localhost/d" };

test("the limits of the machine are divided among its workers", () => {
  const env = {
    ...postgres,
    SIGNET_WORKERS: "4",
    SIGNET_PASSWORD_CONCURRENCY: "8",
    SIGNET_DATABASE_POOL: "20",
  };
  const share = workerShare(readConfig(env));
  assert.deepEqual([share.workers, share.passwordConcurrency, share.databasePoolSize], [4, 2, 5]);
  const small = workerShare(
    readConfig({ ...env, SIGNET_PASSWORD_CONCURRENCY: "1", SIGNET_DATABASE_POOL: "3" }),
  );
  assert.deepEqual([small.passwordConcurrency, small.databasePoolSize], [1, 2]);
});

test("several workers are refused on SQLite, with the reason", () => {
  assert.equal(readConfig({}).workers, 1);
  assert.equal(readConfig({ SIGNET_WORKERS: "1" }).workers, 1);
  for (const env of [{ SIGNET_WORKERS: "2" }, { SIGNET_WORKERS: "2", DATABASE_URL: "sqlite:/tmp/x.db" }])
    assert.throws(
      () => readConfig(env),
      (error) => error instanceof InvalidConfig && /SIGNET_WORKERS .*PostgreSQL/.test(error.message),
    );
  for (const count of ["0", "65", "two"])
    assert.throws(() => readConfig({ ...postgres, SIGNET_WORKERS: count }), InvalidConfig);
});
