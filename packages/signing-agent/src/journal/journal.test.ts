import assert from "node:assert/strict";
import { appendFile, mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { BrokenJournal, type OpenFile, openJournal } from "./journal.ts";
import { type JournalEntry, type SignedRecord, verifyJournal } from "./verify-journal.ts";

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
  inputSha256: "i",
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

  test("is one chain across restarts and concurrent writers", async () => {
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

  test("hands out the entries of an earlier run", async () => {
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
    ["removed", 2, ([a = "", , c = ""]) => [a, c]],
    ["swapped", 1, ([a = "", b = "", c = ""]) => [b, a, c]],
    ["inserted twice", 3, ([a = "", b = "", c = ""]) => [a, b, b, c]],
    ["moved from the start", 1, ([, b = "", c = ""]) => [b, c].reverse()],
  ];
  for (const [what, line, change] of tampered)
    test(`a line that was ${what} is found, and no agent continues the file`, async () => {
      await write(["a"], ["b"], ["c"]);
      await writeFile(file, `${change(await lines()).join("\n")}\n`);
      const { fault } = await verifyJournal([file]);
      assert.ok(fault && fault.line <= Math.max(line, 2), JSON.stringify(fault));
      await assert.rejects(
        openJournal(file, () => 0),
        BrokenJournal,
      );
    });

  test("continues after a line that a crash cut off", async () => {
    await write(["a"]);
    await appendFile(file, '{"seq":2,"time":');
    assert.equal((await verifyJournal([file])).isTorn, true);
    await write(["b"]);
    assert.deepEqual([(await verifyJournal([file])).entries, (await lines()).length], [2, 2]);
  });

  test("continues the chain in a new file after the old one was moved away", async () => {
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

  test("is refused to a second agent until the first one closes it, whatever an older version left behind", async () => {
    const journal = await openJournal(file, () => 0);
    await assert.rejects(
      openJournal(file, () => 0),
      BrokenJournal,
    );
    await journal.close();
    // Lock files of earlier versions, whose process ids may belong to anybody by now: this process, init, nobody.
    for (const holder of [process.pid, "1 00000000-0000-0000-0000-000000000000/1", "4194399"]) {
      await writeFile(`${file}.lock`, String(holder));
      await (await openJournal(file, () => 0)).close();
    }
  });

  test("recovers when a full disk has room again, without half a line in between", async () => {
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

  test("is not continued after another program wrote to it, until the file is moved away", async () => {
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

  test("stays in the old file when the new one cannot be continued", async () => {
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

  test("a line that is far too long is a fault, and nothing after it is truncated", async () => {
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

  test("accepts nothing after it is closed, and creates no file", async () => {
    const journal = await openJournal(file, () => 0);
    await journal.close();
    await rm(file);
    await assert.rejects(journal.append([record("a")]), /is closed/);
    await assert.rejects(journal.reopen(), /is closed/);
    await assert.rejects(readFile(file), { code: "ENOENT" });
  });

  test("rejects records that it cannot format, and those after them", async () => {
    const journal = await openJournal(file, () => Number.NaN);
    await assert.rejects(journal.append([record("a")]));
    await assert.rejects(journal.append([record("b")]));
    await journal.close();
  });
});
