import assert from "node:assert/strict";
import { renameSync, writeFileSync } from "node:fs";
import { chmod, mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { eventually } from "../../testing/eventually.ts";
import {
  folderKeyRing,
  MASTER_KEY_FILE,
  PREVIOUS_KEYS_FILE,
  readFolderKeys,
  replaceFolderKey,
} from "./folder-keys.ts";
import { isOfRing, MAX_KEYS } from "./key-ring.ts";

const first = Buffer.alloc(32, 1);
let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "signet-keys-"));
  await write(MASTER_KEY_FILE, first);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, ...keys: Buffer[]) =>
  writeFile(join(folder, name), `${keys.map((key) => key.toString("base64url")).join("\n")}\n`, {
    mode: 0o600,
  });

test("a new key takes the place of the one in use, which stays readable", async () => {
  await replaceFolderKey(folder);
  const [second, ...previous] = readFolderKeys(folder);
  assert.ok(!second.equals(first));
  assert.deepEqual(previous, [first]);
  await replaceFolderKey(folder);
  const keys = readFolderKeys(folder);
  assert.deepEqual(keys.slice(1), [second, first], "newest first");
  for (const name of [MASTER_KEY_FILE, PREVIOUS_KEYS_FILE])
    assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600, name);
});

test("keys are not collected without end", async () => {
  for (let count = 1; count < MAX_KEYS; count++) await replaceFolderKey(folder);
  const before = readFolderKeys(folder);
  await assert.rejects(replaceFolderKey(folder), /has 4 keys already/);
  assert.deepEqual(readFolderKeys(folder), before);
});

test("of two rotations at once, one makes a key", async () => {
  const both = await Promise.allSettled([replaceFolderKey(folder), replaceFolderKey(folder)]);
  assert.equal(both.filter(({ status }) => status === "rejected").length, 1);
  assert.deepEqual(readFolderKeys(folder).slice(1), [first]);
});

test("a key that was made while another rotation had begun is kept", async () => {
  let second: Promise<void> | undefined;
  // The first one has read the keys by then, and writes them.
  const wrap = (key: Buffer) => {
    second ??= replaceFolderKey(folder);
    second.catch(() => {});
    return key;
  };
  await replaceFolderKey(folder, { wrap, unwrap: (key) => key });
  await assert.rejects(second ?? Promise.resolve(), /another rotation is under way/);
  assert.equal(readFolderKeys(folder).length, 2);
});

test("a process that misses a key looks for it at once", async () => {
  const ring = folderKeyRing(folder);
  await replaceFolderKey(folder);
  const [second] = readFolderKeys(folder);
  assert.equal(
    isOfRing(ring, (key) => key.equals(second)),
    true,
  );
});

test("a key that comes while a process reads the one before is seen later", async () => {
  const next = Buffer.alloc(32, 2);
  let isReplaced = false;
  const unwrap = (key: Buffer) => {
    if (!isReplaced) {
      writeFileSync(join(folder, PREVIOUS_KEYS_FILE), `${first.toString("base64url")}\n`, { mode: 0o600 });
      writeFileSync(join(folder, "next"), `${next.toString("base64url")}\n`, { mode: 0o600 });
      renameSync(join(folder, "next"), join(folder, MASTER_KEY_FILE));
    }
    isReplaced = true;
    return key;
  };
  const ring = folderKeyRing(folder, { wrap: (key) => key, unwrap });
  assert.equal(ring.refresh(), true);
  assert.deepEqual(ring.all(), [next, first]);
});

test("a process that runs takes the new key over", async () => {
  const ring = folderKeyRing(folder);
  assert.deepEqual(ring.all(), [first]);
  await replaceFolderKey(folder);
  await eventually("the new key", () => ring.all().length === 2);
  assert.deepEqual(ring.all(), readFolderKeys(folder));
});

test("a process that runs lets go of a previous key that is removed", async () => {
  await replaceFolderKey(folder);
  const ring = folderKeyRing(folder);
  assert.equal(ring.all().length, 2);
  await rm(join(folder, PREVIOUS_KEYS_FILE));
  await eventually("one key is left", () => ring.all().length === 1);
  assert.ok(!ring.all()[0].equals(first));
});

test("a process that runs keeps its key when the folder has lost it, or the file is unsafe", async () => {
  const ring = folderKeyRing(folder);
  await write(MASTER_KEY_FILE, Buffer.alloc(32, 9));
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal(ring.refresh(), false);
  assert.deepEqual(ring.all(), [first]);
  await write(PREVIOUS_KEYS_FILE, first);
  await chmod(join(folder, PREVIOUS_KEYS_FILE), 0o644);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal(ring.refresh(), false);
  assert.throws(() => readFolderKeys(folder), /is readable by others/);
  await chmod(join(folder, PREVIOUS_KEYS_FILE), 0o600);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  assert.equal(ring.refresh(), true);
  assert.deepEqual(ring.all(), [Buffer.alloc(32, 9), first]);
});

test("a file of previous keys that holds something else is refused by name", async () => {
  await writeFile(join(folder, PREVIOUS_KEYS_FILE), "nonsense\n", { mode: 0o600 });
  assert.throws(() => readFolderKeys(folder), /master\.key\.previous does not contain/);
});
