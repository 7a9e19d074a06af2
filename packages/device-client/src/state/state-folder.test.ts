/** The guarantees of the state folder: private, changed atomically, by one process at a time. */
import assert from "node:assert/strict";
import { chmod, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { Locked } from "@signet/cli-runtime/exclusive-lock";
import { createPrivateFile } from "@signet/cli-runtime/private-file";
import { type DeviceRecord, lockState, makeStateFolder, readRecord, writeRecord } from "./device-record.ts";
import { currentGeneration, newGeneration, pendingGeneration, useGeneration } from "./generations.ts";

const record: DeviceRecord = {
  server: "https://id.example",
  organisation: "33333333-3333-4333-8333-333333333333",
  key: { kind: "tpm", tpm: "/dev/tpmrm0", ek: "p-384" },
};

describe("a state folder", () => {
  let folder: string;
  let state: string;
  let count = 0;
  const inState = (name: string) => path.join(state, name);
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-state-"));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(async () => {
    count += 1;
    state = path.join(folder, `state-${count}`);
    await makeStateFolder(state);
  });

  test("has mode 0700, and is refused when others can write to it", async () => {
    assert.equal((await stat(state)).mode & 0o777, 0o700);
    await chmod(state, 0o770);
    await assert.rejects(makeStateFolder(state), /others can write/);
  });

  test("whose record others could replace names no service", async () => {
    await writeRecord(state, record);
    await chmod(state, 0o777);
    await assert.rejects(readRecord(state), /others can write to .*chmod go-w/);
    await chmod(state, 0o700);
    await chmod(inState("device.json"), 0o622);
    await assert.rejects(readRecord(state), /device\.json can be read by others/);
    await chmod(inState("device.json"), 0o600);
    assert.deepEqual(await readRecord(state), record);
  });

  test("keeps its record, and refuses an invalid one", async () => {
    assert.equal(await readRecord(state), undefined);
    await writeRecord(state, record);
    assert.deepEqual(await readRecord(state), record);
    assert.equal((await stat(inState("device.json"))).mode & 0o777, 0o600);
    const strange = ["{", "[]", "{}", '{"server":1}', JSON.stringify({ ...record, organisation: "../.." })];
    for (const text of [...strange, JSON.stringify({ ...record, key: { kind: "card" } })]) {
      await writeFile(inState("device.json"), text);
      await assert.rejects(readRecord(state), /is damaged/, text);
    }
  });

  test("switches generations atomically, and keeps the previous one", async () => {
    const make = (text: string) =>
      newGeneration(state, (folder) => createPrivateFile(path.join(folder, "key.pem"), text));
    assert.deepEqual(
      [await currentGeneration(state), await pendingGeneration(state)],
      [undefined, undefined],
    );
    const first = await make("one");
    assert.deepEqual([await currentGeneration(state), await pendingGeneration(state)], [undefined, first]);
    await useGeneration(state, first);
    assert.deepEqual([await currentGeneration(state), await pendingGeneration(state)], [first, undefined]);
    for (const text of ["two", "three"]) await useGeneration(state, await make(text));
    assert.equal(await readFile(inState("current/key.pem"), "utf8"), "three");
    assert.deepEqual(await readdir(inState("generations")), ["2", "3"]);
  });

  test("ignores what a crash left behind: half a generation, a stray link", async () => {
    const crash = newGeneration(state, async (folder) => {
      await createPrivateFile(path.join(folder, "key.pem"), "half");
      throw new Error("power cut");
    });
    await assert.rejects(crash, /power cut/);
    assert.equal(await pendingGeneration(state), undefined);
    await symlink("generations/9", inState("current.new"));
    const made = await newGeneration(state, (folder) =>
      createPrivateFile(path.join(folder, "key.pem"), "whole"),
    );
    assert.equal(await readFile(path.join(made, "key.pem"), "utf8"), "whole");
    await useGeneration(state, made);
    assert.equal(await currentGeneration(state), made);
  });

  test("is changed by one process at a time, whatever lock files an older version left behind", async () => {
    // This process, one from before the machine's restart, the parent process, and nobody.
    const boot = "00000000-0000-0000-0000-000000000000.1";
    for (const name of [
      `lock.${process.pid}`,
      `lock.${process.pid}.${boot}`,
      `lock.${process.ppid}`,
      "lock.999999999",
    ])
      await writeFile(inState(name), "");
    await lockState(state, async () => {
      await assert.rejects(
        lockState(state, async () => {}),
        Locked,
      );
    });
    assert.equal(await lockState(state, async () => "done"), "done");
  });
});
