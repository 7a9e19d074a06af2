import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { acquireLock, Locked, withLock } from "./exclusive-lock.ts";

const module = JSON.stringify(new URL("exclusive-lock.ts", import.meta.url).href);
const evaluate = ["--input-type=module", "--eval"];

/** Takes the lock, drops its release, and lives until it is killed. Argument: the lock's file. */
const holder = `
  import { acquireLock } from ${module};
  acquireLock(process.argv[1]);
  globalThis.gc();
  await new Promise(setImmediate);
  globalThis.gc();
  process.stdout.write("locked");
  setInterval(() => {}, 1_000);`;

/** Takes the lock again and again, and fails if another process is inside too. Arguments: the folder. */
const contender = `
  import { open, rm } from "node:fs/promises";
  import { withLock } from ${module};
  const [folder] = process.argv.slice(1);
  let entered = 0;
  for (let turn = 0; turn < 120 || entered === 0; turn += 1)
    await withLock(folder + "/lock", async () => {
      await (await open(folder + "/inside", "wx")).close();
      await rm(folder + "/inside");
      entered += 1;
    }).catch(async (error) => {
      if (error.name !== "Locked") throw error;
      await new Promise((resolve) => setTimeout(resolve, 1));
    });
  process.stdout.write(String(entered));`;

describe("an exclusive lock", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-lock-"));
  });
  after(() => rm(folder, { recursive: true }));

  test("is refused to a second holder in the same process, and free again after its release", async () => {
    const file = path.join(folder, "own");
    const release = acquireLock(file);
    assert.throws(() => acquireLock(file), Locked);
    release();
    assert.equal(await withLock(file, async () => "done"), "done");
    await assert.rejects(
      withLock(file, () => Promise.reject(new Error("failed"))),
      /failed/,
    );
    acquireLock(file)();
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.deepEqual(
      (await readdir(folder)).filter((name) => name !== "own"),
      [],
    );
  });

  test("a killed holder blocks nobody", async () => {
    const file = path.join(folder, "killed");
    const child = spawn(process.execPath, ["--expose-gc", ...evaluate, holder, file]);
    await once(child.stdout, "data");
    assert.throws(() => acquireLock(file), Locked);
    // The refused attempt above has not released the other process's lock.
    assert.throws(() => acquireLock(file), Locked);
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    acquireLock(file)();
  });

  test("processes that start together are never inside together", async () => {
    const contenders = [1, 2, 3].map(() =>
      promisify(execFile)(process.execPath, [...evaluate, contender, folder]),
    );
    for (const { stdout } of await Promise.all(contenders)) assert.ok(Number(stdout) > 0);
  });

  test("a file that is not an empty lock file is an error, not a lock", async () => {
    const file = path.join(folder, "other");
    await writeFile(file, "something else\n".repeat(100));
    assert.throws(() => acquireLock(file), /not a database/);
  });
});
