/** What `signet start` refuses, as a program of its own: it says why, and ends. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
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
  /** What a command takes that does something, on this machine at this time. */
  let usualMs: number;
  before(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), "signet-refused-"));
    env = { SIGNET_DATA_DIR: folder, DATABASE_URL: await fresh() };
    const { id } = await runForJson<{ id: string }>(["org", "create", "--name", "Acme"], env);
    await runForJson(["keys", "rotate", "--org", id], env);
    const { code, milliseconds } = await timed(["org", "list"], env);
    assert.equal(code, 0);
    usualMs = milliseconds;
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const timed = async (args: readonly string[], environment: Environment) => {
    const began = performance.now();
    const result = await runProgram(args, environment);
    return { ...result, milliseconds: performance.now() - began };
  };
  const refused = async (args: readonly string[], environment: Environment, words: RegExp) => {
    const { code, err, milliseconds } = await timed(args, environment);
    assert.equal(code, 1, err);
    assert.match(err, words);
    assert.ok(milliseconds < ENDED_MS + 4 * usualMs, `${milliseconds} ms, usually ${usualMs} ms`);
  };

  test("a wrong master key", async () => {
    const wrong = { ...env, SIGNET_MASTER_KEY: OTHER_KEY };
    await refused(["start"], wrong, /the master key is not the one/);
    await refused(["org", "list"], wrong, /the master key is not the one/);
  });

  if (name === "sqlite")
    test("a second server on the same file, until the first one has ended, however it ended", async () => {
      const first = await startSignet([], env);
      await refused(
        ["start"],
        { ...env, PORT: String(await freePort()) },
        /another signet start already serves .*signet\.db/,
      );
      assert.equal((await runProgram(["org", "list"], env)).code, 0, "commands may run beside it");
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
    await refused(["start"], env, words);
    await refused(["migrate"], env, words);
    await refused(["org", "create", "--name", "Late"], env, words);
    const { out, code } = await runProgram(["doctor"], env);
    assert.match(out, /9999-later/, `doctor ended with ${code}`);
  });
});
