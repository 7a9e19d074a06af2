import assert from "node:assert/strict";
import { test } from "node:test";
import { readAsset } from "./asset.ts";
import { copyScript, formPostScript } from "./scripts.ts";
import { consoleStylesheet, stylesheet } from "./stylesheet.ts";

test("an asset's address and tag change with its content", () => {
  assert.match(stylesheet.path, /^\/assets\/signet\.[0-9a-f]{16}\.css$/);
  assert.equal(stylesheet.etag, `"${stylesheet.path.split(".")[1]}"`);
  assert.notEqual(copyScript.etag, formPostScript.etag);
});

test("stylesheet and scripts are served as what they are", () => {
  assert.equal(stylesheet.contentType, "text/css; charset=utf-8");
  assert.match(formPostScript.path, /^\/assets\/form-post\.[0-9a-f]{16}\.js$/);
  assert.equal(copyScript.contentType, "text/javascript; charset=utf-8");
});

test("the stylesheets ask for nothing more", () => {
  for (const { bytes } of [stylesheet, consoleStylesheet])
    assert.doesNotMatch(bytes.toString(), /@import|url\(/);
});

test("a missing file fails at once", () => {
  assert.throws(() => readAsset("missing", "css", ["styles/missing.css"]), { code: "ENOENT" });
});
