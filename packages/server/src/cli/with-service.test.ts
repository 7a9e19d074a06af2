import assert from "node:assert/strict";
import { test } from "node:test";
import { UsageError } from "./command.ts";
import { readAll } from "./with-service.ts";

const stored = Array.from({ length: 450 }, (_, index) => ({ id: String(index).padStart(4, "0") }));

/** A store's list, and the sizes of the pages that it was asked for. */
function pages(items = stored) {
  const asked: number[] = [];
  const read = async ({ after = "", limit }: { after?: string; limit: number }) => {
    asked.push(limit);
    return items.filter(({ id }) => id > after).slice(0, limit);
  };
  return { asked, read };
}

test("reads a list to its end in pages of 200", async () => {
  const { asked, read } = pages();
  assert.deepEqual(await readAll({}, read), { items: stored, more: false });
  assert.deepEqual(asked, [200, 200, 200]);
});

test("ends a list after a full last page", async () => {
  const { read } = pages(stored.slice(0, 400));
  assert.equal((await readAll({}, read)).items.length, 400);
});

test("reports more entries exactly when --limit cuts a list off", async () => {
  const { asked, read } = pages();
  assert.deepEqual(await readAll({ limit: "201" }, read), { items: stored.slice(0, 201), more: true });
  assert.equal(asked.length, 2);
  assert.deepEqual(await readAll({ limit: "450" }, read), { items: stored, more: false });
  assert.deepEqual(await readAll({ limit: "200" }, read), { items: stored.slice(0, 200), more: true });
});

test("rejects a limit that is not a positive whole number", async () => {
  for (const limit of ["0", "-1", "ten", "1.5"])
    await assert.rejects(readAll({ limit }, pages().read), UsageError);
});
