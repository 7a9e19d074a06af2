import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import { readBackupFile } from "./backup-file.ts";
import { UnusableBackup } from "./read-backup.ts";

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), "signet-lines-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function linesOf(text: string): Promise<string[]> {
  const file = path.join(folder, "file");
  await writeFile(file, gzipSync(text));
  const lines: string[] = [];
  for await (const line of readBackupFile(file, [])) lines.push(line);
  return lines;
}

test("lines come as they are, wherever the pieces of the file end", async () => {
  const lines = Array.from({ length: 3_000 }, (_, at) => `${at} ${"é€😀".repeat(at % 40)}`);
  assert.deepEqual(await linesOf(lines.join("\n")), lines);
  assert.deepEqual(await linesOf(`${lines.join("\n")}\n`), lines);
  assert.deepEqual(await linesOf("\na\n\nb"), ["", "a", "", "b"]);
});

test("the longest line costs its length, not the square of it, and a longer one is refused", async () => {
  const longest = "x".repeat(63 * 1024 * 1024);
  const before = process.cpuUsage();
  const [first, second] = await linesOf(`${longest}\ny`);
  const { user, system } = process.cpuUsage(before);
  assert.deepEqual([first?.length, second], [longest.length, "y"]);
  assert.ok((user + system) / 1e6 < 15, `${(user + system) / 1e6} s`);
  await assert.rejects(linesOf(`${longest}${longest}`), UnusableBackup);
});
