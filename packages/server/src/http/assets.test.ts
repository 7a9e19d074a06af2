import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { interFont } from "../html/fonts.ts";
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
      const plain = { headers: { "accept-encoding": "identity" } };
      const response = await fetch(running.baseUrl + asset.path, plain);
      assert.equal(response.status, 200);
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), asset.bytes);
      assert.equal(response.headers.get("content-type"), type);
      assert.equal(response.headers.get("cache-control"), "public, max-age=31536000, immutable");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      const headers = { ...plain.headers, "if-none-match": asset.etag };
      assert.equal((await fetch(running.baseUrl + asset.path, { headers })).status, 304);
    });
  }

  for (const [coding, accepted] of [
    ["br", "gzip, deflate, br, zstd"],
    ["gzip", "gzip"],
    ["gzip", "br;q=0, gzip;q=0.5"],
    [null, "*"],
    [null, "br;q=0.0, gzip; q=0"],
  ] as const) {
    test(`to "${accepted}" a stylesheet is sent as ${coding ?? "it is"}, with an entity tag of its own`, async () => {
      const address = running.baseUrl + stylesheet.path;
      const headers = { "accept-encoding": accepted };
      const response = await fetch(address, { headers });
      assert.equal(response.headers.get("content-encoding"), coding);
      assert.equal(response.headers.get("vary"), "accept-encoding");
      assert.deepEqual(Buffer.from(await response.arrayBuffer()), stylesheet.bytes);
      const etag = response.headers.get("etag") ?? "";
      assert.equal(etag, coding ? stylesheet.etag.replace(/"$/, `-${coding}"`) : stylesheet.etag);
      const again = await fetch(address, { headers: { ...headers, "if-none-match": etag } });
      assert.equal(again.status, 304);
    });
  }

  test("a font, which is compressed already, is sent as it is", async () => {
    const response = await fetch(running.baseUrl + interFont.path);
    assert.equal(response.headers.get("content-type"), "font/woff2");
    assert.equal(response.headers.get("content-encoding"), null);
    assert.equal(response.headers.get("vary"), null);
  });

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
