import assert from "node:assert/strict";
import { appendFile, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { openJournal } from "./journal.ts";
import type { JournalEntry, SignedRecord } from "./journal-entry.ts";
import type { OpenFile } from "./journal-file.ts";
import { BrokenJournal } from "./journal-lock.ts";
import { verifyJournal } from "./verify-journal.ts";

const record = (jti: string): SignedRecord => ({
  event: "signed",
  requestId: "r",
  clientId: "c",
  grant: "refresh_token",
  use: "access_token",
  kid: "k",
  jti,
  sub: 'a "user" \u2028',
  aud: ["api"],
  exp: 1,
  tokenSha256: "h",
  challenge: null,
});

describe("the journal", () => {
  let folder: string;
  let file: string;
  let count = 0;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "signet-agent-"));
  });
  after(() => rm(folder, { recursive: true }));
  beforeEach(() => {
    count += 1;
    file = path.join(folder, `journal-${count}`);
  });

  async function write(...batches: string[][]): Promise<void> {
    const journal = await openJournal(file, () => 0);
    await Promise.all(batches.map((batch) => journal.append(batch.map(record))));
    await journal.close();
  }
  const lines = async () => (await readFile(file, "utf8")).trimEnd().split("\n");

  test("is one chain, also over a restart and over writers at once", async () => {
    await write(["a", "b"], ["c"], ["d"]);
    await write(["e"]);
    const seen: JournalEntry[] = [];
    const { entries, fault, last } = await verifyJournal([file], (entry) => seen.push(entry));
    assert.deepEqual([entries, fault, last.seq], [5, undefined, 5]);
    assert.deepEqual(
      seen.map((entry) => entry.event === "signed" && entry.jti),
      ["a", "b", "c", "d", "e"],
    );
  });

  test("tells what an earlier run wrote", async () => {
    await write(["a"], ["b"]);
    const seen: unknown[] = [];
    const journal = await openJournal(
      file,
      () => 0,
      (entry) => seen.push(entry.event === "signed" ? entry.jti : undefined),
    );
    await journal.close();
    assert.deepEqual(seen, ["a", "b"]);
  });

  const tampered: ReadonlyArray<readonly [string, number, (lines: string[]) => string[]]> = [
    ["changed", 2, ([a = "", b = "", c = ""]) => [a, b.replace('"jti":"b"', '"jti":"x"'), c]],
    ["taken out", 2, ([a = "", , c = ""]) => [a, c]],
    ["swapped", 1, ([a = "", b = "", c = ""]) => [b, a, c]],
    ["put in twice", 3, ([a = "", b = "", c = ""]) => [a, b, b, c]],
    ["taken from the start", 1, ([, b = "", c = ""]) => [b, c].reverse()],
  ];
  for (const [what, line, change] of tampered)
    test(`shows the first line that was ${what}, and no agent goes on with it`, async () => {
      await write(["a"], ["b"], ["c"]);
      await writeFile(file, `${change(await lines()).join("\n")}\n`);
      const { fault } = await verifyJournal([file]);
      assert.ok(fault && fault.line <= Math.max(line, 2), JSON.stringify(fault));
      await assert.rejects(
        openJournal(file, () => 0),
        BrokenJournal,
      );
    });

  test("goes on after a line that was torn by a crash", async () => {
    await write(["a"]);
    await appendFile(file, '{"seq":2,"time":');
    assert.equal((await verifyJournal([file])).isTorn, true);
    await write(["b"]);
    assert.deepEqual([(await verifyJournal([file])).entries, (await lines()).length], [2, 2]);
  });

  test("goes on in a new file when the old one was moved away, and both are one chain", async () => {
    const journal = await openJournal(file, () => 0);
    await journal.append([record("a")]);
    await rename(file, `${file}.1`);
    await journal.reopen();
    await journal.append([record("b")]);
    await journal.close();
    const both = await verifyJournal([`${file}.1`, file]);
    assert.deepEqual([both.entries, both.fault], [2, undefined]);
    assert.equal((await verifyJournal([file])).fault, undefined);
    const turned = await verifyJournal([file, `${file}.1`]);
    assert.equal(turned.fault?.file, `${file}.1`);
  });

  test("is one agent's alone, until that one is gone", async () => {
    const journal = await openJournal(file, () => 0);
    await assert.rejects(
      openJournal(file, () => 0),
      BrokenJournal,
    );
    await journal.close();
    // Of a process that cannot be there any more.
    await writeFile(`${file}.lock`, "4194399");
    await (await openJournal(file, () => 0)).close();
  });

  test("goes on by itself when a full disk has room again, with no half line between", async () => {
    let isFull = false;
    const openFull: OpenFile = async (...how) => {
      const handle = await open(...how);
      return {
        appendFile: async (text) => {
          if (!isFull) return await handle.appendFile(text);
          await handle.appendFile(text.slice(0, 20));
          throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
        },
        datasync: () => handle.datasync(),
        truncate: (length) => handle.truncate(length),
        stat: () => handle.stat(),
        close: () => handle.close(),
      };
    };
    const journal = await openJournal(file, () => 0, undefined, openFull);
    await journal.append([record("a")]);
    isFull = true;
    await assert.rejects(journal.append([record("b")]), { code: "ENOSPC" });
    await assert.rejects(journal.append([record("c")]), { code: "ENOSPC" });
    isFull = false;
    await journal.append([record("d")]);
    await journal.close();
    const { entries, fault, isTorn } = await verifyJournal([file]);
    assert.deepEqual([entries, fault, isTorn], [2, undefined, false]);
  });

  test("adds nothing to what somebody else wrote, until the file is moved away", async () => {
    const journal = await openJournal(file, () => 0);
    await journal.append([record("a")]);
    await appendFile(file, "x");
    await assert.rejects(journal.append([record("b")]), BrokenJournal);
    await rename(file, `${file}.1`);
    await journal.reopen();
    await journal.append([record("c")]);
    await journal.close();
    assert.equal((await verifyJournal([file])).entries, 1);
  });

  test("a file that it cannot go on in leaves it in the old one", async () => {
    const journal = await openJournal(file, () => 0);
    await journal.append([record("a")]);
    await rename(file, `${file}.1`);
    await writeFile(file, "of somebody else\n");
    await assert.rejects(journal.reopen(), BrokenJournal);
    await rm(file);
    await mkdir(file);
    const ended = await Promise.allSettled([
      journal.append([record("b")]),
      journal.reopen(),
      journal.append([record("c")]),
    ]);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled"],
    );
    await journal.close();
    assert.equal((await verifyJournal([`${file}.1`])).entries, 3);
  });

  test("what nobody wrote is a fault, and nothing behind it is cut off", async () => {
    await write(["a"]);
    const [line = ""] = await lines();
    await writeFile(file, `${line}\n${"x".repeat(200_000)}\n${line}\n`);
    assert.equal((await verifyJournal([file])).fault?.line, 2);
    await assert.rejects(
      openJournal(file, () => 0),
      BrokenJournal,
    );
    assert.ok((await readFile(file, "utf8")).endsWith(`${line}\n`));
  });

  test("a lock of before the machine's restart is nobody's, whoever has its number now", async () => {
    // Number 1 runs always, and did not begin then.
    await writeFile(`${file}.lock`, "1 00000000-0000-0000-0000-000000000000/1");
    await (await openJournal(file, () => 0)).close();
  });

  test("takes nothing once it is closed, and makes no file any more", async () => {
    const journal = await openJournal(file, () => 0);
    await journal.close();
    await rm(file);
    await assert.rejects(journal.append([record("a")]), /is closed/);
    await assert.rejects(journal.reopen(), /is closed/);
    await assert.rejects(readFile(file), { code: "ENOENT" });
  });

  test("hands nothing out that it could not write", async () => {
    const journal = await openJournal(file, () => Number.NaN);
    await assert.rejects(journal.append([record("a")]));
    await assert.rejects(journal.append([record("b")]));
    await journal.close();
  });
});
