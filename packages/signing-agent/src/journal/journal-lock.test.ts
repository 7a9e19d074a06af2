import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";

/** Takes the lock again and again. Argument: the journal. */
const contender = `
  import { open, rm } from "node:fs/promises";
  import { lockJournal } from ${JSON.stringify(new URL("journal-lock.ts", import.meta.url).href)};
  const [journal] = process.argv.slice(1);
  let entered = 0;
  for (let turn = 0; turn < 120 || entered === 0; turn += 1) {
    const unlock = await lockJournal(journal).catch((error) => {
      if (error.name !== "BrokenJournal") throw error;
    });
    if (!unlock) continue;
    await (await open(journal + ".inside", "wx")).close();
    await rm(journal + ".inside");
    await unlock();
    entered += 1;
  }
  process.stdout.write(String(entered));`;

test("two agents that are started at the same moment never both write a journal", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "signet-lock-"));
  try {
    const parameters = ["--input-type=module", "--eval", contender, path.join(folder, "journal")];
    const contenders = [1, 2].map(() => promisify(execFile)(process.execPath, parameters));
    for (const { stdout } of await Promise.all(contenders)) assert.ok(Number(stdout) > 0);
    assert.deepEqual(await readdir(folder), []);
  } finally {
    await rm(folder, { recursive: true });
  }
});
