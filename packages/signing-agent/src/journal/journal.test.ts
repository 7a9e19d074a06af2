import assert from "node:assert/strict";
import { appendFile, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { openJournal } from "./journal.ts";
import type { JournalEntry, SignedRecord } from "./journal-entry.ts";
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

  test("hands nothing out that it could not write", async () => {
    const journal = await openJournal(file, () => Number.NaN);
    await assert.rejects(journal.append([record("a")]));
    await assert.rejects(journal.append([record("b")]));
    await journal.close();
  });
});
