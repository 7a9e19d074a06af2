/** The lists of devices and codes are read in the order of an index, from the cursor on, however many there are. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { sql } from "kysely";
import { migrate } from "../../../db/migrate.ts";
import { type Database, type Db, openDatabase } from "../../../db/open.ts";
import { forEachDatabase } from "../../../testing/databases.ts";
import type { ListRequest } from "../lists/list-request.ts";
import { selectCodePage, selectDevicePage } from "./device-lists.store.ts";

const request = (isDescending: boolean, after?: ListRequest["after"]): ListRequest => ({
  ...{ limit: 100, wantsTotal: false, tag: "", filter: undefined, search: undefined },
  ...{ sort: { member: "createdAt", isDescending }, after },
});

forEachDatabase(({ fresh, name: engine }) => {
  let database: Database;
  before(async () => {
    database = openDatabase(await fresh(), 2);
    await migrate(database);
  });
  after(() => database.close());

  const planOf = (
    query: (db: Db) => ReturnType<typeof selectDevicePage> | ReturnType<typeof selectCodePage>,
  ) =>
    database.transaction(async (tx) => {
      if (engine === "postgres") {
        // Of a table without rows the planner would rather read everything and sort it.
        await sql`set local enable_seqscan = off`.execute(tx);
        await sql`set local enable_bitmapscan = off`.execute(tx);
        await sql`set local enable_sort = off`.execute(tx);
        return JSON.stringify(await query(tx).explain("json"));
      }
      return JSON.stringify(await query(tx).explain(undefined, sql`query plan`));
    });

  for (const isDescending of [false, true])
    for (const [where, cursor] of [
      ["the first page", undefined],
      ["the next page", { value: 1_000, id: "x" }],
    ] as const)
      test(`${isDescending ? "newest" : "oldest"} first, ${where}`, async () => {
        const list = request(isDescending, cursor);
        const devices = await planOf((db) => selectDevicePage(db, "org", list, 0));
        const codes = await planOf((db) => selectCodePage(db, "org", list, 0));
        assert.match(devices, /device_enrolled\b/);
        assert.match(codes, /device_enrollment_code_created\b/);
        assert.doesNotMatch(devices + codes, /TEMP B-TREE|Sort"/);
      });
});
