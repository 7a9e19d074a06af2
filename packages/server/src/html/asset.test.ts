import assert from "node:assert/strict";
import { test } from "node:test";
import { readAsset } from "./asset.ts";
import { interFont } from "./fonts.ts";
import { copyScript, formPostScript } from "./scripts.ts";
import { consoleStylesheet, stylesheet } from "./stylesheet.ts";

test("address and entity tag of an asset change with its content", () => {
  assert.match(stylesheet.path, /^\/assets\/signet\.[0-9a-f]{16}\.css$/);
  assert.equal(stylesheet.etag, `"${stylesheet.path.split(".")[1]}"`);
  assert.notEqual(copyScript.etag, formPostScript.etag);
});

test("serves stylesheet and scripts with their content types", () => {
  assert.equal(stylesheet.contentType, "text/css; charset=utf-8");
  assert.match(formPostScript.path, /^\/assets\/form-post\.[0-9a-f]{16}\.js$/);
  assert.equal(copyScript.contentType, "text/javascript; charset=utf-8");
});

test("stylesheets load no other resource, but the console's its font", () => {
  assert.doesNotMatch(stylesheet.bytes.toString(), /@import|url\(|Inter/);
  const console = consoleStylesheet.bytes.toString();
  assert.doesNotMatch(console, /@import/);
  assert.deepEqual(console.match(/url\([^)]*\)/g), [`url("${interFont.path}")`]);
  assert.ok(interFont.bytes.length <= 50_000);
});

test("fails at once when a file is missing", () => {
  assert.throws(() => readAsset("missing", "css", ["styles/missing.css"]), { code: "ENOENT" });
});
