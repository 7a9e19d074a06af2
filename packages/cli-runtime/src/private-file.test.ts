import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, type TestContext, test } from "node:test";
import { createPrivateFile, readPrivateFile, readSecretFile, replaceFile } from "./private-file.ts";
import { redact } from "./redact.ts";

describe("private files", () => {
  let folder: string;
  const file = (name: string) => path.join(folder, name);
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-files-"));
  });
  afterEach(() => rm(folder, { recursive: true }));

  test("a file is written whole or not at all, and a key never overwrites another", async () => {
    await replaceFile(file("a"), "one", 0o600);
    await replaceFile(file("a"), "two", 0o600);
    assert.equal(await readFile(file("a"), "utf8"), "two");
    await mkdir(file("full"));
    await assert.rejects(replaceFile(file("full"), "three", 0o600));
    assert.deepEqual((await readdir(folder)).sort(), ["a", "full"], "no temporary file is left");
    await createPrivateFile(file("key"), "one");
    await assert.rejects(createPrivateFile(file("key"), "two"), { code: "EEXIST" });
    assert.equal(await readFile(file("key"), "utf8"), "one");
    await symlink(file("elsewhere"), file("link"));
    await assert.rejects(createPrivateFile(file("link"), "two"), { code: "EEXIST" });
  });

  test("a new file appears only when all of it is written", async () => {
    const text = "x".repeat(60_000);
    const [creating, seen] = [createPrivateFile(file("answer.json"), text), new Set<string>()];
    const created = creating.then(() => seen.add("created"));
    while (!seen.has("created"))
      seen.add((await readFile(file("answer.json"), "utf8").catch(() => text)) === text ? "whole" : "half");
    await created;
    assert.deepEqual([...seen].sort(), ["created", "whole"]);
    assert.deepEqual(await readdir(folder), ["answer.json"]);
    assert.equal((await stat(file("answer.json"))).mode & 0o777, 0o600);
  });

  test("secrets that others can read, or that are empty, are refused; a secret that was read is redacted", async () => {
    await createPrivateFile(file("secret"), " file-secret \nmore");
    assert.equal(await readSecretFile(file("secret")), "file-secret");
    assert.equal(redact("wrong PIN: file-secret"), "wrong PIN: [redacted]");
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(file("secret"), mode);
      await assert.rejects(readPrivateFile(file("secret")), /can be read by others \(mode 06/);
    }
    await chmod(file("secret"), 0o600);
    await assert.rejects(readPrivateFile(folder), /is not a regular file/);
    await replaceFile(file("long"), Buffer.alloc(65_536, 120), 0o600);
    assert.equal((await readPrivateFile(file("long"))).length, 65_536);
    await replaceFile(file("long"), Buffer.alloc(65_537, 120), 0o600);
    await assert.rejects(readPrivateFile(file("long")), /at most 64 KiB/);
    await createPrivateFile(file("empty"), "\n");
    await assert.rejects(readSecretFile(file("empty")), /is empty/);
  });

  test("a secret in a folder that others can write to is refused, also behind a symbolic link, and none is created there", async () => {
    const [open, closed] = [file("open"), file("closed")];
    for (const one of [open, closed]) await mkdir(one, { mode: 0o700 });
    await createPrivateFile(path.join(open, "key"), "one");
    await symlink(path.join(open, "key"), path.join(closed, "key"));
    assert.equal(await readPrivateFile(path.join(closed, "key")), "one");
    for (const mode of [0o770, 0o702, 0o777]) {
      await chmod(open, mode);
      for (const one of [open, closed])
        await assert.rejects(
          readPrivateFile(path.join(one, "key")),
          /others can write to .*open: chmod go-w/,
        );
      await assert.rejects(createPrivateFile(path.join(open, "other"), "two"), /others can write to/);
      assert.deepEqual(await readdir(open), ["key"]);
    }
  });

  test("a secret file, or a folder, of another user is refused", async (t) => {
    await createPrivateFile(file("key"), "one");
    const uid = process.getuid?.() ?? 0;
    asUser(t, () => uid + 4_000);
    // Root's files are nobody's but root's.
    if (uid === 0) await chown(file("key"), 4_001, 4_001);
    await assert.rejects(readPrivateFile(file("key")), /key belongs to another user \(uid \d+\)/);
    if (uid === 0) {
      await chown(file("key"), 0, 0);
      assert.equal(await readPrivateFile(file("key")), "one");
      await chown(folder, 4_001, 4_001);
      await assert.rejects(readPrivateFile(file("key")), /belongs to another user \(uid 4001\)/);
    }
  });
});

/** As another user would see the files: only root could give them away. */
function asUser(t: TestContext, geteuid: () => number): void {
  const { geteuid: own } = process;
  t.after(() => void Object.assign(process, { geteuid: own }));
  Object.assign(process, { geteuid });
}
