import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cursor } from "../../db/keyset.ts";
import type { ListContext, ListSort } from "./list.ts";
import { memoryList } from "./memory-list.ts";

type Row = { readonly id: string; readonly name: string };

const sorts: Record<"name", ListSort<Row>> = {
  name: { isNumber: false, isDescending: false, value: ({ name }) => name },
};
const rows = ["c1", "a2", "b3", "a1", "b4"].map((id) => ({ id, name: id[0] ?? "" }));
const list = memoryList<unknown, Row, "name", Record<never, never>>({
  sorts,
  load: async () => rows,
  matches: ({ name }, { search }) => search === "" || name === search,
});
const context = {} as ListContext<unknown>;
const read = async (
  page: { after?: Cursor; before?: Cursor; isDescending?: boolean },
  search = "",
  limit = 2,
) =>
  (
    await list.rows(context, {
      filter: { search },
      page: { sort: "name", isDescending: false, ...page },
      limit,
    })
  ).map(({ id }) => id);

test("pages forwards and backwards in the order of value and id, both ways", async () => {
  assert.deepEqual(await read({}), ["a1", "a2"]);
  assert.deepEqual(await read({ after: { value: "a", id: "a2" } }), ["b3", "b4"]);
  assert.deepEqual(await read({ before: { value: "c", id: "c1" } }), ["b3", "b4"]);
  assert.deepEqual(await read({ isDescending: true }), ["c1", "b4"]);
  assert.deepEqual(await read({ isDescending: true, before: { value: "a", id: "a1" } }), ["b3", "a2"]);
});

test("a cursor of a row that is gone goes on where it was", async () => {
  assert.deepEqual(await read({ after: { value: "b", id: "b0" } }), ["b3", "b4"]);
});

test("filters, and counts no further than asked", async () => {
  assert.deepEqual(await read({}, "b", 9), ["b3", "b4"]);
  assert.equal(await list.count(context, { search: "" }, 3), 3);
  assert.equal(await list.count(context, { search: "a" }, 3), 2);
});
