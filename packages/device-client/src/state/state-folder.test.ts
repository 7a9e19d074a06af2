/** What the state folder promises: secrets for the owner alone, changes whole or not at all, one process at a time. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { promisify } from "node:util";
import { type DeviceRecord, makeStateFolder, readRecord, writeRecord } from "./device-record.ts";
import { currentGeneration, newGeneration, pendingGeneration, useGeneration } from "./generations.ts";
import { withLock } from "./lock.ts";
import { createPrivateFile, readPrivateFile, readSecretFile, replaceFile } from "./private-file.ts";

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

  test("is its owner's alone, and refused when others can write there", async () => {
    assert.equal((await stat(state)).mode & 0o777, 0o700);
    await chmod(state, 0o770);
    await assert.rejects(makeStateFolder(state), /others can write/);
  });

  test("keeps its record, and knows one that is not its own", async () => {
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

  test("writes a file whole or not at all, and a key never over another", async () => {
    await replaceFile(inState("a"), "one", 0o600);
    await replaceFile(inState("a"), "two", 0o600);
    assert.equal(await readFile(inState("a"), "utf8"), "two");
    await mkdir(inState("full"));
    await assert.rejects(replaceFile(inState("full"), "three", 0o600));
    assert.deepEqual((await readdir(state)).sort(), ["a", "full"], "nothing is left beside it");
    await createPrivateFile(inState("key"), "one");
    await assert.rejects(createPrivateFile(inState("key"), "two"), { code: "EEXIST" });
    assert.equal(await readFile(inState("key"), "utf8"), "one");
    await symlink(inState("elsewhere"), inState("link"));
    await assert.rejects(createPrivateFile(inState("link"), "two"), { code: "EEXIST" });
  });

  test("reads no secret that others can read", async () => {
    await createPrivateFile(inState("secret"), " text \nmore");
    assert.equal(await readSecretFile(inState("secret")), "text");
    for (const mode of [0o640, 0o604, 0o660]) {
      await chmod(inState("secret"), mode);
      await assert.rejects(readPrivateFile(inState("secret")), /can be read by others \(mode 06/);
    }
    await assert.rejects(readPrivateFile(state));
    await createPrivateFile(inState("empty"), "\n");
    await assert.rejects(readSecretFile(inState("empty")), /is empty/);
  });

  test("turns from one generation to the next in one step, and keeps the one before", async () => {
    const make = (text: string) =>
      newGeneration(state, (place) => createPrivateFile(path.join(place, "key.pem"), text));
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

  test("is not troubled by what a crash left: half a generation, half a link", async () => {
    const crash = newGeneration(state, async (place) => {
      await createPrivateFile(path.join(place, "key.pem"), "half");
      throw new Error("power cut");
    });
    await assert.rejects(crash, /power cut/);
    assert.equal(await pendingGeneration(state), undefined);
    await symlink("generations/9", inState("current.new"));
    const made = await newGeneration(state, (place) =>
      createPrivateFile(path.join(place, "key.pem"), "whole"),
    );
    assert.equal(await readFile(path.join(made, "key.pem"), "utf8"), "whole");
    await useGeneration(state, made);
    assert.equal(await currentGeneration(state), made);
  });

  test("is changed by one at a time; what a killed one left is taken over", async () => {
    await withLock(state, async () => {
      await assert.rejects(
        withLock(state, async () => {}),
        /works with/,
      );
    });
    await assert.rejects(
      withLock(state, () => Promise.reject(new Error("failed"))),
      /failed/,
    );
    assert.deepEqual(await readdir(state), []);
    // A process number that was another one's in an earlier run of the machine, and one that nobody has.
    const dead = [`lock.${process.pid}.00000000-0000-0000-0000-000000000000.1`, "lock.999999999"];
    for (const name of dead) await writeFile(inState(name), "");
    assert.equal(await withLock(state, async () => "done"), "done");
    assert.deepEqual(await readdir(state), []);
    await writeFile(inState(`lock.${process.ppid}`), "");
    await assert.rejects(
      withLock(state, async () => {}),
      /works with/,
    );
  });

  test("is never changed by two processes that come at the same moment, over what a killed one left", async () => {
    const contender = `
      import { open, rm, writeFile } from "node:fs/promises";
      import { withLock } from ${JSON.stringify(new URL("lock.ts", import.meta.url).href)};
      const [state] = process.argv.slice(1);
      let entered = 0;
      for (let turn = 0; turn < 60 || entered === 0; turn += 1) {
        await writeFile(state + "/lock.999999999", "").catch(() => {});
        await withLock(state, async () => {
          await (await open(state + "/inside", "wx")).close();
          await new Promise((resolve) => setTimeout(resolve, 1));
          await rm(state + "/inside");
          entered += 1;
        }).catch((error) => { if (error.name !== "StateBusy") throw error; });
      }
      process.stdout.write(String(entered));`;
    const run = promisify(execFile);
    const contenders = Array.from({ length: 3 }, () =>
      run(process.execPath, ["--input-type=module", "--eval", contender, state]),
    );
    const entered = (await Promise.all(contenders)).map(({ stdout }) => Number(stdout));
    assert.ok(
      entered.every((times) => times > 0),
      String(entered),
    );
  });

  test("shows a file that must be new when all of it is there, and not before", async () => {
    const text = "x".repeat(60_000);
    const [making, seen] = [createPrivateFile(inState("answer.json"), text), new Set<string>()];
    const made = making.then(() => seen.add("made"));
    while (!seen.has("made"))
      seen.add(
        (await readFile(inState("answer.json"), "utf8").catch(() => text)) === text ? "whole" : "half",
      );
    await made;
    assert.deepEqual([...seen].sort(), ["made", "whole"]);
    assert.deepEqual(await readdir(state), ["answer.json"]);
    assert.equal((await stat(inState("answer.json"))).mode & 0o777, 0o600);
  });
});
