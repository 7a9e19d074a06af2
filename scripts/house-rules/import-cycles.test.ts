import assert from "node:assert/strict";
import { test } from "node:test";
import { importCycles } from "./import-cycles.ts";

function file(name: string, ...imported: string[]): { path: string; text: string } {
  return {
    path: `packages/server/src/core/${name}.ts`,
    text: imported.map((to) => `import "./${to}.ts";\n`).join(""),
  };
}

test("files that share an import are no cycle", () => {
  assert.deepEqual(
    importCycles([file("a", "b", "c"), file("b", "d"), file("c", "d"), file("d", "missing")]),
    [],
  );
});

test("a cycle is named once, with its path and the import that closes it", () => {
  const faults = importCycles([file("a", "b"), file("b", "x", "c"), file("c", "a"), file("x")]);
  assert.equal(faults.length, 1);
  assert.equal(faults[0]?.file, "packages/server/src/core/c.ts");
  assert.deepEqual(faults[0]?.message.match(/\w+(?=\.ts)/g), ["a", "b", "c", "a"]);
});

test("a type-only import closes a cycle, and so does a file that imports itself", () => {
  const a = { path: "packages/protocol/src/a.ts", text: 'import type { B } from "./b.ts";' };
  const b = { path: "packages/protocol/src/b.ts", text: 'import { a } from "@signet/protocol/a";' };
  assert.equal(importCycles([a, b]).length, 1);
  assert.equal(importCycles([file("a", "a")]).length, 1);
});
