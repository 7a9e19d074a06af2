import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { inCommonJs, writeCommonJsEntries } from "./commonjs-entries.ts";

test("a module that is required is the one that is imported", async (t) => {
  const dist = await mkdtemp(path.join(os.tmpdir(), "signet-cjs-"));
  t.after(() => rm(dist, { recursive: true, force: true }));
  await mkdir(path.join(dist, "errors"));
  await writeFile(path.join(dist, "package.json"), '{ "type": "module" }');
  await writeFile(path.join(dist, "index.js"), 'export * from "./errors/kinds.js";\n');
  await writeFile(path.join(dist, "errors/kinds.js"), "export class Refused extends Error {}\n");
  await writeFile(path.join(dist, "errors/kinds.d.ts"), "export declare class Refused extends Error {}\n");
  await writeCommonJsEntries(dist);
  const required = createRequire(import.meta.url);
  const imported = await import(pathToFileURL(path.join(dist, "errors/kinds.js")).href);
  for (const file of ["cjs/index.js", "cjs/errors/kinds.js"])
    assert.equal(required(path.join(dist, file)).Refused, imported.Refused, file);
  assert.match(await readFile(path.join(dist, "cjs/errors/kinds.d.ts"), "utf8"), /class Refused/);
});

test("declarations name the types of ES modules of others as such, and leave what is their own", () => {
  const own =
    'import type { Principal } from "./principal.js";\nimport type { KeyObject } from "node:crypto";\n';
  assert.equal(inCommonJs(own), own);
  assert.equal(
    inCommonJs('import { type JWK } from "jose";\nexport type Key = import("jose").JWK;\n'),
    'import type { JWK } from "jose" with { "resolution-mode": "import" };\n' +
      'export type Key = import("jose", { with: { "resolution-mode": "import" } }).JWK;\n',
  );
});
