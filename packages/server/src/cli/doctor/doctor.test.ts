import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, test } from "node:test";
import { openDatabase } from "../../db/open.ts";
import { type Environment, operatorSettings, runForJson, runInProcess } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { startMailServer } from "../../testing/fakes/mail-server.ts";
import { defineOlderScope } from "../../testing/fixtures/scopes.ts";
import { type Check, clockCheck, databaseClockCheck } from "./check-configuration.ts";

/** The checks by what they are about, and the exit code. */
async function diagnose(env: Environment) {
  const { code, out, err } = await runInProcess(["doctor", "--json"], env);
  assert.equal(err, "");
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: Check[] };
  const of = (subject: string) => checks.find((check) => check.subject === subject);
  const failed = checks.filter(({ level }) => level === "fail").map(({ subject }) => subject);
  assert.equal(code, failed.length === 0 ? 0 : 1);
  assert.equal(ok, failed.length === 0);
  for (const check of checks)
    if (check.level === "fail") assert.ok(check.remedy ?? /\.$/.test(check.message));
  return { code, checks, of, failed };
}

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-doctor-"));
});
after(() => rm(folder, { recursive: true, force: true }));

/** A data folder with a migrated database, a key file and stored keys. */
async function healthyFolder(name: string) {
  const dataDir = path.join(folder, name);
  const env = { SIGNET_DATA_DIR: dataDir };
  const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
  await runForJson(["keys", "rotate", "--org", id], env);
  await runForJson(["keys", "rotate", "--org", id, "--alg", "RS256"], env);
  return {
    dataDir,
    env,
    keyFile: path.join(dataDir, "master.key"),
    database: path.join(dataDir, "signet.db"),
  };
}

