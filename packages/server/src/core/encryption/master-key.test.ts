import assert from "node:assert/strict";
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, type TestContext, test } from "node:test";
import { MASTER_KEY_FILE } from "./folder-keys.ts";
import { findMasterKeys, loadMasterKeys, type MasterKeySource } from "./master-key.ts";

let root: string;
let folder: string;
before(async () => {
  root = await mkdtemp(join(tmpdir(), "signet-key-"));
});
after(() => rm(root, { recursive: true, force: true }));
beforeEach(async () => {
  folder = await mkdtemp(join(root, "data-"));
});

const source = (masterKey: Buffer | undefined, dataDir: string): MasterKeySource => ({
  masterKey,
  dataDir,
  previousMasterKeys: [],
  masterKeyWrapping: undefined,
});
const loadMasterKey = async (...from: Parameters<typeof source>) =>
  (await loadMasterKeys(source(...from))).all()[0];
const findMasterKey = async (...from: Parameters<typeof source>) =>
  (await findMasterKeys(source(...from)))?.all()[0];

const file = () => join(folder, MASTER_KEY_FILE);

test("creates the key file once, readable by its owner only", async () => {
  assert.equal(await findMasterKey(undefined, folder), undefined, "looking makes none");
  const made = await loadMasterKey(undefined, folder);
  assert.equal(made.length, 32);
  assert.equal((await stat(file())).mode & 0o777, 0o600);
  assert.deepEqual(await loadMasterKey(undefined, folder), made);
  assert.deepEqual(await findMasterKey(undefined, folder), made);
});

test("processes starting together use one key", async () => {
  const keys = await Promise.all(Array.from({ length: 10 }, () => loadMasterKey(undefined, folder)));
  assert.equal(new Set(keys.map((key) => key.toString("hex"))).size, 1);
});

test("rejects a key file that others can read", async () => {
  await loadMasterKey(undefined, folder);
  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o610]) {
    await chmod(file(), mode);
    await assert.rejects(loadMasterKey(undefined, folder), /is readable by others/, mode.toString(8));
    await assert.rejects(findMasterKey(undefined, folder), /is readable by others/, mode.toString(8));
  }
});

test("rejects a key in a folder that others can write to, and creates none there", async () => {
  const open = await mkdtemp(join(root, "open-"));
  await loadMasterKey(undefined, folder);
  for (const mode of [0o770, 0o702, 0o777]) {
    for (const one of [folder, open]) await chmod(one, mode);
    for (const find of [loadMasterKey, findMasterKey])
      await assert.rejects(find(undefined, folder), /others can write to .*: chmod go-w/, mode.toString(8));
    await assert.rejects(loadMasterKey(undefined, open), /others can write to/);
    assert.deepEqual(await readdir(open), []);
  }
});

test("rejects a key that a symbolic link leads to, in a folder that others can write to", async () => {
  const linked = await mkdtemp(join(root, "linked-"));
  const key = await loadMasterKey(undefined, folder);
  await symlink(file(), join(linked, MASTER_KEY_FILE));
  assert.deepEqual(await loadMasterKey(undefined, linked), key);
  await chmod(folder, 0o770);
  for (const find of [loadMasterKey, findMasterKey])
    await assert.rejects(find(undefined, linked), /others can write to .*data-/);
});

test("rejects a key or folder of another user", async (t) => {
  await loadMasterKey(undefined, folder);
  const uid = process.getuid?.() ?? 0;
  const refused = (what: RegExp) => assert.rejects(loadMasterKey(undefined, folder), what);
  if (uid === 0) {
    await chown(file(), 4_001, 4_001);
    await refused(/master\.key belongs to another user \(uid 4001\)/);
    await chown(folder, 4_001, 4_001);
    await refused(/belongs to another user \(uid 4001\)/);
  } else {
    asUser(t, () => uid + 4_000);
    await refused(/belongs to another user/);
  }
});

test("rejects a file without a key, and doesn't overwrite it", async () => {
  await writeFile(file(), "not a key\n", { mode: 0o600 });
  await assert.rejects(loadMasterKey(undefined, folder), /does not contain a master key/);
  assert.equal(await readFile(file(), "utf8"), "not a key\n");
});

test("a configured key needs no file, and a missing folder is reported", async () => {
  const configured = Buffer.alloc(32, 1);
  assert.deepEqual(await loadMasterKey(configured, join(folder, "missing")), configured);
  assert.deepEqual(await findMasterKey(configured, join(folder, "missing")), configured);
  assert.equal(await findMasterKey(undefined, join(folder, "missing")), undefined);
  await assert.rejects(loadMasterKey(undefined, join(folder, "missing")), { code: "ENOENT" });
});

/** As another user would see the files: only root could give them away. */
function asUser(t: TestContext, geteuid: () => number): void {
  const { geteuid: own } = process;
  t.after(() => void Object.assign(process, { geteuid: own }));
  Object.assign(process, { geteuid });
}
