import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { deleteExpired } from "../../db/delete-expired.ts";
import { migrate } from "../../db/migrate.ts";
import { type Database, openDatabase } from "../../db/open.ts";
import { forEachDatabase } from "../../testing/databases.ts";
import { browserName } from "./browser-name.ts";
import { recordBrowserUse } from "./known-browsers.store.ts";

const DAY = 86_400_000;

describe("known browsers", () => {
  forEachDatabase(({ fresh }) => {
    let database: Database;
    before(async () => {
      database = openDatabase(await fresh());
      await migrate(database);
    });
    after(() => database.close());
    const note = (userId: string, browserHash: string, now = 0, orgId = "org") =>
      recordBrowserUse(database.query, { orgId, userId, browserHash, now });

    test("a browser is new once for each user and organisation", async () => {
      assert.equal(await note("uma", "a"), false);
      assert.equal(await note("uma", "a"), true);
      assert.equal(await note("uma", "b"), false);
      assert.equal(await note("otto", "a"), false);
      assert.equal(await note("uma", "a", 0, "other"), false);
    });

    test("of many concurrent sign-ins, one finds the browser new", async () => {
      const seen = await Promise.all(Array.from({ length: 6 }, () => note("eve", "c")));
      assert.equal(seen.filter((known) => !known).length, 1);
    });

    test("a browser is new again after 400 days without a sign-in", async () => {
      await note("ada", "d", 0);
      assert.equal(await note("ada", "d", 399 * DAY), true);
      assert.equal(await note("ada", "d", 798 * DAY), true);
      assert.equal(await note("ada", "d", 1_198 * DAY), false);
      assert.equal(await note("ada", "d", 1_199 * DAY), true);
    });

    test("expired browsers are deleted", async () => {
      await note("gil", "e", 5_000 * DAY);
      assert.ok((await deleteExpired(database.query, "known_browser", 5_000 * DAY, 100)) > 0);
      assert.equal(await deleteExpired(database.query, "known_browser", 5_000 * DAY, 100), 0);
      assert.equal(await note("gil", "e", 5_001 * DAY), true);
    });
  });
});

test("browsers and systems get fixed names", () => {
  const windows = "Mozilla/5.0 (Windows NT 10.0; Win64; x64)";
  const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
  const cases: [string, string | undefined][] = [
    [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36`, "Chrome, Windows"],
    [`${windows} ${webkit} Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, "Edge, Windows"],
    ["Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Windows"],
    [
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1 Version/18.0 Safari/605.1",
      "Safari, macOS",
    ],
    [
      "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile Safari/604.1",
      "Safari, iPhone",
    ],
    [`Mozilla/5.0 (Linux; Android 16) ${webkit} Chrome/140.0.0.0 Mobile Safari/537.36`, "Chrome, Android"],
    ["Mozilla/5.0 (X11; Linux x86_64)", "Linux"],
    ["curl/8.0", undefined],
    ["", undefined],
  ];
  for (const [header, name] of cases) assert.equal(browserName(header), name, header);
});

test("the header's own text is never shown", () => {
  const name = browserName('<script>alert(1)</script> Firefox/1 "Windows" https://evil.example');
  assert.equal(name, "Firefox, Windows");
});