describe("signet doctor on both databases", () => {
  forEachDatabase(({ name, fresh, empty }) => {
    test("passes every check on a working installation", async () => {
      const { env, remove } = await operatorSettings(await fresh());
      const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
      await runForJson(["keys", "rotate", "--org", id], env);
      const { failed, of } = await diagnose(env);
      assert.deepEqual(failed, []);
      assert.match(of("signing keys")?.message ?? "", /decrypts all 2$/);
      assert.equal(of("database clock")?.level, name === "postgres" ? "ok" : undefined);
      const { out } = await runInProcess(["doctor"], env);
      assert.match(out, /^ok {4}schema +up to date$/m);
      assert.match(out, /^note {2}mail +not configured/m);
      await remove();
    });

    test("warns about older scopes whose names are reserved", async () => {
      const url = await fresh();
      const { env, remove } = await operatorSettings(url);
      const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
      assert.equal((await diagnose(env)).of("scopes"), undefined);
      const database = openDatabase(url);
      for (const scope of ["signet:users:read", "signet.other", "signets"])
        await defineOlderScope({ database }, id, scope);
      await database.close();
      const { level, message, remedy } = (await diagnose(env)).of("scopes") ?? {};
      assert.equal(level, "warn");
      assert.equal(
        message,
        `custom scopes begin with signet:, which is reserved: signet:users:read (organisation ${id})`,
      );
      assert.match(remedy ?? "", /delete the old scope/);
      await remove();
    });

    test("warns about scopes of applications that nobody defined, and about custom claims of reserved names", async () => {
      const url = await fresh();
      const { env, remove } = await operatorSettings(url);
      const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
      const created = ["app", "create", "--org", id, "--name", "Old", "--type", "confidential"];
      const { clientId } = await runForJson<{ clientId: string }>(
        [...created, "--redirect-uri", "https://old.example/cb", "--scope", "openid", "--scope", "roles"],
        env,
      );
      for (const subject of ["undefined scopes", "reserved claims"])
        assert.equal((await diagnose(env)).of(subject), undefined);
      const database = openDatabase(url);
      const { settings } = await database.query
        .selectFrom("application")
        .select("settings")
        .where("id", "=", clientId)
        .executeTakeFirstOrThrow();
      const older = { ...JSON.parse(settings), allowedScopes: ["openid", "ledger", "known"] };
      await database.query
        .updateTable("application")
        .set({ settings: JSON.stringify(older) })
        .where("id", "=", clientId)
        .execute();
      const claims = [
        { name: "groups", source: "membership", path: "groups" },
        { name: "team", source: "static", value: { name: "roles" } },
      ] as const;
      await defineOlderScope({ database }, id, "known", claims);
      await database.close();
      const { of } = await diagnose(env);
      assert.deepEqual(
        [of("undefined scopes")?.level, of("undefined scopes")?.message],
        [
          "warn",
          `applications have scopes that nobody defined: ledger (application ${clientId} of organisation ${id})`,
        ],
      );
      assert.deepEqual(
        [of("reserved claims")?.level, of("reserved claims")?.message],
        ["warn", `custom claims have names that are reserved: groups of known (organisation ${id})`],
      );
      await remove();
    });

    test("reports a missing schema without creating it", async () => {
      const databaseUrl = await empty();
      if (name === "sqlite") await writeFile(databaseUrl.slice("sqlite:".length), "");
      const { env, remove } = await operatorSettings(databaseUrl);
      const { failed, of } = await diagnose(env);
      assert.deepEqual(failed, ["schema"]);
      assert.equal(of("schema")?.remedy, "Run signet migrate.");
      const database = openDatabase(databaseUrl);
      assert.deepEqual(await database.query.introspection.getTables(), []);
      await database.close();
      assert.match((await runInProcess(["migrate"], env)).out, /^Applied: 0001-foundation/);
      assert.deepEqual((await diagnose(env)).failed, []);
      await remove();
    });

    test("reports a master key that can't decrypt the stored keys", async () => {
      const { env, remove } = await operatorSettings(await fresh());
      const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
      await runForJson(["keys", "rotate", "--org", id], env);
      const wrong = { ...env, SIGNET_MASTER_KEY: "ab".repeat(32) };
      const { failed, of } = await diagnose(wrong);
      assert.deepEqual(failed, ["signing keys"]);
      assert.match(of("signing keys")?.message ?? "", /can't decrypt 2 of 2/);
      await remove();
    });
  });
});

test("reports a missing folder, key and database without creating them", async () => {
  const dataDir = path.join(folder, "nothing");
  const { failed } = await diagnose({ SIGNET_DATA_DIR: dataDir });
  assert.deepEqual(failed, ["data folder", "master key", "database"]);
  await assert.rejects(stat(dataDir), { code: "ENOENT" });
});

test("fails on a key file readable by others", async () => {
  const { env, keyFile } = await healthyFolder("readable-key");
  assert.deepEqual((await diagnose(env)).failed, []);
  await chmod(keyFile, 0o640);
  const { failed, of } = await diagnose(env);
  assert.deepEqual(failed, ["master key"]);
  assert.match(of("master key")?.message ?? "", /is readable by others.*chmod 600/);
  assert.equal(of("signing keys")?.level, "warn");
});

test("fails on a lost key file without creating another", async () => {
  const { env, keyFile, dataDir } = await healthyFolder("lost-key");
  await rm(keyFile);
  const { failed, of } = await diagnose(env);
  assert.deepEqual(failed, ["master key"]);
  assert.match(of("master key")?.remedy ?? "", /restore it/);
  assert.ok(!(await readdir(dataDir)).includes("master.key"));
});

test("fails on a lost database file without creating another", async () => {
  const { env, database, dataDir } = await healthyFolder("lost-database");
  await rm(database);
  const { failed, of } = await diagnose(env);
  assert.deepEqual(failed, ["database"]);
  assert.equal(of("database")?.message, `${database} doesn't exist`);
  assert.ok(!(await readdir(dataDir)).includes("signet.db"));
});

test("fails on a key file without a key", async () => {
  const { env, keyFile } = await healthyFolder("broken-key");
  await writeFile(keyFile, "gibberish\n");
  assert.deepEqual((await diagnose(env)).failed, ["master key"]);
});

test("fails on a data folder writable by others, and warns when others can read it", async () => {
  const { env, dataDir } = await healthyFolder("open-folder");
  await chmod(dataDir, 0o755);
  const readable = await diagnose(env);
  assert.deepEqual([readable.failed, readable.of("data folder")?.level], [[], "warn"]);
  await chmod(dataDir, 0o770);
  const { failed, of } = await diagnose(env);
  // Whoever can change files there can replace the key.
  assert.deepEqual(failed, ["data folder", "master key"]);
  assert.equal(of("data folder")?.remedy, `Run chmod 700 ${dataDir}.`);
});

test("fails on a file that is not a database", async () => {
  const { env, database } = await healthyFolder("no-database");
  await writeFile(
    database,
    "this is a text, and long enough to be looked at as a database file by SQLite".repeat(20),
  );
  await Promise.all(["-wal", "-shm"].map((end) => rm(`${database}${end}`, { force: true })));
  const { failed, of } = await diagnose(env);
  assert.deepEqual(failed, ["database"]);
  assert.match(of("database")?.message ?? "", /not a database/);
});

test("fails on a schema of a newer version, also where one of its own migrations is missing", async () => {
  const { env, database } = await healthyFolder("newer-schema");
  const file = new DatabaseSync(database);
  file.exec("insert into schema_migration (name, applied_at) values ('9999-future', 0)");
  file.exec(
    "delete from schema_migration where name = (select max(name) from schema_migration where name < '9')",
  );
  file.close();
  const { failed, of } = await diagnose(env);
  assert.deepEqual(failed, ["schema"]);
  assert.match(of("schema")?.message ?? "", /9999-future/);
  assert.match(of("schema")?.remedy ?? "", /^Install the version/);
  assert.equal((await runInProcess(["migrate"], env)).code, 1);
});

test("fails on an unreachable PostgreSQL without printing the password", async () => {
  const env = {
    SIGNET_DATA_DIR: path.join(folder, "unreachable"),
    SIGNET_MASTER_KEY: "ab".repeat(32),
    DATABASE_URL: "postgres://signet:hunter2@127.0.0.1:9/signet",
  };
  const { failed, checks, of } = await diagnose(env);
  assert.deepEqual(failed, ["database"]);
  assert.match(of("database")?.message ?? "", /127\.0\.0\.1:9\/signet: .*ECONNREFUSED/);
  assert.doesNotMatch(JSON.stringify(checks), /hunter2/);
  assert.equal(of("data folder")?.level, "note");
});

test("reports every configuration error as a failed check", async () => {
  const env = { PORT: "x", LOG_LEVEL: "loud", SIGNET_DATA_DIR: path.join(folder, "nothing") };
  const { failed, checks } = await diagnose(env);
  assert.deepEqual(failed, ["configuration", "configuration"]);
  assert.match(checks.map(({ message }) => message).join(), /PORT.*LOG_LEVEL/);
  const { code, out } = await runInProcess(["doctor"], env);
  assert.equal(code, 1);
  assert.match(out, /^fail {2}configuration {2}PORT must be/m);
  assert.match(out, /2 checks failed/);
});

test("notes an http base URL, warns about https without trusted proxies, and accepts https with them", async () => {
  const { env } = await healthyFolder("base-url");
  const level = async (more: Environment) => (await diagnose({ ...env, ...more })).of("base URL")?.level;
  assert.equal(await level({}), "note");
  assert.equal(await level({ SIGNET_BASE_URL: "https://id.example" }), "warn");
  assert.equal(await level({ SIGNET_BASE_URL: "https://id.example", TRUSTED_PROXIES: "10.0.0.0/8" }), "ok");
});

test("fails on a clock that is years off, or over a minute off the database's", () => {
  assert.equal(clockCheck(Date.now()).level, "ok");
  assert.equal(clockCheck(0).level, "fail");
  assert.equal(clockCheck(Date.UTC(2150, 0)).level, "fail");
  const level = (clock: number) => databaseClockCheck({ asked: 1_000_000, clock, answered: 1_002_000 }).level;
  assert.deepEqual([1_001_000, 940_000, 1_062_000].map(level), ["ok", "ok", "ok"]);
  assert.deepEqual([939_999, 1_062_001].map(level), ["fail", "fail"]);
});

test("checks the SMTP server without printing its password", async () => {
  const { env } = await healthyFolder("mail");
  const server = await startMailServer();
  const mail = { ...env, SIGNET_MAIL_FROM: "no-reply@id.example" };
  const up = await diagnose({ ...mail, SMTP_URL: `smtp://127.0.0.1:${server.port}` });
  assert.equal(up.of("mail")?.level, "ok");
  assert.equal(up.of("mail")?.message, `127.0.0.1:${server.port} is reachable; sender no-reply@id.example`);
  assert.deepEqual(server.mails, []);
  await server.close();
  const down = await diagnose({ ...mail, SMTP_URL: `smtp://ada:s3cret@127.0.0.1:${server.port}` });
  assert.ok(down.failed.includes("mail"));
  assert.doesNotMatch(JSON.stringify(down.of("mail")), /s3cret/);
});
