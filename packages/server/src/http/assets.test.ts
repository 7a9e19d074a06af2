import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { copyScript, formPostScript } from "../html/scripts.ts";
import { stylesheet } from "../html/stylesheet.ts";
import { forEachDatabase } from "../testing/databases.ts";
import { startTestService, type TestService } from "../testing/test-service.ts";

forEachDatabase(({ name, fresh }) => {
  // No asset comes from the database.
  if (name !== "sqlite") return;
  let running: TestService;
  before(async () => {
    running = await startTestService({ databaseUrl: await fresh() });
  });
  after(() => running.close());

  for (const [what, asset, type] of [
    ["the stylesheet", stylesheet, "text/css; charset=utf-8"],
    ["the form post script", formPostScript, "text/javascript; charset=utf-8"],
    ["the copy script", copyScript, "text/javascript; charset=utf-8"],
  ] as const) {
    test(`${what} is kept for ever under an address of its content, and not read as anything else`, async () => {
      assert.match(asset.path, /^\/assets\/[a-z-]+\.[0-9a-f]{16}\.(?:css|js)$/);
      const response = await fetch(running.baseUrl + asset.path);
      assert.equal(response.status, 200);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), asset.bytes);
      assert.equal(response.headers.get("content-type"), type);
      assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      const headers = { "if-none-match": asset.etag };
      assert.equal((await fetch(running.baseUrl + asset.path, { headers })).status, 304);
    });
  }

  test("responds 404 to anything else, however it is spelled", async () => {
    for (const file of [
      "",
      "x",
      "signet.css",
      "..%2fapp.ts",
      "%2e%2e%2fpackage.json",
      "__proto__",
      "constructor",
      "%00",
    ]) {
      const response = await fetch(`${running.baseUrl}/assets/${file}`);
      assert.equal(response.status, 404, file);
    }
  });
});
