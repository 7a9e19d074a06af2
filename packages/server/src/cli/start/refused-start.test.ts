/** What `signet start` refuses, as a program of its own: it says why, and ends. */
import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { openDatabase } from "../../db/open.ts";
import { type Environment, runForJson, runProgram } from "../../testing/command-line.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { freePort } from "../../testing/free-port.ts";
import { startSignet } from "../../testing/started-program.ts";

const OTHER_KEY = Buffer.alloc(32, 7).toString("base64url");
const ENDED_MS = 2_000;

forEachDatabase(({ name, fresh }) => {
  let folder: string;
  let env: Environment;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-refused-"));
    env = { SIGNET_DATA_DIR: folder, DATABASE_URL: await fresh() };
    const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
    await runForJson(["keys", "rotate", "--org", id], env);
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const timed = async (args: readonly string[], environment: Environment) => {
    const began = performance.now();
    const result = await runProgram(args, environment);
    return { ...result, milliseconds: performance.now() - began };
  };
  /** Each says why and ends, nearly as soon as a command beside it that does something, on this machine at this time. */
  const refusedBeside = async (
    usual: readonly string[],
    words: RegExp,
    environment: Environment,
    ...refused: readonly (readonly string[])[]
  ) => {
    const [done, ...ends] = await Promise.all([
      timed(usual, env),
      ...refused.map((args) => timed(args, environment)),
    ]);
    for (const { code, err, milliseconds } of ends) {
      assert.equal(code, 1, err);
      assert.match(err, words);
      const usualMs = done.milliseconds;
      assert.ok(milliseconds < ENDED_MS + 2 * usualMs, `${milliseconds} ms, usually ${usualMs} ms`);
    }
    return done;
  };

  test("a wrong master key", async () => {
    const wrong = { ...env, SIGNET_MASTER_KEY: OTHER_KEY };
    const words = /the master key is not the one/;
    const { code } = await refusedBeside(["org", "list"], words, wrong, ["start"], ["org", "list"]);
    assert.equal(code, 0);
  });

  test("a database whose master key is gone: none is made in its place", async () => {
    const file = path.join(folder, "master.key");
    const kept = await readFile(file);
    await rm(file);
    const { code, err } = await runProgram(["start"], env);
    await assert.rejects(readFile(file), { code: "ENOENT" });
    await writeFile(file, kept, { mode: 0o600 });
    assert.equal(code, 1);
    assert.match(err, /there is no master key, but keys in the database were encrypted with one/);
  });

  if (name === "sqlite")
    test("a second server on the same file, until the first one has ended, however it ended", async () => {
      const first = await startSignet([], env);
      const words = /another signet start already serves .*signet\.db/;
      const second = { ...env, PORT: String(await freePort()) };
      const { code } = await refusedBeside(["org", "list"], words, second, ["start"]);
      assert.equal(code, 0, "commands may run beside it");
      await first.stop("SIGKILL");
      const third = await startSignet([], env);
      assert.equal((await third.stop()).code, 0);
    });
  else
    test("nothing of several servers on one database", async () => {
      const servers = [await startSignet([], env), await startSignet([], env)];
      for (const server of servers) assert.equal((await server.stop()).code, 0);
    });

  // Last: nothing opens it afterwards.
  test("a schema that a newer version has made", async () => {
    const database = openDatabase(env["DATABASE_URL"] ?? "", 1);
    await sql`insert into schema_migration (name, applied_at, version) values ('9999-later', ${Date.now()}, '7.1.0')`.execute(
      database.query,
    );
    await database.close();
    const words = /newer version of Signet.*install version 7\.1\.0 or newer.*9999-later/;
    const late = [["start"], ["migrate"], ["org", "create", "--name", "Late"]];
    const { out, code } = await refusedBeside(["doctor"], words, env, ...late);
    assert.match(out, /9999-later/, `doctor ended with ${code}`);
  });
});
