import assert from "node:assert/strict";
import { test } from "node:test";
import { ownDependencies, publishableManifest } from "./publishable-manifest.ts";

const protocol = { name: "@signet/protocol", version: "2.0.0", dependencies: { asn1js: "3.0.0" } };

const server = {
  name: "@signet/server",
  version: "2.0.0",
  license: "Apache-2.0",
  engines: { node: ">=24" },
  scripts: { test: "x" },
  bin: { signet: "./src/main.ts" },
  exports: { "./*": "./src/*.ts" },
  dependencies: { "@signet/protocol": "2.0.0", pg: "8.0.0" },
  devDependencies: { typescript: "7.0.0" },
};

test("entries name the built files, and what only the repository needs stays behind", () => {
  assert.deepEqual(publishableManifest(server, [protocol]), {
    name: "@signet/server",
    version: "2.0.0",
    license: "Apache-2.0",
    engines: { node: ">=24" },
    bin: { signet: "./signet.cjs" },
    exports: { "./package.json": "./package.json" },
    dependencies: { "@signet/protocol": "2.0.0", asn1js: "3.0.0", pg: "8.0.0" },
    bundleDependencies: ["@signet/protocol"],
  });
});

test("a program has only the entries that it names", () => {
  const entries = { "./*": "./src/*.ts", "./development": "./src/cli/dev/development.ts" };
  const { exports } = publishableManifest({ ...server, exports: entries }, [protocol]);
  assert.deepEqual(exports, {
    "./development": "./cli/dev/development.js",
    "./package.json": "./package.json",
  });
});

test("a package whose files are taken in is no dependency, what it depends on is", () => {
  const sdk = { ...server, inlineDependencies: ["@signet/protocol"] };
  const manifest = publishableManifest(sdk, [], [protocol]);
  assert.deepEqual(manifest["dependencies"], { asn1js: "3.0.0", pg: "8.0.0" });
  assert.ok(!("bundleDependencies" in manifest) && !("inlineDependencies" in manifest));
});

test("a package without own dependencies bundles nothing", () => {
  assert.ok(!("bundleDependencies" in publishableManifest(protocol, [])));
  assert.deepEqual(ownDependencies(server), ["@signet/protocol"]);
  assert.deepEqual(ownDependencies(protocol), []);
});

test("a library has its types for ES modules and for CommonJS, whose folder is no entry itself", () => {
  const { exports } = publishableManifest({ ...protocol, exports: { "./*": "./src/*.ts" } }, []);
  assert.deepEqual(exports, {
    "./*": {
      import: { types: "./*.d.ts", default: "./*.js" },
      require: { types: "./cjs/*.d.ts", default: "./cjs/*.js" },
    },
    "./cjs/*": null,
    "./package.json": "./package.json",
  });
});
